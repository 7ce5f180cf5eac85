"""SUNIONCARD and SDIFFCARD, as redis 8.10 answers them: no server that is compared knows them."""

from __future__ import annotations

import random

import pytest

from storage.limits import SetLimits
from storage.sets import set_operations
from storage.sets.member_set import MemberSet

SYNTAX = "-ERR syntax error"
NEGATIVE = "-ERR LIMIT can't be negative"


@pytest.fixture
def filled(server):
    server.send_line("SADD a 1 2 3 4")
    server.send_line("SADD b 3 4 5")
    server.send_line("SADD c x y z 1")
    server.send_line("SET s v")
    return server


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("SUNIONCARD 1 a", 4),
        ("SUNIONCARD 2 a b", 5),
        ("SUNIONCARD 3 a b c", 8),
        ("SUNIONCARD 3 c no b", 7),
        ("SUNIONCARD 2 a a", 4),
        ("SUNIONCARD 1 no", 0),
        ("SUNIONCARD 2 no also", 0),
        ("SUNIONCARD 2 a b LIMIT 0", 5),
        ("SUNIONCARD 2 a b LIMIT 3", 3),
        ("SUNIONCARD 2 a b LIMIT 5", 5),
        ("SUNIONCARD 2 a b LIMIT 99", 5),
        ("SUNIONCARD 2 a b limit 1 LIMIT 4", 4),
        ("SUNIONCARD 3 a b c APPROX", 8),
        ("SUNIONCARD 3 a b c APPROX LIMIT 6", 6),
        ("SUNIONCARD 3 a b c LIMIT 6 approx", 6),
        ("SUNIONCARD 1 no APPROX", 0),
        ("SDIFFCARD 1 a", 4),
        ("SDIFFCARD 2 a b", 2),
        ("SDIFFCARD 3 a b c", 1),
        ("SDIFFCARD 2 no a", 0),
        ("SDIFFCARD 2 a no", 4),
        ("SDIFFCARD 2 a a", 0),
        ("SDIFFCARD 2 a b LIMIT 1", 1),
        ("SDIFFCARD 2 a b LIMIT 0", 2),
        ("SDIFFCARD 1 a LIMIT 3", 3),
        ("SUNIONCARD 0 a", "-ERR numkeys should be greater than 0"),
        ("SUNIONCARD x a", "-ERR numkeys should be greater than 0"),
        ("SDIFFCARD -1 a", "-ERR numkeys should be greater than 0"),
        ("SUNIONCARD 2 a", "-ERR Number of keys can't be greater than number of args"),
        ("SDIFFCARD 9 a b", "-ERR Number of keys can't be greater than number of args"),
        ("SUNIONCARD 1 a b", SYNTAX),
        ("SUNIONCARD 1 a LIMIT", SYNTAX),
        ("SUNIONCARD 1 a APPROX LIMIT", SYNTAX),
        ("SDIFFCARD 1 a APPROX", SYNTAX),
        ("SDIFFCARD 1 a LIMIT", SYNTAX),
        ("SUNIONCARD 1 a LIMIT -1", NEGATIVE),
        ("SUNIONCARD 1 a LIMIT x", NEGATIVE),
        ("SDIFFCARD 1 a LIMIT -1", NEGATIVE),
        ("SUNIONCARD 1", "-ERR wrong number of arguments for 'sunioncard' command"),
        ("SDIFFCARD 1", "-ERR wrong number of arguments for 'sdiffcard' command"),
    ],
)
def test_sizes(filled, line, answer):
    assert filled.send_line(line) == answer


@pytest.mark.parametrize("name", ["SUNIONCARD", "SDIFFCARD"])
@pytest.mark.parametrize("keys", ["a s", "s a", "no s"])
def test_what_is_no_set_is_refused(filled, name, keys):
    assert filled.send_line(f"{name} 2 {keys}").startswith("-WRONGTYPE")
    assert filled.send_line(f"{name} 2 {keys} LIMIT 1").startswith("-WRONGTYPE")


def test_an_estimate_of_many(server):
    for first in range(0, 60_000, 1000):
        members = range(first, first + 1000)
        server.send("SADD", "a", *members)
        server.send("SADD", "b", *(2 * member for member in members))
    exact = server.send_line("SUNIONCARD 2 a b")
    assert exact == 60_000 + 30_000
    assert abs(server.send_line("SUNIONCARD 2 a b APPROX") - exact) < 0.04 * exact


@pytest.mark.parametrize("seed", range(20))
def test_sizes_are_those_of_what_is_found(seed):
    dice = random.Random(seed)
    limits = SetLimits()
    made: list[MemberSet | None] = []
    for _ in range(dice.randint(1, 5)):
        values = MemberSet()
        for _ in range(dice.choice([0, 1, 5, 40, 700])):
            number = dice.randrange(dice.choice([50, 2000]))
            values.add(b"%d" % number if dice.random() < 0.9 else b"m%d" % number, limits)
        made.append(values if len(values) else None)
    union, difference = set_operations.union(made), set_operations.difference(made)
    assert set_operations.union_size(made, 0) == len(union)
    assert set_operations.difference_size(made, 0) == len(difference)
    for limit in (1, 3, 100, 5000):
        assert set_operations.union_size(made, limit) == min(limit, len(union))
        assert set_operations.difference_size(made, limit) == min(limit, len(difference))
