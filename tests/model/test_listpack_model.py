"""Listpack compared with a list, and its bytes with those of a naive encoder."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage.errors import Corrupt
from storage.listpack.listpack import Element, Listpack
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(100), stateful_step_count=30, deadline=None)

edges = st.sampled_from([0, 7, 8, 12, 15, 23, 31, 63]).flatmap(
    lambda bits: st.integers(-(2**bits) - 2, 2**bits + 2)
)
sizes = st.sampled_from([0, 1, 62, 63, 64, 65, 125, 126, 127, 4094, 4095, 4096, 4097])
values = st.one_of(
    edges.map(lambda n: b"%d" % n),
    sizes.map(lambda size: b"v" * size),
    st.binary(max_size=20),
    st.sampled_from([b"-0", b"+1", b"01", b" 1", b"1 ", b"-", b"1.0"]),
)
indexes = st.integers(0, 200)


def encode(value: bytes) -> bytes:
    """One element, encoded as the drawing in storage/listpack/listpack.py describes it."""
    if re.fullmatch(rb"0|-?[1-9][0-9]{0,18}", value) and -(2**63) <= int(value) < 2**63:
        body = encode_int(int(value))
    elif len(value) < 64:
        body = bytes([0x80 | len(value)]) + value
    elif len(value) < 4096:
        body = (0xE000 | len(value)).to_bytes(2, "big") + value
    else:
        body = b"\xf0" + len(value).to_bytes(4, "little") + value
    assert len(body) < 16383
    if len(body) < 128:
        return body + bytes([len(body)])
    return body + bytes([len(body) >> 7, len(body) & 0x7F | 0x80])


def encode_int(number: int) -> bytes:
    if 0 <= number < 128:
        return bytes([number])
    if -4096 <= number < 4096:
        return (0xC000 | number & 0x1FFF).to_bytes(2, "big")
    for head, size in ((0xF1, 2), (0xF2, 3), (0xF3, 4)):
        if -(2 ** (8 * size - 1)) <= number < 2 ** (8 * size - 1):
            return bytes([head]) + number.to_bytes(size, "little", signed=True)
    return b"\xf4" + number.to_bytes(8, "little", signed=True)


def encode_all(elements: list[bytes]) -> bytes:
    body = b"".join(encode(value) for value in elements)
    return (
        (len(body) + 7).to_bytes(4, "little") + len(elements).to_bytes(2, "little") + body + b"\xff"
    )


class ListpackMachine(RuleBasedStateMachine):
    """Every operation at every position."""

    @initialize(start=st.lists(values, max_size=20))
    def fill(self, start: list[bytes]) -> None:
        self.listpack = Listpack.load(encode_all(start))
        self.model = list(start)

    def index_and_position(self, index: int) -> tuple[int, int]:
        """*index* brought into range, and the position of the element there."""
        index %= len(self.model)
        return index, self.listpack.seek(index)

    def is_not_empty(self) -> bool:
        return bool(self.model)

    @rule(value=values)
    def append(self, value: bytes) -> None:
        self.listpack.append(value)
        self.model.append(value)

    @rule(number=edges)
    def append_int(self, number: int) -> None:
        number = min(max(number, -(2**63)), 2**63 - 1)
        self.listpack.append_int(number)
        self.model.append(b"%d" % number)

    @rule(value=values)
    def prepend(self, value: bytes) -> None:
        self.listpack.prepend(value)
        self.model.insert(0, value)

    @precondition(is_not_empty)
    @rule(index=indexes, value=values)
    def insert_before(self, index: int, value: bytes) -> None:
        index, at = self.index_and_position(index)
        self.listpack.insert(at, value)
        self.model.insert(index, value)
        assert self.listpack.get_bytes(at) == value

    @precondition(is_not_empty)
    @rule(index=indexes, value=values)
    def insert_after(self, index: int, value: bytes) -> None:
        index, at = self.index_and_position(index)
        at = self.listpack.behind(at)
        self.listpack.insert(at, value)
        self.model.insert(index + 1, value)
        assert self.listpack.get_bytes(at) == value

    @precondition(is_not_empty)
    @rule(index=indexes, value=values)
    def replace(self, index: int, value: bytes) -> None:
        index, at = self.index_and_position(index)
        assert self.listpack.replace(at, value) == at
        self.model[index] = value

    @precondition(is_not_empty)
    @rule(index=indexes, number=st.integers(-(2**63), 2**63 - 1))
    def replace_int(self, index: int, number: int) -> None:
        index, at = self.index_and_position(index)
        assert self.listpack.replace_int(at, number) == at
        self.model[index] = b"%d" % number

    @precondition(is_not_empty)
    @rule(index=indexes)
    def delete(self, index: int) -> None:
        index, at = self.index_and_position(index)
        after = self.listpack.delete(at)
        del self.model[index]
        assert after == self.listpack.seek(index)

    @rule(index=st.integers(-30, 30), count=st.integers(0, 30))
    def delete_range(self, index: int, count: int) -> None:
        self.listpack.delete_range(index, count)
        start = index + len(self.model) if index < 0 else index
        if start >= 0:
            del self.model[start : start + count]

    @precondition(is_not_empty)
    @rule()
    def take_first(self) -> None:
        assert self.listpack.take_first() == self.model.pop(0)

    @precondition(is_not_empty)
    @rule()
    def take_last(self) -> None:
        assert self.listpack.take_last() == self.model.pop()

    @precondition(is_not_empty)
    @rule(index=indexes, swap=st.booleans())
    def split_and_join(self, index: int, swap: bool) -> None:
        index, at = self.index_and_position(index)
        right = self.listpack.split(at)
        right.check()
        assert self.listpack.dump() == encode_all(self.model[:index])
        assert right.dump() == encode_all(self.model[index:])
        if swap:
            right.extend(self.listpack)
            self.listpack = right
            self.model = self.model[index:] + self.model[:index]
        else:
            self.listpack.extend(right)

    @rule()
    def copy(self) -> None:
        self.listpack = self.listpack.copy()

    @rule()
    def shrink(self) -> None:
        self.listpack.shrink()
        unused = len(self.listpack.data) - self.listpack.size
        assert unused <= self.listpack.size >> 8  # a copy would cost more than it gives back

    @precondition(is_not_empty)
    @rule(index=indexes, value=values)
    def compare(self, index: int, value: bytes) -> None:
        index, at = self.index_and_position(index)
        assert self.listpack.matches(at, value) == (self.model[index] == value)
        assert self.listpack.matches(at, self.model[index])

    @invariant()
    def bytes_agree_with_the_model(self) -> None:
        assert self.listpack.dump() == encode_all(self.model)
        self.listpack.check()

    @invariant()
    def can_be_iterated_in_both_directions(self) -> None:
        listpack, element = self.listpack, Element()
        assert len(listpack) == len(self.model)
        forward = []
        at = listpack.first()
        while at != -1:
            forward.append(listpack.get_bytes(at))
            assert listpack.read(at, element) == element.next == listpack.next(at)
            if element.is_int:
                assert listpack.get_int(at) == element.number == int(forward[-1])
            else:
                end = element.start + element.size
                assert bytes(listpack.data[element.start : end]) == forward[-1]
            at = element.next
        backward = []
        at = listpack.last()
        while at != -1:
            backward.append(listpack.get_bytes(at))
            at = listpack.prev(at)
        assert forward == backward[::-1] == self.model

    @invariant()
    def seek_counts_from_both_ends(self) -> None:
        size = len(self.model)
        for index in (0, size // 2, size - 1, size, -1, -size, -size - 1):
            at = self.listpack.seek(index)
            if -size <= index < size:
                assert self.listpack.get_bytes(at) == self.model[index]
            else:
                assert at == -1


ListpackMachine.TestCase.settings = SETTINGS
TestListpack = ListpackMachine.TestCase


@settings(max_examples=rounds(300), deadline=None)
@given(
    start=st.lists(values, max_size=6),
    places=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.integers(0, 20),
)
def test_damaged_bytes_are_refused_or_can_be_iterated_both_ways(
    start: list[bytes], places: list[tuple[int, int]], cut: int
) -> None:
    """A listpack that passes the check can be read to its end without leaving its bytes."""
    data = bytearray(encode_all(start))
    for place, byte in places:
        data[place % len(data)] = byte
    del data[len(data) - min(cut, len(data)) :]
    try:
        listpack = Listpack.load(bytes(data))
        listpack.check()
    except Corrupt:
        return
    forward = list(listpack)
    assert len(forward) == len(listpack)
    backward = []
    at = listpack.last()
    while at != -1:
        backward.append(listpack.get(at))
        at = listpack.prev(at)
    assert forward == backward[::-1]


@given(st.binary(max_size=40))
def test_random_bytes_raise_nothing_but_corrupt(data: bytes) -> None:
    """A listpack that passes the check has its length in its header."""
    try:
        listpack = Listpack.load(data)
        listpack.check()
    except Corrupt:
        return
    assert int.from_bytes(data[:4], "little") == len(data)
