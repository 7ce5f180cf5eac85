"""The commands that wait for EXEC come out of the queue as they went in, few or many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.encoder import Encoder
from protocol.requests import RequestParser
from server.client.command_queue import NO_COMMANDS, CommandQueue
from server.table.command import TABLE, Command, Flags


def row(name: bytes) -> Command:
    found = TABLE.find(name)
    assert found is not None
    return found


MANY = 64  # the queue packs this many commands together
WORDS = st.lists(st.binary(max_size=20), min_size=1, max_size=4)


@settings(deadline=None)  # with the first example, commands are declared
@given(st.lists(WORDS, max_size=3 * MANY))
def test_words_come_out_in_order(queued: list[list[bytes]]) -> None:
    queue, command = CommandQueue(), row(b"get")
    for argv in queued:
        queue.append(command, argv, command.flags)
    assert len(queue) == len(queued)
    assert [queue.next_words() for _ in queue.commands] == queued


def test_a_word_beyond_the_unauthenticated_limit_comes_out_too() -> None:
    queue, command = CommandQueue(), row(b"set")
    argv = [b"SET", b"k", bytes(1 << 20)]
    for _ in range(MANY):
        queue.append(command, argv, command.flags)
    assert [queue.next_words() for _ in queue.commands] == [argv] * MANY


def test_a_queue_has_the_flags_and_the_size_of_all_its_commands() -> None:
    queue = CommandQueue()
    queue.append(row(b"get"), [b"GET", b"key"], row(b"get").flags)
    assert not queue.flags & Flags.WRITE
    assert queue.size() == 6
    queue.append(row(b"xadd"), [b"XADD", b"s", b"*", b"a", b"1"], row(b"xadd").flags)
    assert queue.flags & Flags.WRITE
    assert queue.flags & Flags.DENYOOM


def fed(*commands: list[bytes]) -> RequestParser:
    wire = Encoder()
    for argv in commands:
        wire.write([*argv])
    parser = RequestParser()
    parser.feed(wire.take())
    return parser


def test_take_alike_queues_the_requests_that_repeat_the_last_command() -> None:
    queue, command = CommandQueue(), row(b"get")
    queued = [[b"GET", b"%d" % i] for i in range(MANY + 1)]
    for argv in queued:
        queue.append(command, argv, command.flags)
    more = [[b"GET", b"a"], [b"GET", b"\r\n"]]
    parser = fed(*more, [b"EXEC"])
    assert queue.take_alike(parser) == 2
    assert parser.take() == [b"EXEC"]
    assert queue.commands == [command] * (MANY + 3)
    queue.append(row(b"echo"), [b"ECHO", b"b"], row(b"echo").flags)
    assert [queue.next_words() for _ in queue.commands] == [*queued, *more, [b"ECHO", b"b"]]


def test_take_alike_takes_nothing_while_few_commands_are_queued() -> None:
    queue = CommandQueue()
    for _ in range(MANY - 1):
        queue.append(row(b"get"), [b"GET", b"k"], row(b"get").flags)
    assert queue.take_alike(fed([b"GET", b"k"])) == 0


def test_take_alike_takes_nothing_after_alternating_commands() -> None:
    queue = CommandQueue()
    for _ in range(MANY):
        queue.append(row(b"get"), [b"GET", b"k"], row(b"get").flags)
        queue.append(row(b"echo"), [b"ECHO", b"k"], row(b"echo").flags)
    queue.append(row(b"get"), [b"GET", b"k"], row(b"get").flags)
    assert queue.take_alike(fed([b"GET", b"k"])) == 0


@pytest.mark.parametrize("name", [b"config", b"command", b"object"])
def test_take_alike_takes_no_commands_that_have_subcommands(name: bytes) -> None:
    family = row(name)
    for command in [family, *family.subcommands.values()]:
        queue = CommandQueue()
        for _ in range(MANY + 1):
            queue.append(command, [name, b"help"], command.flags)
        assert queue.take_alike(fed([name, b"help"])) == 0


@pytest.mark.parametrize("client_commands", [1, MANY, 10 * MANY])
def test_no_command_is_lost_where_the_queue_begins_to_pack(client_commands: int) -> None:
    queue, command = CommandQueue(), row(b"get")
    for i in range(client_commands):
        queue.append(command, [b"GET", b"%d" % i], command.flags)
    words = [queue.next_words()[1] for _ in queue.commands]
    assert words == [b"%d" % i for i in range(client_commands)]
    assert NO_COMMANDS.size() == 0
