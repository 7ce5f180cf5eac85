"""Key specs: how they find the keys in argv, and how COMMAND INFO shows them."""

from __future__ import annotations

import pytest

from server.table.keys import (
    ACCESS,
    DELETE,
    INCOMPLETE,
    OW,
    RO,
    RW,
    UPDATE,
    VARIABLE_FLAGS,
    CountedKeys,
    KeyRange,
    KeySpec,
    KeywordKeys,
)

HALF = KeywordKeys(RO, b"STREAMS", start_from=4, values={b"GROUP": 2, b"COUNT": 1}, share=2)
ALL = KeywordKeys(RO, b"KEYS", start_from=-2, options_at=2, values={b"AUTH": 1})


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (RO, ["RO"]),
        (DELETE | ACCESS | RW, ["RW", "access", "delete"]),
        (VARIABLE_FLAGS | UPDATE | OW, ["OW", "update", "variable_flags"]),
        (INCOMPLETE | RW, ["RW", "incomplete"]),
    ],
)
def test_flags_are_spelled_as_redis_does(flags, words):
    assert flags.words == words


@pytest.mark.parametrize(
    ("spec", "line", "keys"),
    [
        (KeyRange(RO), "GET a", "a"),
        (KeyRange(RO, first=2), "XINFO STREAM a FULL", "a"),
        (KeyRange(RO, last=-1), "DEL a b c", "a b c"),
        (KeyRange(RO, last=-2), "BLPOP a b 0", "a b"),
        (KeyRange(RO, last=2), "X a b c", "a b"),
        (KeyRange(RO, last=-1, step=2), "MSET a 1 b 2", "a b"),
        (CountedKeys(RO, count_at=1), "LMPOP 2 a b LEFT", "a b"),
        (CountedKeys(RO, count_at=2), "BLMPOP 0 1 a LEFT", "a"),
        (HALF, "X COUNT 1 streams a b 0 0", "a b"),
        (HALF, "X GROUP STREAMS c COUNT 1 STREAMS a >", "a"),
        (HALF, "X STREAMS a b 0", "a"),
        (HALF, "X STREAMS a", ""),
        (HALF, "X COUNT STREAMS", ""),
        (ALL, "X KEYS AUTH KEYS KEYS a b", "a b"),
        (ALL, "X KEYS", ""),
    ],
)
def test_a_key_spec_finds_the_keys(spec: KeySpec, line: str, keys: str) -> None:
    assert spec.keys_in(line.encode().split()) == keys.encode().split()


@pytest.mark.parametrize("count", ["3", "0", "-1", "x", "0_1", "99999999999999999999"])
def test_a_number_of_keys_that_there_are_not_leaves_the_whole_call_without(count: str) -> None:
    assert CountedKeys(RO, count_at=1).keys_in(f"LMPOP {count} a b".encode().split()) is None


def test_a_keyword_is_told_apart_from_equal_keys_and_values() -> None:
    assert ALL.position(b"X key KEYS".split()) == 3
    assert ALL.position(b"X KEYS AUTH KEYS".split()) is None


@pytest.mark.parametrize(
    ("spec", "begin", "find"),
    [
        (KeyRange(RO), ("index", {"index": 1}), (0, 1, 0)),
        (KeyRange(RO, last=-1, step=2), ("index", {"index": 1}), (-1, 2, 0)),
        (KeyRange(RO, first=2, last=4), ("index", {"index": 2}), (2, 1, 0)),
        (HALF, ("keyword", {"keyword": "STREAMS", "startfrom": 4}), (-1, 1, 2)),
        (ALL, ("keyword", {"keyword": "KEYS", "startfrom": -2}), (-1, 1, 0)),
    ],
)
def test_key_specs_show_ranges_as_redis_does(spec, begin, find):
    first, others = spec.searches()
    assert first == begin
    assert others.type == "range"
    assert tuple(others.spec.values()) == find


def test_counted_keys_show_the_index_of_their_number() -> None:
    spec = CountedKeys(RO, count_at=2)
    first, others = spec.searches()
    assert first == ("index", {"index": 2})
    assert others == ("keynum", {"keynumidx": 0, "firstkey": 1, "keystep": 1})
