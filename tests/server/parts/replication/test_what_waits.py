"""Which commands wait for what is not confirmed, and which keys count as changed: of all commands.

What is changed in the cases of tests/propagation/cases.txt, which has every write command, must be
known as changed. A new command has to wait, or to be named in WITHOUT_DATA.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from server.parts.replication.unconfirmed_keys import UnconfirmedKeys
from server.table.command import TABLE, Command
from storage import digest
from tests.propagation import cases
from tests.server.conftest import SocketlessServer

CASES = cases.load()

# Their replies tell nothing of the data; the name of a container stands for all its subcommands.
WITHOUT_DATA = [
    "acl", "asking", "auth", "backup", "bgrewriteaof", "bgsave", "client", "cluster", "command",
    "commandlog", "config", "discard", "echo", "failover", "function|help", "function|kill",
    "hello", "himport|discard", "himport|discardall", "himport|help", "himport|prepare",
    "hotkeys", "info", "lastsave", "latency", "memory|doctor", "memory|help",
    "memory|malloc-stats", "memory|purge", "memory|stats", "module", "monitor", "multi",
    "object|help", "pfselftest", "ping", "psubscribe", "psync", "publish", "pubsub",
    "punsubscribe", "quit", "readonly", "readwrite", "replconf", "replicaof", "reset", "role",
    "save", "script", "select", "shutdown", "slaveof", "slowlog", "spublish", "ssubscribe",
    "subscribe", "sunsubscribe", "sync", "time", "unsubscribe", "unwatch", "wait", "waitaof",
    "waitoffset", "watch", "xgroup|help", "xinfo|help",
]  # fmt: skip
CONTAINERS = ["function", "himport", "memory", "object", "xgroup", "xinfo"]  # run nothing


def without_data(row: Command) -> bool:
    return not {row.name, row.name.partition("|")[0]}.isdisjoint(WITHOUT_DATA)


def shortest(row: Command) -> list[bytes]:
    """As few words as *row* accepts."""
    words = row.name.encode().split(b"|")
    return words + [b"1"] * (abs(row.arity) - len(words))


def needs(server: SocketlessServer, row: Command, argv: list[bytes]) -> int:
    """What the reply to *argv* would wait for, now that all is changed up to a large offset."""
    client = server.owner.client
    assert client.acks is not None
    client.acks.needs = 0
    server.state.replication.confirmations.ran(client, row, argv)
    return client.acks.needs


def test_all_commands_wait_but_those_that_have_nothing_to_do_with_data(
    make_server: Callable[..., SocketlessServer],
) -> None:
    server = make_server()
    server.send("CLIENT", "ACKS", "1")
    server.state.replication.confirmations.keys.all_changed(10**9)
    rows = [row for row in TABLE.all_rows() if row.name not in CONTAINERS]
    waiting = {row.name for row in rows if needs(server, row, shortest(row)) == 10**9}
    assert waiting == {row.name for row in rows if not without_data(row)}


BEYOND_THEIR_KEYS = [
    "MOVE k 1",
    "COPY k l DB 1",
    "SORT k GET o_*",
    "SORT_RO k BY w_* GET o_*",
    "XREDRIVE k",
    "XREAD MATCH k* 0",
    "XREADGROUP GROUP g c MATCH k* >",
    "XINFO STREAMS 0",
    "FUNCTION LIST",
    "FUNCTION DUMP",
    "FUNCTION STATS",
    "DEBUG OBJECT k",
    "DEBUG DIGEST",
    "EVAL script 1 k",
    "EVAL_RO script 1 k",
    "FCALL f 0",
    "FCALL_RO f 0",
    "EXEC",
    "KEYS k*",
    "SCAN 0",
    "RANDOMKEY",
    "DBSIZE",
    "SWAPDB 0 1",
]


@pytest.mark.parametrize("line", BEYOND_THEIR_KEYS)
def test_what_reads_more_than_its_keys_waits_for_the_last_change_of_all(
    make_server: Callable[..., SocketlessServer], line: str
) -> None:
    server = make_server()
    server.send("CLIENT", "ACKS", "1")
    keys = server.state.replication.confirmations.keys
    keys.note([(0, [b"SET", b"unnamed", b"1"])], 10**9)
    argv = line.encode().split()
    row = TABLE.called_by(argv)
    assert row is not None
    assert needs(server, row, argv) == 10**9


def values(server: SocketlessServer) -> dict[tuple[int, bytes], bytes]:
    """What stands for the value at each key of each database."""
    return {
        (db.index, key): digest.of_key(db, key)
        for db in server.state.databases
        for key in list(db.table)
    }


def changed(
    before: dict[tuple[int, bytes], bytes], after: dict[tuple[int, bytes], bytes]
) -> Iterator[tuple[int, bytes]]:
    return (place for place in before | after if before.get(place) != after.get(place))


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_every_key_that_is_changed_is_known_as_changed(
    make_server: Callable[..., SocketlessServer], case: cases.Case
) -> None:
    server = make_server(enable_debug_command="yes")
    guests = {"": server.owner}
    keys = UnconfirmedKeys()
    before = values(server)
    for offset, step in enumerate(case.steps, 1):
        if step.action == cases.LATER:
            server.advance(cases.LATER_MS)
        else:
            if step.client not in guests:
                guests[step.client] = server.client()
            guests[step.client].send(*step.argv(server.now_ms))
        for unit in server.log.units:
            keys.note(unit, offset)
        server.log.units.clear()
        after = values(server)
        missing = [place for place in changed(before, after) if keys.offset_of(*place) != offset]
        assert not missing, step.words
        before = after
