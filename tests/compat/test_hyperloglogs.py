"""HyperLogLogs have the registers of Redis, byte for byte, however long the runs of hashes are."""

from __future__ import annotations

import random

import pytest

from tests.compat.processes import ServerProcess
from tests.storage.strings.murmur import LONGEST_RUN, element_for
from tests.worth import rounds

KEY = b"registers"
REGISTERS = 16_384


def elements(dice: random.Random, count: int) -> list[bytes]:
    """Random texts, and elements for random registers with runs of each length."""
    return [
        dice.randbytes(dice.randrange(20))
        if dice.random() < 0.5
        else element_for(dice.randrange(REGISTERS), dice.randint(1, LONGEST_RUN))
        for _ in range(count)
    ]


def test_a_hash_with_a_long_run_makes_the_register_of_redis(
    penstock: ServerProcess, redis: ServerProcess
) -> None:
    replies = []
    for server in (redis, penstock):
        server.control.call(b"DEL", KEY)
        server.control.call(b"PFADD", KEY, b"e596436")  # a run of 23
        replies.append(server.control.call(b"GET", KEY))
    assert replies[0] == replies[1]


@pytest.mark.parametrize("seed", range(rounds(12)))
def test_random_elements_make_the_registers_of_redis(
    seed: int, penstock: ServerProcess, redis: ServerProcess
) -> None:
    dice = random.Random(seed)
    for server in (redis, penstock):
        server.control.call(b"DEL", KEY)
    for count in (1, 10, 100, 1000, 5000):
        words = (b"PFADD", KEY, *elements(dice, count))
        assert penstock.control.call(*words) == redis.control.call(*words)
        assert penstock.control.call(b"GET", KEY) == redis.control.call(b"GET", KEY)
        assert penstock.control.call(b"PFCOUNT", KEY) == redis.control.call(b"PFCOUNT", KEY)
