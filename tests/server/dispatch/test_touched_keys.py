"""What a command touches is what ``Command.keys_of`` finds: the keys that a user needs rights on.

Random commands run on a server that has many keys, and on one that has only those which the command
names. If both answer the same and hold the same under these names, the command has read no other
key; and the other keys must be as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from fuzz.command_words import CommandWords
from server.table.command import TABLE, Command, Flags
from server.table.keys import OW, RM, RW
from tests.server.conftest import SocketlessServer
from tests.worth import rounds

SEEDS = range(4)
COMMANDS = rounds(600)

WORLD = [
    line
    for n in range(3)
    for line in (
        f"SET string:{n} 12",
        f"RPUSH list:{n} a b c 1 2 3",
        f"SADD set:{n} a b c 1 2",
        f"HSET hash:{n} a 1 b 2 c x",
        f"ZADD sorted-set:{n} 1 a 2 b 3 c",
        f"XADD stream:{n} 1-1 field value",
        f"XGROUP CREATE stream:{n} g 0",
    )
] + ["PFADD string:2 a b", "GEOADD sorted-set:2 13.36 38.1 a 15 37.5 b", "EXPIRE list:1 10000"]

WHOLE_DATABASE = {
    "keys", "scan", "randomkey", "dbsize", "flushall", "flushdb", "swapdb", "xinfo|streams",
}  # fmt: skip
BY_CHANCE = {"spop", "srandmember", "hrandfield", "zrandmember"}
CHANGES = RW | OW | RM


class World:
    """A server with some keys."""

    def __init__(self, server: SocketlessServer) -> None:
        self.server = server

    def begin(self, named: set[bytes] | None) -> None:
        """Have the keys in *named*, or all of them."""
        self.server.send("FLUSHALL")
        for line in WORLD:
            words = line.split()
            key = words[2] if words[0] == "XGROUP" else words[1]
            if named is None or key.encode() in named:
                self.server.send(*words)

    def run(self, argv: list[bytes]) -> bytes:
        """Run *argv*, which must not wait; the bytes of the reply."""
        self.server.send("MULTI")
        queued = self.server.owner.raw(*argv)
        if queued != b"+QUEUED\r\n":
            self.server.send("DISCARD")
            return queued
        return self.server.owner.raw("EXEC")

    def shown(self, keys: set[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """What *keys* hold, and when they expire."""
        return {
            key: (
                self.server.owner.raw("DEBUG", "DIGEST-VALUE", key),
                self.server.owner.raw("PEXPIRETIME", key),
            )
            for key in keys
        }

    def keys(self) -> set[bytes]:
        return set(self.server.send("KEYS", "*"))


@pytest.fixture
def worlds(make_server) -> tuple[World, World]:
    made = [make_server(enable_debug_command="yes") for _ in range(2)]
    return World(made[0]), World(made[1])


def found(argv: list[bytes]) -> Command | None:
    row = TABLE.find(argv[0])
    if row is not None and row.subcommands and len(argv) > 1:
        row = row.subcommands.get(argv[1].lower(), row)
    return row if row is not None and row.accepts(len(argv)) and row.handler else None


def is_asked(row: Command, argv: list[bytes]) -> bool:
    """Whether the keys of *argv* are all that it should touch."""
    if not row.flags & (Flags.WRITE | Flags.READONLY) or row.flags & Flags.NO_MULTI:
        return False
    if row.name in WHOLE_DATABASE or row.name in ("migrate", "lolwut", "xredrive"):
        return False
    if row.flags & Flags.RUNS_SCRIPTS:  # its commands are asked for one by one
        return False
    words = [word.upper() for word in argv]
    if row.name in ("sort", "sort_ro"):  # patterns of keys: these take the right to read all
        return b"BY" not in words and b"GET" not in words
    if row.name in ("xread", "xreadgroup") and b"MATCH" in words:  # patterns, too
        return False
    return not (row.name == "copy" and b"DB" in words) and row.name != "move"


def drawn(seed: int) -> Iterator[tuple[Command, list[bytes]]]:
    words = CommandWords(Random(seed))
    for _ in range(COMMANDS):
        argv = words.draw()
        row = found(argv)
        if row is not None and is_asked(row, argv):
            yield row, argv


@pytest.mark.parametrize("seed", SEEDS)
def test_a_command_touches_the_keys_that_it_names_and_no_others(seed, worlds):
    whole, small = worlds
    for row, argv in drawn(seed):
        uses = row.keys_of(argv)
        named = {use.key for use in uses}
        whole.begin(None)
        small.begin(named)
        before = whole.shown(whole.keys())
        answered = whole.run(argv), small.run(argv)
        unnamed = (whole.keys() | set(before)) - named
        assert whole.shown(unnamed) == {key: before.get(key) for key in unnamed}, argv
        if row.name not in BY_CHANCE:
            assert answered[0] == answered[1], argv
            assert whole.shown(named) == small.shown(named), argv
        unchanged = named - {use.key for use in uses if use.flags & CHANGES} & set(before)
        kept = {key: before[key] for key in unchanged if key in before}
        assert whole.shown(set(kept)) == kept, f"{argv}: it changed a key that it only reads"


def test_the_test_would_find_a_key_that_is_not_named(worlds, declare):
    whole, small = worlds
    row = declare("LEAK", lambda call: call.db.look_at(b"string:0") is not None, 1, Flags.READONLY)
    assert row.keys_of([b"LEAK"]) == []
    whole.begin(None)
    small.begin(set())
    assert whole.run([b"LEAK"]) != small.run([b"LEAK"])


def test_enough_commands_are_drawn():
    names = {row.name for seed in SEEDS for row, _ in drawn(seed)}
    asked = {
        row.name
        for parent in TABLE
        for row in (parent, *parent.subcommands.values())
        if row.flags & (Flags.WRITE | Flags.READONLY) and row.keys
    }
    assert len(names & asked) > len(asked) * 0.6  # a fifth of the rounds draws 0.72 of them
