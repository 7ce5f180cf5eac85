"""Twins that work on pointers: the C side, through pointers.pyx, and its plain side.

Both are led through the same steps and must give the same answers. The C side must also leave every
reference count and the counter of bytes as it should.
"""

from __future__ import annotations

import array
import functools
import os
import re
import sys
from collections.abc import Iterator
from itertools import product
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol import word_memory
from server.parts.scripting.lua.libraries import number_octets
from storage import borrowed_listpack
from storage.chance import Chance
from storage.hash_table import borrowed_packed, fetching
from storage.hash_table.packed_table import PackedTable
from storage.hashes import borrowed_hash
from storage.hashes.hash import Hash
from storage.keyspace import item_octets
from storage.keyspace.key_table import KeyTable
from storage.keyspace.settings import LooseKeys
from storage.limits import ListpackLimits, SetLimits
from storage.lists import borrowed_list
from storage.lists.quicklist import QuickList
from storage.rax import branches
from storage.rdb import borrowed, raw
from storage.sets import borrowed_set
from storage.sets.member_set import MemberSet
from storage.snapshot import borrowed_table
from storage.sorted_sets import borrowed_sorted_set
from storage.sorted_sets.sorted_set import SortedSet
from storage.sorted_sets.value_type import SORTED_SET
from storage.stream import kept_blocks, lane_chains, links
from storage.stream.lane import Lane
from storage.stream.pending import Pending, new_pending
from storage.strings import bit_octets
from tests.twins import wrappers
from tests.twins.test_twins import CASES, FOLDER, I64, TESTED_BELOW, TEXT

pytestmark = pytest.mark.skipif(
    bool(os.environ.get("PENSTOCK_UNCOMPILED")), reason="this leg of the tests runs uncompiled"
)

SOURCE = (wrappers.ROOT / "tests" / "twins" / "pointers.pyx").read_text()


@functools.cache
def compiled() -> ModuleType:
    return wrappers.build("pointer_twins", SOURCE, FOLDER)


# Their tests are elsewhere: in test_system_calls.py, of the selector and of faults.
CALLS = [
    "server.network.epoll.socket_calls",
    "server.process.ticks",
    "server.process.reserve_calls",
    "server.process.page_calls",
    "server.process.crash_calls",  # tests/server/process/test_crash_report.py
    "server.process.stack_calls",  # tests/server/parts/scripting/test_own_stack.py
    # These need an interpreter: tests/compat/test_lua_libraries.py.
    "server.parts.scripting.lua.lua_api",
    "server.parts.scripting.lua.libraries.lua_octets",
]


@pytest.mark.parametrize("module", [m for m in wrappers.inline_modules() if m not in CALLS])
def test_every_function_that_has_a_twin_is_compared(module: str) -> None:
    """Here, if it is called in pointers.pyx, or in test_twins.py."""
    called_here = set(re.findall(rf"\b{module.rpartition('.')[2]}\.(\w+)\(", SOURCE))
    compared = called_here | set(CASES.get(module, ())) | TESTED_BELOW.get(module, set())
    assert wrappers.twins(module) <= compared


# ---------------------------------------------------------------------- branches of the radix tree


class PlainBranches:
    """The plain side of a block, with the methods of the class Branches in pointers.pyx."""

    def __init__(self) -> None:
        self.block = branches.none()

    def __getattr__(self, name: str) -> Any:
        return functools.partial(getattr(branches, name), self.block)

    def insert(self, index: int, byte: int, new: Any) -> None:
        self.block = branches.insert(self.block, index, byte, new)

    def remove(self, index: int) -> None:
        self.block = branches.remove(self.block, index)

    def free(self) -> None:
        branches.free(self.block)
        self.block = branches.none()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """What the plain side counts; the compiled counter is not a module's attribute."""
    counter = SimpleNamespace(used=0)
    monkeypatch.setattr(branches, "allocation", counter)
    before = compiled().used_bytes()
    yield counter
    assert compiled().used_bytes() == before
    assert counter.used == 0


