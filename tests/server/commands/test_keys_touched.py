"""The keys that a command names are those that it touches, in whatever order its options stand.

Each word of a command is a key here, with a value that suits the command; what was used since then
has been touched. Options have values that look like keys or like other options.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest

from server.table.command import TABLE

LATER_S = 100

STRING, NUMBER, LIST, HASH, SET, ZSET = "string", "number", "list", "hash", "set", "sorted set"
FILL = {
    STRING: ("SET", "v"),
    NUMBER: ("SET", "5"),
    LIST: ("RPUSH", "a", "b", "c"),
    HASH: ("HSET", "f", "v"),
    SET: ("SADD", "a", "b"),
    ZSET: ("ZADD", "1", "a"),
}

# The type of the values, how the command begins, what follows in any order, and how it ends.
FORMS = [
    (STRING, "SET k v", ["IFEQ v", "GET", "EX 100"], ""),
    (STRING, "SET k v", ["IFNE GET", "KEEPTTL"], ""),
    (STRING, "SET k IFEQ", ["IFEQ XX", "GET", "PXAT 9999999999999"], ""),
    (STRING, "SET k NX", ["XX", "GET", "KEEPTTL"], ""),
    (STRING, "SET k v", ["IFDEQ 0000000000000000", "GET", "EXAT 9999999999"], ""),
    (STRING, "SET k v", ["IFDNE 0000000000000000", "KEEPTTL"], ""),
    (STRING, "DIGEST k", [], ""),
    (STRING, "DELEX k", [], ""),
    (STRING, "DELEX k", ["IFEQ v"], ""),
    (STRING, "DELEX k", ["IFDNE 0000000000000000"], ""),
    (STRING, "DELIFEQ k v", [], ""),
    (STRING, "MSETEX 2 k v l w", ["XX", "EX 100"], ""),
    (STRING, "MSETEX 2 k XX l EX", ["XX", "KEEPTTL"], ""),
    (STRING, "MSETEX 3 k 2 l 3 m 1", ["PXAT 9999999999999", "XX"], ""),
    (STRING, "BITOP DIFF k l", ["m", "n"], ""),
    (STRING, "BITOP ONE k l", ["ONE", "DIFF"], ""),
    (NUMBER, "INCREX k", ["BYINT 2", "LBOUND 0", "UBOUND 100", "SATURATE", "EX 100"], ""),
    (NUMBER, "INCREX k", ["BYFLOAT 2", "UBOUND 6", "PERSIST"], ""),
    (LIST, "LMOVEM k l LEFT RIGHT", [], ""),
    (LIST, "LMOVEM k l LEFT RIGHT", [], "COUNT 2 OBO"),
    (LIST, "LMOVEM LEFT RIGHT RIGHT LEFT", [], "EXACTLY 2 BULK"),
    (LIST, "BLMOVEM k l LEFT LEFT 0", [], "COUNT 2 BULK"),
    (LIST, "BLMOVEM k l LEFT LEFT 0", [], "EXACTLY 2 OBO"),
    (SET, "SUNIONCARD 2 k l", ["APPROX", "LIMIT 9"], ""),
    (SET, "SUNIONCARD 3 k APPROX LIMIT", ["APPROX", "LIMIT 1"], ""),
    (SET, "SDIFFCARD 2 k l", ["LIMIT 9"], ""),
    (SET, "SDIFFCARD 2 LIMIT 2", ["LIMIT 9"], ""),
    (ZSET, "ZUNION 2 k l", ["WEIGHTS 2 3", "AGGREGATE COUNT", "WITHSCORES"], ""),
    (ZSET, "ZINTER 2 k AGGREGATE", ["WEIGHTS 2 3", "AGGREGATE COUNT", "WITHSCORES"], ""),
    (ZSET, "ZUNIONSTORE d 2 k l", ["WEIGHTS 2 3", "AGGREGATE COUNT"], ""),
    (ZSET, "ZINTERSTORE d 2 k WEIGHTS", ["WEIGHTS 2 3", "AGGREGATE COUNT"], ""),
    (HASH, "HGETEX k", ["FIELDS 2 f EX", "EX 100"], ""),
    (HASH, "HGETEX k", ["FIELDS 1 FIELDS", "PERSIST"], ""),
    (HASH, "HSETEX k", ["FIELDS 1 f k2", "FXX", "EX 100"], ""),
    (HASH, "HSETEX k", ["FIELDS 2 f EX g FNX", "KEEPTTL"], ""),
    (HASH, "HEXPIRE k 100", ["FIELDS 2 f NX", "NX"], ""),
    (HASH, "HGETDEL k FIELDS 2 f g", [], ""),
]  # fmt: skip


def calls() -> Iterator[tuple[str, list[str]]]:
    for kind, begin, options, end in FORMS:
        for order in permutations(options):
            yield kind, " ".join((begin, *order, end)).split()


CALLS = list(calls())


@pytest.mark.parametrize(("kind", "words"), CALLS, ids=[" ".join(words) for _, words in CALLS])
def test_the_keys_that_are_named_are_those_that_are_touched(server, kind, words):
    argv = [word.encode() for word in words]
    row = TABLE.called_by(argv)
    assert row is not None
    named = {use.key for use in row.keys_of(argv)}
    name, *value = FILL[kind]
    for word in set(words[1:]):
        server.send(name, word, *value)
    server.advance(LATER_S * 1000)
    reply = server.send(*words)
    assert not (isinstance(reply, str) and reply.startswith("-")), reply
    db = server.state.databases[0]
    touched = {word for word in set(argv[1:]) if db.idle_s(word) != LATER_S}
    assert touched == named
    asked = server.send("COMMAND", "GETKEYS", *words)
    assert set(asked) == named


@pytest.mark.parametrize(("kind", "words"), CALLS[::3], ids=[" ".join(w) for _, w in CALLS[::3]])
def test_rights_on_all_of_them_are_asked_for(server, kind, words):
    argv = [word.encode() for word in words]
    row = TABLE.called_by(argv)
    assert row is not None
    keys = [use.key.decode() for use in row.keys_of(argv)]
    for missing in dict.fromkeys(keys):
        others = [f"~{key}" for key in keys if key != missing]
        server.send("ACL", "SETUSER", "u", "reset", "on", "nopass", "+@all", *others)
        client = server.client()
        client.send("AUTH", "u", "x")
        assert client.send(*words).startswith("-NOPERM")
    assert server.send("DBSIZE") == 0
