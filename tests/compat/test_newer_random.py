"""Random sequences of what Redis 8.6 knows, and no older one: answers, and the log.

PENSTOCK_COMPAT_SEQUENCES and PENSTOCK_COMPAT_SEED are as in test_random.py.
"""

from __future__ import annotations

import pytest

from tests.compat.oracles import REDIS_7, REDIS_8_6, Oracles
from tests.compat.processes import ServerProcess
from tests.compat.random_commands import FAMILIES_OF_8_6, NEWER_FAMILIES, Draw
from tests.compat.test_log_exchange import Replica
from tests.compat.test_random import COMMANDS, SEED, SEQUENCES, Servers, first_difference, report
from tests.worth import rounds


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("family", [*NEWER_FAMILIES, *FAMILIES_OF_8_6])
def test_random_commands_get_the_same_answers(
    family: str, protocol: int, penstock: ServerProcess, oracles: Oracles
) -> None:
    servers = Servers(penstock, oracles.start(REDIS_8_6), REDIS_8_6)
    for number in range(SEQUENCES):
        seed = f"{SEED}-{family}-{number}"
        commands = Draw(seed).sequence(family, COMMANDS)
        if first_difference(commands, servers, protocol) is not None:
            pytest.fail(report(seed, commands, servers, protocol), pytrace=False)


@pytest.mark.parametrize("number", range(rounds(8)))
@pytest.mark.parametrize("family", sorted(FAMILIES_OF_8_6.keys() - {"producers"}))
def test_an_old_redis_gets_the_same_data_from_penstock_s_log(
    family: str, number: int, oracles: Oracles
) -> None:
    ours = Replica()
    for command in Draw(f"ours-{family}-{number}").sequence(family, 80):
        ours.call(command)
    control = oracles.start(REDIS_7).control
    ours.play_to(control.call)
    control.call(b"FLUSHALL")
