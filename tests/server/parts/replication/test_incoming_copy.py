"""A copy as it comes from a primary, cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.parts.replication.handshake import LONGEST_LINE, LinkFailed
from server.parts.replication.incoming_copy import IncomingCopy

MARK = b"0123456789abcdefghijklmnopqrstuvwxyzABCD"


class Taken:
    """What a copy has passed on, and what followed it."""

    def __init__(self, *portions: bytes) -> None:
        self.data = b""
        self.rest = b""
        self.copy = IncomingCopy(self._write)
        for portion in portions:
            if self.copy.is_whole:
                self.rest += portion
            else:
                self.rest += self.copy.take(portion)

    def _write(self, data: bytes) -> None:
        self.data += data


def cut(whole: bytes, at: list[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(whole) + 1) for place in at), len(whole)]
    return [whole[a:b] for a, b in pairwise(places)]


CUTS = st.lists(st.integers(0, 10_000), max_size=6)


@given(st.binary(max_size=200), st.sampled_from([b"", b"*1\r\n$4\r\nPING\r\n"]), CUTS)
def test_a_counted_copy_ends_where_its_length_says(data: bytes, rest: bytes, at: list[int]):
    whole = b"\n\n$%d\r\n" % len(data) + data + rest
    taken = Taken(*cut(whole, at))
    assert taken.copy.is_whole
    assert (taken.data, taken.rest) == (data, rest)
    assert taken.copy.size == taken.copy.received == len(data)


@given(st.binary(max_size=200), CUTS)
def test_a_marked_copy_ends_with_its_mark(data: bytes, at: list[int]):
    taken = Taken(*cut(b"$EOF:" + MARK + b"\r\n" + data + MARK, at))
    assert taken.copy.is_whole
    assert (taken.data, taken.rest) == (data, b"")


@given(st.integers(1, 39), CUTS)
def test_a_part_of_the_mark_is_data(size: int, at: list[int]):
    data = b"x" + MARK[:size] + b"y" + MARK[:size]
    taken = Taken(*cut(b"$EOF:" + MARK + b"\r\n" + data + MARK, at))
    assert taken.data == data


def test_what_has_not_ended_is_not_whole():
    assert not Taken(b"$5\r\nabcd").copy.is_whole
    assert not Taken(b"$EOF:" + MARK + b"\r\n" + MARK[:-1]).copy.is_whole
    assert not Taken(b"\n\n\n").copy.is_whole


@pytest.mark.parametrize(
    "line",
    [b"+OK\r\n", b"$-1\r\n", b"$EOF:short\r\n", b"$\r\n", b"$12x\r\n", b"-ERR no\r\n", b"*1\r\n"],
)
def test_what_begins_otherwise_is_no_copy(line: bytes):
    with pytest.raises(LinkFailed):
        Taken(line)


def test_a_first_line_without_an_end_is_not_waited_for():
    with pytest.raises(LinkFailed):
        Taken(*[b"x" * 100] * (LONGEST_LINE // 100 + 1))
