"""Entries written as RESP directly from listpacks: the bytes are those of the plain encoder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.streams import stream_reply
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, U64_MAX, ZERO, StreamId

TEXTS = st.one_of(
    st.sampled_from([b"", b"0", b"-1", b"127", b"4095", b"-4097", b"70000", b"9" * 18]),
    st.sampled_from([b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808"]),
    st.sampled_from([b"x" * 63, b"x" * 64, b"x" * 99, b"x" * 100, b"x" * 4095, b"x" * 4096]),
    st.binary(max_size=20),
)
FIELDS = st.lists(st.tuples(st.sampled_from([b"a", b"bb", b"17", b"n" * 70]), TEXTS), min_size=1)
STREAMS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 2**40), FIELDS), max_size=12)


def stream_of(entries: list[tuple[StreamId, list[bytes]]], node_max_entries: int) -> Stream:
    stream = Stream()
    for entry_id, fields in entries:
        stream.append(entry_id, fields, 0, StreamConfig(0, node_max_entries))
    return stream


def plain_encoding(entries: list[tuple[StreamId, list[bytes]]]) -> bytes:
    out = Encoder(2)
    out.write([[entry_id.encode(), list[Reply](fields)] for entry_id, fields in entries])
    return out.take()


@given(STREAMS, st.integers(1, 5), st.integers(0, 13), st.booleans())
def test_a_range_is_written_as_the_plain_encoder_would(
    steps: list[tuple[int, int, list[tuple[bytes, bytes]]]],
    node_max_entries: int,
    count: int,
    reverse: bool,
) -> None:
    entries = []
    ms = seq = 0
    for ms_step, seq_step, pairs in steps:
        ms += ms_step
        seq += seq_step
        entries.append((StreamId(ms, seq), [part for pair in pairs for part in pair]))
    stream = stream_of(entries, node_max_entries)
    wanted = entries[::-1] if reverse else entries
    wanted = wanted[:count] if count else wanted
    out = Encoder(2)
    assert stream_reply.write_range(out, stream, ZERO, MAX, count, reverse) == len(wanted)
    assert out.take() == plain_encoding(wanted)


def test_the_longest_ids_are_written() -> None:
    entries = [(StreamId(U64_MAX, seq), [b"f", b"v"]) for seq in (0, 9, 10, U64_MAX)]
    out = Encoder(2)
    stream_reply.write_range(out, stream_of(entries, 100), ZERO, MAX)
    assert out.take() == plain_encoding(entries)


def test_part_of_a_large_node_is_written() -> None:
    entries = [(StreamId(ms, 0), [b"f", b"v" * 60_000]) for ms in range(1, 6)]
    stream = stream_of(entries, 100)
    assert len(stream.rax) == 1
    out = Encoder(2)
    stream_reply.write_range(out, stream, ZERO, StreamId(2, 0))
    assert out.take() == plain_encoding(entries[:2])


def test_what_the_encoder_held_before_stays() -> None:
    out = Encoder(2)
    out.bulk(b"before")
    stream_reply.write_range(out, stream_of([(StreamId(1, 1), [b"f", b"v"])], 1), ZERO, MAX)
    out.bulk(b"behind")
    assert out.take() == (
        b"$6\r\nbefore\r\n" + plain_encoding([(StreamId(1, 1), [b"f", b"v"])]) + b"$6\r\nbehind\r\n"
    )


@pytest.mark.parametrize("there", [True, False])
def test_write_entry_writes_an_entry_if_it_exists(there: bool) -> None:
    stream = stream_of([(StreamId(1, 1), [b"f", b"v"])], 1)
    out = Encoder(2)
    assert stream_reply.write_entry(out, stream.finder(), StreamId(1, 1 if there else 2)) is there
    assert out.take() == (b"*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n" if there else b"")
