"""A base made of commands: a server that loads it has the same data."""

from __future__ import annotations

import pytest

from server.parts.persistence.log_commands import PIECE, CommandPieces
from server.parts.persistence.log_reader import LogReader
from tests.server.parts.persistence.fake_files import FakeFiles
from tests.server.parts.persistence.machine import START_MS, Machine


def machine(*lines: str) -> Machine:
    """A server that has run *lines*."""
    made = Machine(FakeFiles(), appendonly=False)
    made.start()
    for line in lines:
        reply = made.run([word.encode() for word in line.split()])
        assert not reply.startswith(b"-"), (line, reply)
    return made


def commands(made: Machine) -> list[bytes]:
    """The commands that make the data of *made*, each as one line."""
    reader = LogReader(b"".join(CommandPieces(made.state.databases)))
    found = []
    while (argv := reader.next()) is not None:
        found.append(b" ".join(argv))
    return found


def reloaded(made: Machine) -> Machine:
    """A server that has loaded the commands of *made*."""
    fresh = machine()
    replay = fresh.dispatcher.replaying.begin()
    for line in commands(made):
        assert replay(line.split(b" ")) == ""
    return fresh


def test_each_database_that_has_keys_is_selected() -> None:
    assert commands(machine("SET a 1", "SELECT 3", "SET b x")) == [
        b"SELECT 0", b"SET a 1", b"SELECT 3", b"SET b x"
    ]  # fmt: skip


def test_a_base_says_when_it_was_written_if_it_is_asked_to() -> None:
    databases = machine("SET a 1").state.databases
    plain = b"".join(CommandPieces(databases))
    assert b"".join(CommandPieces(databases, (), 1_700_000_000)) == b"#TS:1700000000\r\n" + plain
    assert not plain.startswith(b"#")


def test_integers_and_appended_strings_are_set_as_their_text() -> None:
    assert commands(machine("SET a 1", "APPEND a 2", "INCR a"))[1:] == [b"SET a 13"]
    assert commands(machine("SET a x", "SETRANGE a 1 yz"))[1:] == [b"SET a xyz"]


def test_an_expiry_follows_its_key_as_an_absolute_time() -> None:
    made = commands(machine("SET a 1 EX 100", "RPUSH l x", "PEXPIRE l 5000"))[1:]
    assert sorted([made[:2], made[2:]]) == [  # keys come in the order of their hashes
        [b"RPUSH l x", b"PEXPIREAT l %d" % (START_MS + 5000)],
        [b"SET a 1", b"PEXPIREAT a %d" % (START_MS + 100_000)],
    ]


def test_a_list_is_pushed_64_elements_at_a_time() -> None:
    made = machine(*(f"RPUSH l {number}" for number in range(130)))
    assert [line.count(b" ") - 1 for line in commands(made)[1:]] == [64, 64, 2]
    numbers = b" ".join(line.split(b" ", 2)[2] for line in commands(made)[1:])
    assert numbers == b" ".join(b"%d" % number for number in range(130))


def test_the_commands_of_a_stream_are_those_of_redis() -> None:
    made = machine(
        "XADD s 1-1 f v", "XADD s 2-1 f v g w", "XADD s 3-1 f v", "XDEL s 3-1",
        "XGROUP CREATE s group 0", "XREADGROUP GROUP group alice COUNT 1 STREAMS s >",
        "XGROUP CREATECONSUMER s group bob",
    )  # fmt: skip
    assert commands(made)[1:] == [
        b"XADD s 1-1 f v",
        b"XADD s 2-1 f v g w",
        b"XSETID s 3-1 ENTRIESADDED 3 MAXDELETEDID 3-1",
        b"XGROUP CREATE s group 1-1 ENTRIESREAD -1",
        b"XGROUP CREATECONSUMER s group alice",
        b"XGROUP CREATECONSUMER s group bob",
        b"XCLAIM s group alice 0 1-1 TIME %d RETRYCOUNT 1 JUSTID FORCE" % START_MS,
    ]


def test_an_empty_stream_is_made_by_an_entry_that_is_trimmed_at_once() -> None:
    assert commands(machine("XGROUP CREATE s group $ MKSTREAM"))[1:] == [
        b"XADD s MAXLEN 0 0-1 x y",
        b"XSETID s 0-0 ENTRIESADDED 0 MAXDELETEDID 0-0",
        b"XGROUP CREATE s group 0-0 ENTRIESREAD -1",
    ]


QUESTIONS = [
    ("XRANGE s - +", "XINFO STREAM s", "XINFO GROUPS s", "XPENDING s group - + 9"),
    ("LRANGE l 0 -1", "LLEN l"),
    ("GET k", "PEXPIRETIME k"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "questions"),
    [
        (
            (
                "XADD s 1-1 f v", "XADD s 1-2 f v", "XADD s 2-1 other fields", "XADD s 9-9 f v",
                "XDEL s 9-9", "XGROUP CREATE s group 0 ENTRIESREAD 3", "XGROUP CREATE s other $",
                "XREADGROUP GROUP group alice COUNT 2 STREAMS s >",
                "XREADGROUP GROUP group bob COUNT 2 STREAMS s >",
                "XCLAIM s group alice 0 2-1 RETRYCOUNT 7 JUSTID",
            ),
            QUESTIONS[0],
        ),
        (("XGROUP CREATE s group $ MKSTREAM", "XGROUP CREATECONSUMER s group c"), QUESTIONS[0]),
        (("XADD s 5-5 f v", "XGROUP CREATE s group 0", "XTRIM s MAXLEN 0"), QUESTIONS[0]),
        (("RPUSH l a 1 -5 99999999999", "LPUSH l " + "x" * 10_000), QUESTIONS[1]),
        (("SET k v EX 100",), QUESTIONS[2]),
    ],
    ids=["stream", "fresh stream", "emptied stream", "list", "string"],
)  # fmt: skip
def test_a_server_that_loads_the_commands_gives_the_same_replies(
    lines: tuple[str, ...], questions: tuple[str, ...]
) -> None:
    made = machine(*lines)
    again = reloaded(made)
    for question in questions:
        argv = question.encode().split()
        assert again.run(argv) == made.run(argv)


def test_pending_entries_that_were_deleted_are_left_out_as_in_redis() -> None:
    made = machine(
        "XADD s 1-1 f v", "XADD s 2-1 f v", "XGROUP CREATE s group 0",
        "XREADGROUP GROUP group c STREAMS s >", "XDEL s 1-1",
    )  # fmt: skip
    argv = b"XPENDING s group".split()
    assert made.run(argv).startswith(b"*4\r\n:2\r\n")
    assert reloaded(made).run(argv).startswith(b"*4\r\n:1\r\n")


def test_much_data_comes_in_pieces_and_the_keys_are_counted() -> None:
    made = machine(*(f"SET key-{number} {'x' * 1000}" for number in range(200)))
    pieces = CommandPieces(made.state.databases)
    sizes = [len(piece) for piece in pieces]
    assert len(sizes) > 2
    assert max(sizes) < PIECE + 2000
    assert pieces.keys_written == 200
