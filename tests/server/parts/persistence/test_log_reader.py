"""LogReader: whole commands, torn commands, and bytes that are not a command."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.parts.persistence.log_reader import LogReader, NoCommand, Torn
from server.process import build

ARGV = st.lists(st.binary(max_size=40), min_size=1, max_size=6)


def encoded(argv: Sequence[bytes]) -> bytes:
    return b"*%d\r\n" % len(argv) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in argv)


SET = encoded([b"SET", b"k", b"v"])


def commands(data: bytes, start: int = 0) -> list[list[bytes]]:
    reader = LogReader(data, start)
    found = []
    while (argv := reader.next()) is not None:
        found.append(argv)
    return found


@given(st.lists(ARGV, max_size=8))
def test_commands_are_read_as_they_were_written(written: list[list[bytes]]) -> None:
    assert commands(b"".join(map(encoded, written))) == written


def test_reading_begins_at_the_given_offset() -> None:
    assert commands(b"REDIS0010" + SET, 9) == [[b"SET", b"k", b"v"]]


def test_timestamps_are_skipped() -> None:
    assert commands(b"#TS:1700000000\r\n" + SET + b"#TS:1700000001\r\n" + SET) == [
        [b"SET", b"k", b"v"],
        [b"SET", b"k", b"v"],
    ]


@given(st.lists(ARGV, min_size=1, max_size=3), st.data())
def test_a_log_cut_anywhere_is_torn_after_the_last_whole_command(
    written: list[list[bytes]], data: st.DataObject
) -> None:
    ends = [sum(len(encoded(argv)) for argv in written[:n]) for n in range(len(written) + 1)]
    cut = data.draw(st.integers(0, ends[-1]))
    reader = LogReader(b"".join(map(encoded, written))[:cut])
    whole = sum(end <= cut for end in ends) - 1
    for argv in written[:whole]:
        assert reader.next() == argv
    if cut in ends:
        assert reader.next() is None
    else:
        with pytest.raises(Torn):
            reader.next()
    assert reader.position == ends[whole]


def test_a_torn_timestamp_is_torn_too() -> None:
    reader = LogReader(SET + b"#TS:17000")
    reader.next()
    with pytest.raises(Torn):
        reader.next()
    assert reader.position == len(SET)


@pytest.mark.parametrize(
    "data",
    [
        b"SET k v\r\n",
        b"\r\n",
        b"\0\0\0\0",
        b"*0\r\n",
        b"*-1\r\n",
        b"*x\r\n",
        b"*1 \r\n$1\r\na\r\n",
        b"*1\n$1\r\na\r\n",
        b"*1\r\n:1\r\n",
        b"*1\r\n*1\r\n",
        b"*1\r\n$-1\r\n",
        b"*1\r\n$+1\r\na\r\n",
        b"*1\r\n$3\r\nab\r\n\r\n",
        b"*1\r\n$1\r\nabc\r\n",
        b"*99999999999\r\n$1\r\na\r\n",
        b"*1\r\n$99999999999999999999\r\na\r\n",
    ],
)
def test_bytes_that_are_no_command_are_told_apart_from_a_torn_end(data: bytes) -> None:
    reader = LogReader(SET + data)
    reader.next()
    with pytest.raises(NoCommand):
        reader.next()
    assert reader.position == len(SET)


@pytest.mark.parametrize("data", [b"*1000000000\r\n$1\r\na\r\n", b"*1\r\n$1000000000\r\na"])
def test_no_memory_is_taken_for_words_that_are_not_there(data: bytes) -> None:
    with pytest.raises(Torn):
        LogReader(data).next()


@given(st.binary(max_size=80))
def test_any_bytes_are_commands_or_torn_or_no_command(data: bytes) -> None:
    reader = LogReader(data)
    try:
        while reader.next() is not None:
            pass
        assert reader.position == len(data)
    except (Torn, NoCommand):
        assert reader.position < len(data)


def test_a_closed_reader_has_no_commands() -> None:
    reader = LogReader(bytearray(SET))
    reader.close()
    assert reader.next() is None


def test_random_commands_cut_at_any_byte_are_torn() -> None:
    size = 1 << (20 if build.compiled() else 16)
    random = Random(7)
    at = 0
    while at < size:
        words = [random.randbytes(random.choice((0, 1, 9, 10, 99, 100, 150))) for _ in range(4)]
        command = encoded(words)
        for cut in range(1, len(command)):
            reader = LogReader(command[:cut])
            with pytest.raises(Torn):
                reader.next()
            assert reader.position == 0
        assert LogReader(command).next() == words
        at += len(command)
