"""What waits for EXEC comes out as it went in, few or many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.command import TABLE, Command, Flags
from server.command_queue import NO_COMMANDS, CommandQueue


def row(name: bytes) -> Command:
    found = TABLE.find(name)
    assert found is not None
    return found


MANY = 64  # so many are packed together
WORDS = st.lists(st.binary(max_size=20), min_size=1, max_size=4)


@given(st.lists(WORDS, max_size=3 * MANY))
def test_words_come_out_in_order(queued: list[list[bytes]]) -> None:
    queue, command = CommandQueue(), row(b"get")
    for argv in queued:
        queue.append(command, argv)
    assert len(queue) == len(queued)
    assert [queue.next_words() for _ in queue.commands] == queued


def test_a_word_larger_than_what_strangers_may_send_comes_out_too() -> None:
    queue, command = CommandQueue(), row(b"set")
    argv = [b"SET", b"k", bytes(1 << 20)]
    for _ in range(MANY):
        queue.append(command, argv)
    assert [queue.next_words() for _ in queue.commands] == [argv] * MANY


def test_flags_are_those_of_any_command_and_the_size_is_of_all_words() -> None:
    queue = CommandQueue()
    queue.append(row(b"get"), [b"GET", b"key"])
    assert not queue.flags & Flags.WRITE
    assert queue.size() == 6
    queue.append(row(b"xadd"), [b"XADD", b"s", b"*", b"a", b"1"])
    assert queue.flags & Flags.WRITE
    assert queue.flags & Flags.DENYOOM


@pytest.mark.parametrize("client_commands", [1, MANY, 10 * MANY])
def test_nothing_that_is_queued_is_lost_at_the_edge_of_packing(client_commands: int) -> None:
    queue, command = CommandQueue(), row(b"get")
    for i in range(client_commands):
        queue.append(command, [b"GET", b"%d" % i])
    words = [queue.next_words()[1] for _ in queue.commands]
    assert words == [b"%d" % i for i in range(client_commands)]
    assert NO_COMMANDS.size() == 0
