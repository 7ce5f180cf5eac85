"""Stream nodes: the same bytes as in a DUMP of redis-server 7.0."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.listpack.listpack import Listpack
from storage.stream import stream_node
from storage.stream.rdb_nodes import NodeCheck
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import U64_MAX, StreamId

# The nodes (listpacks) in Redis's DUMP after the commands that the tests repeat.
MIXED = [
    "4b0000001900020101010201846e616d6505836167650400010201000100018161021e01050103010101dffd02"
    "816202dfe102050100010101dffe020101856f74686572068163020601ff",
    "7b0000000f00010101010101846e616d65050001020100010001e046" + "64" * 70 + "4804010301f2860d01"
    "040101f4ffffffffffffff7f090401ff",
]
FAR_APART = "2a0000000f00020100010101816602000102010001000181760204010201dffd02dffe028176020401ff"


def nodes_of(stream: Stream) -> list[str]:
    return [node.dump().hex() for _, node in stream.rax]


def test_nodes_have_the_same_bytes_as_redis_s() -> None:
    stream = Stream()
    config = StreamConfig(node_max_entries=3)
    stream.append(StreamId(1000, 5), [b"name", b"a", b"age", b"30"], 0, config)
    stream.append(StreamId(1001, 2), [b"name", b"b", b"age", b"-31"], 0, config)
    stream.append(StreamId(1001, 3), [b"other", b"c"], 0, config)
    stream.append(StreamId(1002, 0), [b"name", b"d" * 70], 0, config)
    stream.append(StreamId(70000, 1), [b"name", b"9223372036854775807"], 0, config)
    assert stream.delete(StreamId(1001, 2))
    assert stream.delete(StreamId(70000, 1))
    assert nodes_of(stream) == MIXED
    assert [key.hex() for key, _ in stream.rax] == [
        "00000000000003e80000000000000005",
        "00000000000003ea0000000000000000",
    ]


WORDS = (
    st.binary(max_size=8)
    | st.integers(-(2**63), 2**63 - 1).map(lambda number: b"%d" % number)
    | st.sampled_from([62, 63, 64, 124, 125, 126, 4095, 4096, 16378, 16379, 16383]).map(bytes)
)
I64 = st.integers(-(2**63), 2**63 - 1)


@given(I64, I64, st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=9), st.booleans())
def test_an_entry_takes_at_most_most_bytes(
    ms_delta: int, seq_delta: int, pairs: list[tuple[bytes, bytes]], same: bool
) -> None:
    fields = [word for pair in pairs for word in pair]
    node = stream_node.new_node(fields if same else [b"none", b""], 0)
    before = node.size
    stream_node.append_entry(node, ms_delta, seq_delta, fields, 0)
    node.check()
    assert node.size - before <= stream_node.most_bytes(ms_delta, seq_delta, fields, 0)


def test_many_short_numbers_take_at_most_most_bytes() -> None:
    fields = [b"7"] * 100_000
    node = stream_node.new_node([b"none", b""], 0)
    before = node.size
    stream_node.append_entry(node, 0, 0, fields, 0)
    node.check()
    assert node.size - before <= stream_node.most_bytes(0, 0, fields, 0)


def test_deltas_wrap_at_64_bits() -> None:
    stream = Stream()
    stream.append(StreamId(1, 1), [b"f", b"v"])
    stream.append(StreamId(U64_MAX - 1, U64_MAX), [b"f", b"v"])
    assert nodes_of(stream) == [FAR_APART]
    assert stream.last_entry_id() == StreamId(U64_MAX - 1, U64_MAX)


class TestCompacted:
    CONFIG = StreamConfig(0, 0)

    def node_of(self, *entries: list[bytes]) -> tuple[bytes, Listpack]:
        stream = Stream()
        for ms, fields in enumerate(entries, 5):
            stream.append(StreamId(ms, 0), fields, 0, self.CONFIG)
        found = stream.rax.first()
        assert found is not None
        return found

    def test_a_node_has_its_living_entries_only(self) -> None:
        key, node = self.node_of(
            [b"a", b"1", b"b", b"2"], [b"a", b"3", b"b", b"4"], [b"own", b"x" * 300], [b"a", b"5"],
            [b"a", b"6", b"b", b""],
        )  # fmt: skip
        at = stream_node.first_entry(node)
        for index in range(4):
            if index in (0, 3):
                stream_node.mark_deleted(node, at)
            at = stream_node.entry_after(node, at)
        stream_node.count_deleted(node, 2)
        made = stream_node.compacted(node)
        made.check()
        assert (stream_node.alive(made), stream_node.entries(made)) == (3, 3)
        assert made.length() == sum(1 for _ in made)
        check = NodeCheck(bytearray(made.dump()), key)
        check.run()
        assert check.alive == 3
        at = stream_node.first_entry(made)
        found = []
        while at != made.size - 1:
            found.append(stream_node.id_at(made, key, at).ms)
            at = stream_node.entry_after(made, at)
        assert found == [6, 7, 9]

    def test_many_elements_are_counted_as_many(self) -> None:
        fields = [b"%d" % number for number in range(30_000)]
        key, node = self.node_of(fields, fields, [b"a", b"b"])
        stream_node.mark_deleted(node, stream_node.first_entry(node))
        stream_node.count_deleted(node, 1)
        made = stream_node.compacted(node)
        made.check()
        NodeCheck(bytearray(made.dump()), key).run()

    @pytest.mark.parametrize(
        ("entries", "deleted", "is_sparse"),
        [
            (10, 9, False),
            (11, 5, False),
            (11, 6, True),
            (12, 6, False),
            (12, 7, True),
            (11, 11, True),
        ],
    )
    def test_more_than_a_few_are_sparse_if_most_are_deleted(
        self, entries: int, deleted: int, is_sparse: bool
    ) -> None:
        _, node = self.node_of(*[[b"a", b"b"]] * entries)
        stream_node.count_deleted(node, deleted)
        assert stream_node.is_sparse(node) == is_sparse

    def test_the_first_living_entry_is_found(self) -> None:
        _, node = self.node_of(*[[b"a", b"b"]] * 3)
        first = stream_node.first_entry(node)
        assert stream_node.alive_from(node, first) == first
        stream_node.mark_deleted(node, first)
        second = stream_node.entry_after(node, first)
        assert stream_node.alive_from(node, first) == second
        for at in (second, stream_node.entry_after(node, second)):
            stream_node.mark_deleted(node, at)
        assert stream_node.alive_from(node, first) == node.size - 1
