"""Penstock and the oracles answer random sequences of commands alike.

PENSTOCK_COMPAT_SEQUENCES is the number of sequences for each family and protocol (30; a third of it
without the compiled modules, and with Redis 8.0 and 8.6). PENSTOCK_COMPAT_SEED is the start of the
seeds. A failure names its own seed, and shows the shortest sequence that was found.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest

from tests.compat.connection import Connection, encode
from tests.compat.judge import Judge, disagreement, script_line
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, Oracles
from tests.compat.processes import ServerProcess
from tests.compat.random_commands import FAMILIES, Command, Draw
from tests.compat.resp import CLOSED, Reply
from tests.worth import rounds

SEQUENCES = int(os.environ.get("PENSTOCK_COMPAT_SEQUENCES", rounds(30)))
SEED = os.environ.get("PENSTOCK_COMPAT_SEED", "1")
COMMANDS = 60  # in a sequence
SHRINKING_RUNS = 300


class Servers(NamedTuple):
    """The two servers that are compared, and the name of the second one."""

    penstock: ServerProcess
    redis: ServerProcess
    oracle: str


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("oracle", "protocol", "sequences"),
    [
        (REDIS_7, 2, SEQUENCES),
        (REDIS_7, 3, SEQUENCES),
        (REDIS_8, 3, SEQUENCES // 3),
        (REDIS_8_6, 3, SEQUENCES // 3),
    ],
)
def test_random_commands_get_the_same_answers(
    family: str,
    oracle: str,
    protocol: int,
    sequences: int,
    penstock: ServerProcess,
    oracles: Oracles,
) -> None:
    servers = Servers(penstock, oracles.start(oracle), oracle)
    for number in range(sequences):
        seed = f"{SEED}-{family}-{number}"
        commands = Draw(seed).sequence(family, COMMANDS)
        if first_difference(commands, servers, protocol) is not None:
            pytest.fail(report(seed, commands, servers, protocol), pytrace=False)


def first_difference(commands: list[Command], servers: Servers, protocol: int) -> int | None:
    """The index of the first command that the two servers answer differently."""
    ours, theirs = (replies(server, commands, protocol) for server in servers[:2])
    judge = Judge(servers.oracle, at_random=True)
    for at, command in enumerate(commands):
        if not judge.agree(command, ours[at], theirs[at]):
            return at
    return None


def replies(server: ServerProcess, commands: list[Command], protocol: int) -> list[Reply]:
    """The replies of an empty *server* to *commands*, which are sent in one piece."""
    client = Connection(server.port, protocol)
    assert client.call(b"FLUSHALL") == ("+", b"OK")
    client.send(b"".join(map(encode, commands)))
    got = []
    for command in commands:
        try:
            got.append(client.reply())
        except TimeoutError:
            client.close()
            pytest.fail(
                f"{server.process.args!r} does not answer {script_line(command)}", pytrace=False
            )
    client.close()
    return got + [CLOSED] * (len(commands) - len(got))


def report(
    seed: str,
    commands: list[Command],
    servers: Servers,
    protocol: int,
) -> str:
    """A shorter sequence that still differs, and the replies to its last command."""
    commands = shortened(commands, servers, protocol)
    ours, theirs = (replies(server, commands, protocol) for server in servers[:2])
    lines = [
        f"seed {seed}, {servers.oracle}, RESP{protocol}:",
        *(f"    {script_line(command)}" for command in commands),
    ]
    return "\n".join([*lines, *disagreement(ours[-1], theirs[-1])])


def shortened(commands: list[Command], servers: Servers, protocol: int) -> list[Command]:
    """*commands* without those that the difference does not need; the last are tried first."""
    at = len(commands)
    for _ in range(SHRINKING_RUNS):
        found = first_difference(commands, servers, protocol)
        if found is None:
            break
        commands = commands[: found + 1]
        at = min(at, len(commands) - 1) - 1
        while at >= 0:
            fewer = commands[:at] + commands[at + 1 :]
            if first_difference(fewer, servers, protocol) is not None:
                commands = fewer
                break
            at -= 1
        if at < 0:
            break
    return commands
