"""A short run of the fuzzer of commands; ``make fuzz`` has the long one."""

from __future__ import annotations

from random import Random

import pytest

from fuzz.command_server import (
    Finding,
    FuzzedServer,
    check_kinds,
    may_read_history,
    whole_replies,
)
from fuzz.command_words import CommandWords, commands
from fuzz.commands import run
from server.table.command import TABLE
from storage import allocation
from storage.lists.quicklist import QuickList
from storage.stream.stream_id import StreamId
from tests.worth import rounds

SEEDS = range(rounds(12))


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_clients_send_all_that_must_hold_does(seed):
    run(seed)


def test_a_seed_always_gives_the_same_commands():
    assert run(3, 60) == run(3, 60)


def test_each_command_about_data_is_drawn_with_arguments_that_it_accepts():
    """Of the words drawn for a command most are a call that it does not refuse as malformed."""
    dice = Random(1)
    words = CommandWords(dice)
    drawn = [words.draw() for _ in range(4000)]
    for row in commands():
        if row.group in ("string", "list", "set", "hash", "stream", "generic"):
            name = row.name.upper().encode().split(b"|")
            calls = [argv for argv in drawn if argv[: len(name)] == name]
            assert sum(row.accepts(len(argv)) for argv in calls) >= len(calls) // 2, row.name


def test_no_command_of_the_table_is_left_out_by_accident():
    assert len(list(commands())) > len(TABLE) - 20


# ---------------------------------------------------------------------- it finds what is wrong


def check_all(data):
    for reply in whole_replies(data):
        check_kinds(reply, 3)


@pytest.mark.parametrize("data", [b"+OK", b":x\r\n$1\r\nab\r\n", b"hello\r\n", b"*2\r\n:1\r\n"])
def test_what_is_no_whole_reply_is_found(data):
    with pytest.raises(Finding):
        check_all(data)


def test_a_reply_of_the_other_protocol_is_found():
    (reply,) = whole_replies(b"*1\r\n_\r\n")
    check_kinds(reply, 3)
    with pytest.raises(Finding):
        check_kinds(reply, 2)


def test_a_handler_that_raises_is_found(declare):
    def fail(_call):
        raise RuntimeError

    declare("FAIL", fail)
    server = FuzzedServer(1)
    with pytest.raises(Finding, match="exception"):
        server.run(server.free_clients()[0], [b"FAIL"])


def test_a_value_that_is_written_as_another_is_found(monkeypatch):
    server = FuzzedServer(1)
    server.run(server.free_clients()[0], [b"RPUSH", b"l", b"a"])
    monkeypatch.setattr(
        "fuzz.command_server.loaded", lambda _data, _now: FuzzedServer(0).state.databases
    )
    with pytest.raises(Finding, match="another value"):
        server.check_data(Random(1))


def test_a_change_that_is_not_logged_is_found(declare):
    def add(call):
        call.db.add(b"k", b"v")
        return 1

    declare("ADD", add)
    server = FuzzedServer(1)
    server.run(server.free_clients()[0], [b"ADD"])
    with pytest.raises(Finding, match="keys that only one of both has"):
        server.check_data(Random(1))


def test_deliveries_from_a_history_are_told_to_no_replica_and_are_no_finding():
    server = FuzzedServer(1)
    client = server.free_clients()[0]
    for line in (
        "XADD s 1-1 f v", "XGROUP CREATE s g 0", "XREADGROUP GROUP g c STREAMS s >",
        "XREADGROUP GROUP g c STREAMS s 0",
    ):  # fmt: skip
        server.advance(5)
        server.run(client, line.encode().split())
    server.check_data(Random(1))
    server.run(client, b"XCLAIM s g other 0 1-1".split())
    server.check_data(Random(1))
    server.state.databases[0].peek(b"s").find_group(b"g").ack(StreamId(1, 1))
    with pytest.raises(Finding, match="another value at the replica"):
        server.check_data(Random(1))


@pytest.mark.parametrize(
    ("line", "may"),
    [
        ("XREADGROUP GROUP g c STREAMS s >", False),
        ("xreadgroup group g c streams s t > >", False),
        ("XREADGROUP GROUP g c STREAMS s t > 0", True),
        ("XREADGROUP GROUP g c MATCH * >", False),
        ("EVAL script 0 XREADGROUP GROUP g c STREAMS s 1-1", True),
        ("XREAD STREAMS s 0", False),
    ],
)
def test_a_read_of_a_history_is_seen(line, may):
    assert may_read_history(line.encode().split()) is may


def test_a_log_that_a_replica_cannot_run_is_found(declare):
    def log(call):
        call.db.add(b"k", b"v")
        call.db.changed(b"k", None, changes=1, log=[b"LPUSH", b"k"])
        return 1

    declare("ADD", log)
    server = FuzzedServer(1)
    with pytest.raises(Finding, match="cannot run"):
        server.run(server.free_clients()[0], [b"ADD"])


def test_the_room_of_a_table_whose_last_key_was_removed_is_not_a_finding():
    server = FuzzedServer(1)
    (client,) = server.free_clients()
    server.run(client, [b"SET", b"k", b"v"])
    server.run(client, [b"DEL", b"k"])
    server.check_empty()


def test_a_client_that_is_killed_when_a_pause_ends_does_not_go_on():
    server = FuzzedServer(2)
    killer, killed = server.free_clients()
    server.run(killer, [b"CLIENT", b"PAUSE", b"1000", b"ALL"])
    server.run(killer, [b"CLIENT", b"KILL", b"SKIPME", b"YES"])
    server.run(killed, [b"BLPOP", b"k", b"0"])
    server.check_empty()


def test_memory_that_does_not_come_back_is_found():
    server = FuzzedServer(1)
    kept = QuickList(-2)
    with pytest.raises(Finding, match="bytes"):
        server.check_empty()
    assert kept is not None
    assert allocation.used_bytes() > 0