# Bytes near each other or anywhere: find() guesses that there are no gaps.
BYTES = st.lists(st.integers(0, 255) | st.integers(97, 103), max_size=200)


def pairs_of(block: Any) -> list[tuple[int, Any]]:
    return [(block.edge(index), block.child(index)) for index in range(block.count())]


def agree(block: Any, plain: Any) -> None:
    assert pairs_of(block) == pairs_of(plain)
    assert block.bare() == plain.bare()
    for byte in range(256):
        assert block.find(byte) == plain.find(byte)
        assert block.place(byte) == plain.place(byte)


def weighs(block: Any) -> None:
    """The block has room for what it holds, and for a quarter more at most but for rounding."""
    least = branches.HEADER + branches.BRANCH * block.count()
    if block.count():
        assert least <= block.weight() <= least * 5 // 4 + 32
    else:
        assert block.weight() == 0


@settings(deadline=None, max_examples=25)
@given(BYTES, st.randoms(use_true_random=False))
def test_branches_come_and_go_alike(wanted: list[int], random: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        counter = SimpleNamespace(used=0)
        patch.setattr(branches, "allocation", counter)
        block, plain = compiled().Branches(), PlainBranches()
        before = compiled().used_bytes()
        for step, byte in enumerate(wanted):
            child = b"child %d" % step
            for each in (block, plain):
                at = each.find(byte)
                if at < 0:
                    each.insert(each.place(byte), byte, child)
                elif step % 3:
                    each.put(at, child)
                    each.count_bare(1)
                else:
                    each.remove(at)
            assert compiled().used_bytes() - before == block.weight()
            assert counter.used == plain.weight()
            weighs(block)
        agree(block, plain)
        while block.count():
            index = random.randrange(block.count())
            for each in (block, plain):
                each.remove(index)
            weighs(block)
            assert pairs_of(block) == pairs_of(plain)
        assert compiled().used_bytes() == before
        assert counter.used == 0


@pytest.mark.usefixtures("counted")
def test_a_block_holds_one_reference_to_each_child() -> None:
    children = [[n] for n in range(256)]
    held = [sys.getrefcount(child) for child in children]
    block = compiled().Branches()
    for byte in range(256):
        block.insert(byte, byte, children[byte])
    assert [sys.getrefcount(child) for child in children] == [count + 1 for count in held]
    block.put(7, children[8])
    assert sys.getrefcount(children[7]) == held[7]
    assert sys.getrefcount(children[8]) == held[8] + 2
    block.remove(9)
    assert sys.getrefcount(children[9]) == held[9]
    block.free()
    assert [sys.getrefcount(child) for child in children] == held


def test_all_branches_are_freed_alike(counted: SimpleNamespace) -> None:
    for block in (compiled().Branches(), PlainBranches()):
        block.free()
        for byte in range(100):
            block.insert(byte, byte, b"child")
        block.free()
        assert block.count() == block.weight() == 0
    assert counted.used == 0


def test_an_owned_reference_is_held_until_it_is_let_go() -> None:
    value = [1]
    before = sys.getrefcount(value)
    reference = compiled().Reference(value)
    assert reference.held() is branches.held(branches.hold(value)) is value
    assert sys.getrefcount(value) == before + 1
    reference.let_go()
    branches.let_go(value)
    reference.let_go()  # of nothing
    assert sys.getrefcount(value) == before


# ---------------------------------------------------------------------- links of a stream


@pytest.mark.parametrize("target", [None, new_pending(1, 1, 0, 1, 0)])
def test_a_link_leads_to_its_target(target: Pending | None) -> None:
    assert compiled().follow_link_to(target) is links.follow(links.link_to(target)) is target


def test_a_link_keeps_nothing_alive_until_it_is_told_to() -> None:
    target = new_pending(1, 1, 0, 1, 0)
    before = sys.getrefcount(target)
    with pytest.raises(TypeError):
        compiled().follow_link_to([1])
    compiled().follow_link_to(target)
    assert sys.getrefcount(target) == before
    compiled().hold(target)
    assert sys.getrefcount(target) == before + 1
    compiled().let_go(target)
    assert sys.getrefcount(target) == before


# ---------------------------------------------------------------------- memory that a class keeps


@pytest.mark.parametrize("other", [list, bytes, Pending])
def test_the_plain_side_takes_any_class_and_does_nothing(other: type) -> None:
    assert kept_blocks.keep_for(other) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize("other", [list, bytes, Pending, "Part", 5])
def test_only_a_class_with_objects_of_one_size_keeps_blocks(other: Any) -> None:
    made = getattr(compiled(), other) if isinstance(other, str) else other
    with pytest.raises(TypeError):
        compiled().keep_for(made)


def test_objects_from_kept_blocks_are_blank_and_apart() -> None:
    made = compiled().Whole
    compiled().keep_for(made)
    for count in (3, 1000, 300, 1):  # more than are kept, and fewer
        held = [made() for _ in range(count)]
        assert all((each.first, each.second) == (0, 0) for each in held)
        for number, each in enumerate(held):
            each.first, each.second = number, ~number & (2**64 - 1)
        assert [each.first for each in held] == list(range(count))
        assert {each.second ^ (2**64 - 1) for each in held} == set(range(count))
        assert type(held[0]) is made


def test_a_class_with_kept_blocks_takes_no_more_memory_for_it() -> None:
    made = compiled().Whole
    compiled().keep_for(made)
    for _ in range(3):  # the first rounds fill what is kept
        del [made() for _ in range(2000)][:]
    before = sys.getallocatedblocks()
    for _ in range(20):
        del [made() for _ in range(2000)][:]
    assert sys.getallocatedblocks() - before < 50


# ---------------------------------------------------------------------- chains of lanes


class PlainChains:
    """The plain side of a block of chains, with the methods of LaneChains in pointers.pyx."""

    def __init__(self, size: int) -> None:
        self.block = lane_chains.none()
        self.resize(size)

    def __getattr__(self, name: str) -> Any:
        return functools.partial(getattr(lane_chains, name), self.block)

    def number_of(self, item: Any) -> int:
        return lane_chains.number_of(item)

    def resize(self, size: int) -> None:
        old = len(self.block)
        self.block = lane_chains.resized(self.block, size)
        for chain in range(old, size):
            lane_chains.begin(self.block, chain)

    def free(self) -> None:
        lane_chains.free(self.block)
        self.block = lane_chains.none()


class PlainLane:
    """What the plain side needs of a Lane; in_chain of a compiled one is not seen from Python."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.in_chain = None


class PlainOnly(PlainLane):
    """What it needs of a LanePending."""

    @property
    def lane(self) -> int:
        return self.number


@pytest.fixture
def _plain_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_chains, "Lane", PlainLane)
    monkeypatch.setattr(lane_chains, "LanePending", PlainOnly)


def two_items(number: int) -> tuple[Any, Any]:
    """One of the compiled side, and its like for the plain one."""
    if number % 2:
        return new_pending(1, 1, 0, 1, 0, number), PlainOnly(number)
    lane = Lane.__new__(Lane)
    lane.begin(number, 0)
    return lane, PlainLane(number)


def numbers_in(chains: Any, chain: int) -> list[int]:
    found: list[Any] = []
    chains.list_all(chain, found)
    return [chains.number_of(item) for item in found]


CHAIN_STEPS = st.lists(
    st.tuples(
        st.sampled_from(("put", "put", "take", "move", "resize")),
        st.integers(0, 3), st.integers(1, 20),
    )
)  # fmt: skip


@pytest.mark.usefixtures("_plain_items")
@given(CHAIN_STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chains_agree(steps: list[tuple[str, int, int]]) -> None:
    both = compiled().LaneChains(4), PlainChains(4)
    items = {number: two_items(number) for number in range(1, 21)}
    for step, chain, number in steps:
        for chains, item in zip(both, items[number], strict=True):
            if step == "put" and all(number not in numbers_in(chains, at) for at in range(4)):
                chains.put(chain, item)
            elif step == "put":
                with pytest.raises(ValueError, match="cannot be put"):
                    chains.put(chain, item)
            elif step == "move":
                chains.move(chain, number % 4, number)
            elif step == "resize":
                chains.resize(4 + number)
        if step == "take":
            taken = [c.take(chain, i) for c, i in zip(both, items[number], strict=True)]
            assert taken[0] == taken[1]
        for at in range(4):
            assert numbers_in(both[0], at) == numbers_in(both[1], at)
            firsts, held = [c.first(at) for c in both], numbers_in(both[0], at)
            assert [f and c.number_of(f) for c, f in zip(both, firsts, strict=True)] == (
                [held[0]] * 2 if held else [None] * 2
            )
            found = [chains.find(at, number) for chains in both]
            assert [chains.has(at, number) for chains in both] == [number in held] * 2
            assert found == (list(items[number]) if number in held else [None] * 2)
    for chains, side in zip(both, (0, 1), strict=True):
        for at, number in product(range(4), items):
            chains.take(at, items[number][side])
        assert [chains.first(at) for at in range(4)] == [None] * 4
        chains.free()


def test_a_stranger_is_in_no_chain() -> None:
    chains = compiled().LaneChains(1)
    for stranger in (None, b"7", new_pending(1, 1, 0, 1, 0)):
        with pytest.raises(ValueError, match="cannot be put"):
            chains.put(0, stranger)
        assert not chains.take(0, stranger)
    chains.free()


# ---------------------------------------------------------------------- raw bytes


@given(st.binary(min_size=1, max_size=40), st.data())
def test_raw_bytes_are_those_of_the_object(data: bytes, more: st.DataObject) -> None:
    at = more.draw(st.integers(0, len(data) - 1))
    octets = compiled()
    assert octets.of_bytes(data) == raw.of_bytes(data) == data
    assert octets.of_bytearray(bytearray(data)) == raw.of_bytearray(bytearray(data)) == data
    size = more.draw(st.integers(0, len(data) - at))
    assert octets.part(data, at, size) == raw.part(data, at, size) == data[at : at + size]
    for text in (data, bytearray(data)):
        assert octets.octets_of(text) == bit_octets.octets_of(text) == data
    part = memoryview(data)[at:]
    assert octets.of_view(part) == raw.of_view(part) == data[at:]
    written, plain = bytearray(data), bytearray(data)
    octets.into(written, at, 255)
    raw.into(plain)[at] = 255
    assert written == plain


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9), st.integers(0, 2**32 - 1))
def test_tables_are_read_and_written_in_place(numbers: list[int], new: int) -> None:
    at = len(numbers) // 2
    written, plain = array.array("I", numbers), array.array("I", numbers)
    compiled().table32(memoryview(written), at, new)
    raw.table32(memoryview(plain))[at] = new
    assert written == plain
    entries = memoryview(array.array("Q", [number << 31 for number in numbers]))
    assert compiled().table64(entries, at) == raw.table64(entries)[at]


# ---------------------------------------------------------------------- borrowed references

VALUES: st.SearchStrategy[Any] = (
    TEXT | I64 | st.sampled_from([None, True, [], bytearray(b"x"), 1.5])
)


@given(VALUES)
def test_a_borrowed_object_is_known_alike(value: Any) -> None:
    c = compiled()
    assert c.is_nothing(value) == borrowed.is_nothing(value)
    assert c.held_again(value) is borrowed.held(value) is value
    assert c.class_of(value) is borrowed.class_of(value)
    assert c.is_bytes(value) == borrowed.is_bytes(value)
    assert c.is_int(value) == borrowed.is_int(value)
    if borrowed.is_bytes(value):
        assert c.octets(value) == borrowed.octets(value)
        assert c.size(value) == borrowed.size(value)
    if borrowed.is_int(value):
        assert c.number(value) == borrowed.number(value)


def test_nothing_is_nothing() -> None:
    assert compiled().nothing() is borrowed.nothing() is None


@given(st.lists(st.binary(max_size=3000), max_size=12), st.integers(0, 12))
def test_a_list_of_one_listpack_is_found_alike(elements: list[bytes], popped: int) -> None:
    value = QuickList(-1)
    for element in elements:
        value.push_right(element)
    for _ in range(min(popped, len(elements))):
        value.pop_left()
    pack = borrowed_list.only_listpack(value)
    assert compiled().only_listpack(value) is pack
    if pack is not None:
        size = compiled().listpack_size(pack)
        assert size == borrowed_listpack.size(pack)
        assert compiled().listpack_octets(pack) == bytes(borrowed_listpack.octets(pack)[:size])


def small_set(member: bytes) -> SortedSet:
    made = SortedSet()
    made.put(member, 1.0, ListpackLimits(128, 512))
    return made


KEPT = [
    *(b"", b"text", b"t" * 200, b"t" * 511, b"f" * 512, 7, -(2**63), bytearray(b"raw")),
    *(small_set(b"m"), small_set(b"m" * 200), small_set(b"m" * 510)),
]


def entry_of(side: Any, segment: Any, at: int) -> tuple[int, int, Any]:
    kind = side.kind_at(segment, at)
    if kind == item_octets.NUMBER:
        value = side.number_at(segment, at)
    elif kind == item_octets.OBJECT:
        value = side.object_at(segment, at)
    else:
        value = side.text_at(segment, at)[0]
    return side.last_use_at(segment, at), kind, value


def test_an_object_is_borrowed_as_it_is() -> None:
    value = object()
    assert compiled().kept(value) is borrowed.of(value) is value


@pytest.mark.parametrize("count", [0, 1, 170, 5000])
def test_a_key_table_is_walked_alike(count: int) -> None:
    table = KeyTable(LooseKeys())
    keys = [b"%d" % n + b"k" * (n * 7 % 700) for n in range(count)]
    for n, key in enumerate(keys):
        table.set(key, KEPT[n % len(KEPT)], 3 * n)
    table.pack(count)
    for key in keys[::2]:
        table.get(key)  # a packed value becomes an object in the same place
    c = compiled()
    found = []
    for slot in range(c.slots(table)):
        segment = c.segment_at(table, slot)
        if segment is not None:
            c.prefetch(segment)
            borrowed_table.prefetch(segment)
            for at in range(c.count(segment)):
                entry = entry_of(c, segment, at)
                assert entry == entry_of(borrowed_table, segment, at)
                found.append((c.key_at(segment, at)[0], *entry))
    assert sorted(key for key, *_ in found) == sorted(keys)
    for key, last_use, kind, value in found:
        assert last_use == table.last_use_of(key)
        if kind < item_octets.PACKED:
            assert value == table.get(key)
        else:
            assert value == SORTED_SET.packed(table.look(key))


@pytest.mark.parametrize("count", [0, 1, 170, 5000])
def test_a_packed_table_is_walked_alike(count: int) -> None:
    table = PackedTable()
    expected = {b"%d" % n + b"k" * (n * 7 % 700): b"v" * (n * 11 % 700) for n in range(count)}
    for key, value in expected.items():
        table.set(key, value)
    c = compiled()
    plain = SimpleNamespace(_directory=c.directory_of(table), used=len(table))
    assert c.table_size(table) == borrowed_packed.size(plain) == count
    assert c.slots(table) == borrowed_packed.slots(plain)
    found = []
    for slot in range(c.slots(table)):
        segment = c.segment_at(table, slot)
        assert segment is borrowed_packed.segment_at(plain, slot)
        if segment is not None:
            assert c.count(segment) == borrowed_packed.count(segment)
            for at in range(c.count(segment)):
                assert c.key_at(segment, at) == borrowed_packed.key_at(segment, at)
                assert c.value_at(segment, at) == borrowed_packed.value_at(segment, at)
                assert c.behind_key(segment, at) == borrowed_packed.behind_key(segment, at)[:1]
                value = c.text_behind_key(segment, at, 0)
                assert value == borrowed_packed.text_behind_key(segment, at, 0)
                found.append((c.key_at(segment, at)[0], value[0]))
    assert len(found) == count
    assert dict(found) == expected


@pytest.mark.parametrize("count", [0, 1, 170, 5000])
def test_fetching_changes_nothing(count: int) -> None:
    table = PackedTable()
    for n in range(count):
        table.set(b"%d" % n, b"v" * (n % 700))
    c = compiled()
    shift = 32 - (c.slots(table).bit_length() - 1)
    for keys in ([], [b"0"], [b"not there"], [b"%d" % n for n in range(40)]):
        c.fetch(table, shift, keys)
        fetching.fetch(c.directory_of(table), shift, keys)
    table.check()
    assert len(table) == count


@pytest.mark.parametrize("count", [1, 170, 5000])
def test_places_are_drawn_alike(count: int) -> None:
    table = PackedTable()
    for n in range(count):
        table.set(b"%d" % n, b"v" * (n % 700))
    c = compiled()
    shift = 32 - (c.slots(table).bit_length() - 1)
    one, other = Chance(count), Chance(count)
    for items in range(50):
        places = c.draw_places(table, shift, 171, one, items)
        assert places == fetching.draw_places(c.directory_of(table), shift, 171, other, items)
        assert all(table.is_place(place) for place in places)


def test_a_packed_table_is_walked_without_touching_reference_counts() -> None:
    table = PackedTable()
    key, value = b"k" * 600, b"v" * 600
    table.set(key, value)
    (segment,) = table.segments()
    watched = [table, segment, segment.marks, segment.data, segment.far, key, value]
    before = [sys.getrefcount(each) for each in watched]
    assert compiled().table_size(table) == 1
    assert compiled().key_at(segment, 0) == (key, 600)
    assert compiled().value_at(segment, 0) == (value, 600)
    after = [sys.getrefcount(each) for each in watched]
    assert after == before


# ---------------------------------------------------------------------- the memory of a long word


@given(st.lists(st.binary(max_size=400), max_size=20), st.integers(0, 100))
def test_a_word_is_put_together_alike(parts: list[bytes], short: int) -> None:
    """It grows when a part has no room, and is cut in the end; what is new in it is undefined."""
    sides = [(side, side.new()) for side in (compiled(), word_memory)]
    words = []
    for side, memory in sides:
        at = room = 0
        for number, part in enumerate(parts):
            if at + len(part) > room:
                room = at + len(part) + 64
                side.resize(memory, room)
            if number % 2:
                at = side.put(memory, at, b"<" + part + b">", 1, len(part))
            else:
                with side.view(memory, at, at + len(part)) as view:
                    view[:] = part
                at += len(part)
        words.append(side.finish(memory, max(at - short, 0)))
        assert memory == [b""]
    assert words == [b"".join(parts)[: len(words[0])]] * 2
    assert type(words[0]) is type(words[1]) is bytes


# ---------------------------------------------------------------------- hashes and sets


@pytest.mark.parametrize("entries", [0, 100])
def test_a_hash_is_borrowed_alike(entries: int) -> None:
    value = Hash()
    for number in range(20):
        value.set(b"%d" % number, b"v" * number, ListpackLimits(entries, 64))
    pack = borrowed_hash.pack_of(value)
    assert compiled().hash_pack_of(value) is pack
    assert compiled().hash_table_of(value) is borrowed_hash.table_of(value)


NUMBERS = [0, 127, 128, -1, 4095, 4096, -4096, 2**15, -(2**15), 2**23, 2**31, -(2**63), 2**63 - 1]


@pytest.mark.parametrize("texts", [[], [b"", b"a", b"b" * 63, b"c" * 64, b"d" * 5000]])
@pytest.mark.parametrize("entries", [0, 100])
def test_a_set_is_borrowed_alike(texts: list[bytes], entries: int) -> None:
    value = MemberSet()
    for member in [*texts, *(b"%d" % number for number in NUMBERS)]:
        value.add(member, SetLimits(entries, entries, 1 << 20))
    found = borrowed_set.members(value)
    assert compiled().set_members(value) is found
    assert compiled().set_of(value) is borrowed_set.of(value) is value
    assert compiled().set_is_listpack(found) == borrowed_set.is_listpack(found)
    if borrowed_set.is_listpack(found):
        assert compiled().set_length(found) == borrowed_set.length(found)
        at = found.first()
        while at >= 0:
            one = borrowed_set.member_at(found, at)
            text, number, behind = compiled().set_member_at(found, at)
            assert behind == one.next
            if one.size == borrowed_set.NUMBER:
                assert (text, number) == (None, one.number)
            else:
                assert text == bytes(one.octets[: one.size])
            at = behind


# ---------------------------------------------------------------------- sorted sets


def test_a_sorted_set_that_is_a_listpack_is_borrowed_alike() -> None:
    value = SortedSet()
    value.put(b"a", 1.5, ListpackLimits(9))
    pack = borrowed_sorted_set.pack_of(value)
    assert compiled().sorted_set_pack_of(value) is pack is value.pack
    assert compiled().sorted_set_tree_of(value) is borrowed_sorted_set.tree_of(value) is None


@pytest.mark.parametrize("members", [1, 1000])
def test_a_sorted_set_that_is_a_tree_is_borrowed_alike(members: int) -> None:
    value = SortedSet()
    value.as_tree()
    for number in range(members):
        value.put(b"m" * (number % 200) + b"%d" % number, -number / 3, ListpackLimits(9))
    side = compiled()
    tree = borrowed_sorted_set.tree_of(value)
    assert side.sorted_set_tree_of(value) is tree is value.tree
    assert side.sorted_set_pack_of(value) is borrowed_sorted_set.pack_of(value) is None
    assert side.sorted_set_size(tree) == borrowed_sorted_set.size(tree) == members
    leaf = borrowed_sorted_set.last_leaf(tree)
    assert side.sorted_set_last_leaf(tree) is leaf
    while leaf is not None:
        assert side.sorted_set_leaf_of(leaf) is borrowed_sorted_set.leaf_of(leaf) is leaf
        assert side.sorted_set_count(leaf) == borrowed_sorted_set.count(leaf)
        for at in range(borrowed_sorted_set.count(leaf)):
            assert side.sorted_set_member_at(leaf, at) == borrowed_sorted_set.member_at(leaf, at)
            bits = borrowed_sorted_set.score_bits_at(leaf, at)
            assert side.sorted_set_score_bits_at(leaf, at) == bits
        before = borrowed_sorted_set.leaf_before(tree, leaf)
        assert side.sorted_set_leaf_before(tree, leaf) is before
        leaf = before


# ---------------------------------------------------------------------- server.lua.libraries

NUMERAL = st.from_regex(rb"\A[-+]?(0x)?[0-9a-f]{0,20}\.?[0-9]{0,3}([ep][-+]?[0-9]{0,3})?[x)]?\Z")
WORDS = st.sampled_from([b"inf", b"-INFINITY", b"infinit", b"nan", b"-NaN(12)x", b"nan(", b"."])


@given(NUMERAL | WORDS, st.integers(0, 1))
def test_numbers_are_read_alike(text: bytes, at: int) -> None:
    plain = [0.0]
    end = number_octets.read_decimal(text, min(at, len(text)), plain)
    found, number = compiled().read_decimal(text, min(at, len(text)))
    assert (found, str(number).lstrip("-")) == (end, str(plain[0]).lstrip("-"))
    assert number == plain[0] or number != number
