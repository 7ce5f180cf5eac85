# cython: language_level=3
"""Python functions around the inline C functions that take or return pointers.

A pointer becomes what a test can hold: a block of branches an object of the class Branches, a
borrowed reference an ordinary one, bytes at an address a copy of them, NULL None.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from protocol cimport word_memory
from server.parts.scripting.lua.libraries cimport number_octets
from storage cimport allocation, borrowed_listpack
from storage.chance cimport Chance
from storage.hash_table cimport borrowed_packed, fetching
from storage.hashes cimport borrowed_hash
from storage.sorted_sets cimport borrowed_sorted_set
from storage.hash_table.packed_directory cimport PackedDirectory
from storage.keyspace.key_table cimport KeyTable
from storage.lists cimport borrowed_list
from storage.rax cimport branches
from storage.rdb cimport borrowed, raw
from storage.sets cimport borrowed_set
from storage.snapshot cimport borrowed_table
from storage.stream cimport kept_blocks, lane_chains, links
from storage.strings cimport bit_octets


cdef object held(PyObject *reference):
    return None if reference == NULL else <object>reference


# ---------------------------------------------------------------------- storage.rax.branches


def used_bytes():
    return allocation.used


cdef class Branches:
    """A block of branches, which may move when it changes."""

    cdef branches.Branches *block

    def __cinit__(self):
        self.block = branches.none()

    def count(self):
        return branches.count(self.block)

    def place(self, unsigned char byte):
        return branches.place(self.block, byte)

    def find(self, unsigned char byte):
        return branches.find(self.block, byte)

    def edge(self, Py_ssize_t index):
        return branches.edge(self.block, index)

    def child(self, Py_ssize_t index):
        return branches.child(self.block, index)

    def put(self, Py_ssize_t index, object new):
        branches.put(self.block, index, new)

    def insert(self, Py_ssize_t index, unsigned char byte, object new):
        self.block = branches.insert(self.block, index, byte, new)

    def remove(self, Py_ssize_t index):
        self.block = branches.remove(self.block, index)

    def free(self):
        branches.free(self.block)
        self.block = branches.none()

    def bare(self):
        return branches.bare(self.block)

    def count_bare(self, int change):
        branches.count_bare(self.block, change)

    def weight(self):
        return branches.weight(self.block)


cdef class Reference:
    """An owned reference."""

    cdef PyObject *reference

    def __cinit__(self, value):
        self.reference = branches.hold(value)

    def held(self):
        return branches.held(self.reference)

    def let_go(self):
        branches.let_go(self.reference)
        self.reference = NULL


# ---------------------------------------------------------------------- storage.stream.links


def follow_link_to(target):
    return links.follow(links.link_to(target))


def hold(target):
    links.hold(target)


def let_go(target):
    links.let_go(target)


# ---------------------------------------------------------------------- storage.stream.kept_blocks


cdef class Part:
    cdef public uint64_t first


@cython.final
cdef class Whole(Part):
    cdef public uint64_t second


def keep_for(made):
    kept_blocks.keep_for(made)


# ---------------------------------------------------------------------- storage.stream.lane_chains


cdef class LaneChains:
    """A block of empty chains, which may move when it gets others."""

    cdef lane_chains.Chains block
    cdef Py_ssize_t size

    def __cinit__(self, Py_ssize_t size):
        self.block = lane_chains.none()
        self.resize(size)

    def resize(self, Py_ssize_t size):
        self.block = lane_chains.resized(self.block, size)
        while self.size < size:
            lane_chains.begin(self.block, self.size)
            self.size += 1
        self.size = size

    def free(self):
        lane_chains.free(self.block)
        self.block = lane_chains.none()

    def number_of(self, object item):
        return lane_chains.number_of(<PyObject *>item)

    def has(self, Py_ssize_t chain, uint64_t number):
        return lane_chains.has(self.block, chain, number)

    def find(self, Py_ssize_t chain, uint64_t number):
        return lane_chains.find(self.block, chain, number)

    def put(self, Py_ssize_t chain, object item):
        lane_chains.put(self.block, chain, item)

    def take(self, Py_ssize_t chain, object item):
        return lane_chains.take(self.block, chain, item)

    def first(self, Py_ssize_t chain):
        return lane_chains.first(self.block, chain)

    def list_all(self, Py_ssize_t chain, list found):
        lane_chains.list_all(self.block, chain, found)

    def move(self, Py_ssize_t chain, Py_ssize_t other, uint64_t bit):
        lane_chains.move(self.block, chain, other, bit)


# ---------------------------------------------------------------------- storage.rdb.raw


def of_bytes(bytes data):
    return raw.cut(raw.of_bytes(data), 0, len(data))


def octets_of(text):
    return raw.cut(bit_octets.octets_of(text), 0, len(text))


def part(bytes data, Py_ssize_t at, Py_ssize_t size):
    return raw.cut(raw.part(raw.of_bytes(data), at, size), 0, size)


def of_bytearray(bytearray data):
    return raw.cut(raw.of_bytearray(data), 0, len(data))


def of_view(object data):
    return raw.cut(raw.of_view(data), 0, data.nbytes)


def into(bytearray data, Py_ssize_t at, uint8_t byte):
    raw.into(data)[at] = byte


def table32(object entries, Py_ssize_t at, uint32_t number):
    raw.table32(entries)[at] = number


def table64(object entries, Py_ssize_t at):
    return raw.table64(entries)[at]


# ---------------------------------------------------------------------- storage.rdb.borrowed


def nothing():
    return held(borrowed.nothing())


def is_nothing(object value):
    return borrowed.is_nothing(borrowed.nothing() if value is None else <PyObject *>value)


def held_again(object value):
    return borrowed.held(<PyObject *>value)


def class_of(object value):
    return held(borrowed.class_of(<PyObject *>value))


def is_bytes(object value):
    return borrowed.is_bytes(<PyObject *>value)


def is_int(object value):
    return borrowed.is_int(<PyObject *>value)


def octets(bytes text):
    return raw.cut(borrowed.octets(<PyObject *>text), 0, borrowed.size(<PyObject *>text))


def size(bytes text):
    return borrowed.size(<PyObject *>text)


def number(object value):
    return borrowed.number(<PyObject *>value)


# ---------- storage.borrowed_listpack, .lists.borrowed_list, .snapshot.borrowed_table


def only_listpack(object value):
    return held(borrowed_list.only_listpack(<PyObject *>value))


def listpack_octets(object pack):
    return raw.cut(
        borrowed_listpack.octets(<PyObject *>pack), 0, borrowed_listpack.size(<PyObject *>pack)
    )


def listpack_size(object pack):
    return borrowed_listpack.size(<PyObject *>pack)


def prefetch(object segment):
    borrowed_table.prefetch(<PyObject *>segment)


def object_at(object segment, Py_ssize_t at):
    return held(borrowed_table.object_at(<PyObject *>segment, at))


def kept(object value):
    return held(borrowed.of(value))


def kind_at(object segment, Py_ssize_t at):
    return borrowed_table.kind_at(<PyObject *>segment, at)


def number_at(object segment, Py_ssize_t at):
    return borrowed_table.number_at(<PyObject *>segment, at)


def text_at(object segment, Py_ssize_t at):
    cdef borrowed_packed.Text text = borrowed_table.text_at(<PyObject *>segment, at)
    return raw.cut(text.octets, 0, text.size), text.size


def last_use_at(object segment, Py_ssize_t at):
    return borrowed_table.last_use_at(<PyObject *>segment, at)


# ---------------------------------------------------------------------- storage.hash_table.borrowed_packed


def directory_of(PackedDirectory table):
    """What the plain functions read of a table; the C functions read the table itself."""
    return table._directory


def table_size(PackedDirectory table):
    return borrowed_packed.size(<PyObject *>table)


def slots(PackedDirectory table):
    return borrowed_packed.slots(<PyObject *>table)


def segment_at(PackedDirectory table, Py_ssize_t slot):
    return held(borrowed_packed.segment_at(<PyObject *>table, slot))


def count(object segment):
    return borrowed_packed.count(<PyObject *>segment)


def key_at(object segment, Py_ssize_t at):
    cdef borrowed_packed.Text text = borrowed_packed.key_at(<PyObject *>segment, at)
    return raw.cut(text.octets, 0, text.size), text.size


def value_at(object segment, Py_ssize_t at):
    cdef borrowed_packed.Text text = borrowed_packed.value_at(<PyObject *>segment, at)
    return raw.cut(text.octets, 0, text.size), text.size


def behind_key(object segment, Py_ssize_t at):
    """The first byte of what is after the key."""
    return raw.cut(borrowed_packed.behind_key(<PyObject *>segment, at), 0, 1)


def fetch(PackedDirectory table, int shift, list keys):
    """Fetches nothing that could be seen; it must read nothing but the table."""
    fetching.fetch(table._directory, shift, keys)


def draw_places(PackedDirectory table, int shift, Py_ssize_t most, Chance chance, Py_ssize_t items):
    return fetching.draw_places(table._directory, shift, most, chance, items)


def text_behind_key(object segment, Py_ssize_t at, Py_ssize_t distance):
    cdef borrowed_packed.Text text
    text = borrowed_packed.text_behind_key(<PyObject *>segment, at, distance)
    return raw.cut(text.octets, 0, text.size), text.size


# ---------------------------------------------------------------------- protocol.word_memory


def new():
    return word_memory.new()


def resize(list memory, Py_ssize_t size):
    word_memory.resize(memory, size)


def view(list memory, Py_ssize_t start, Py_ssize_t end):
    return word_memory.view(memory, start, end)


def put(list memory, Py_ssize_t at, bytes data, Py_ssize_t start, Py_ssize_t size):
    return word_memory.put(memory, at, data, start, size)


def finish(list memory, Py_ssize_t size):
    return word_memory.finish(memory, size)


# ---------------------------------------------------------------------- borrowed_hash, borrowed_set


def hash_pack_of(object value):
    return held(borrowed_hash.pack_of(<PyObject *>value))


def hash_table_of(object value):
    return held(borrowed_hash.table_of(<PyObject *>value))


def set_members(object value):
    return held(borrowed_set.members(<PyObject *>value))


def set_of(object value):
    return held(borrowed_set.of(value))


def set_is_listpack(object found):
    return borrowed_set.is_listpack(<PyObject *>found)


def set_length(object pack):
    return borrowed_set.length(<PyObject *>pack)


def set_member_at(object pack, Py_ssize_t at):
    cdef borrowed_set.Member member = borrowed_set.member_at(<PyObject *>pack, at)
    if member.size == borrowed_set.NUMBER:
        return None, member.number, member.next
    return raw.cut(member.octets, 0, member.size), 0, member.next


# ---------------------------------------------------------------------- borrowed_sorted_set


def sorted_set_pack_of(object value):
    return held(borrowed_sorted_set.pack_of(<PyObject *>value))


def sorted_set_tree_of(object value):
    return held(borrowed_sorted_set.tree_of(<PyObject *>value))


def sorted_set_size(object tree):
    return borrowed_sorted_set.size(<PyObject *>tree)


def sorted_set_last_leaf(object tree):
    return held(borrowed_sorted_set.last_leaf(<PyObject *>tree))


def sorted_set_leaf_before(object tree, object leaf):
    return held(borrowed_sorted_set.leaf_before(<PyObject *>tree, <PyObject *>leaf))


def sorted_set_leaf_of(object leaf):
    return held(borrowed_sorted_set.leaf_of(leaf))


def sorted_set_count(object leaf):
    return borrowed_sorted_set.count(<PyObject *>leaf)


def sorted_set_member_at(object leaf, Py_ssize_t at):
    cdef borrowed_sorted_set.Text text = borrowed_sorted_set.member_at(<PyObject *>leaf, at)
    return raw.cut(text.octets, 0, text.size), text.size


def sorted_set_score_bits_at(object leaf, Py_ssize_t at):
    return borrowed_sorted_set.score_bits_at(<PyObject *>leaf, at)


# ---------------------------------------------------------------------- server.parts.scripting.lua.libraries


def read_decimal(bytes text, Py_ssize_t at):
    cdef double number = 0
    end = number_octets.read_decimal(text, at, &number)
    return end, number
