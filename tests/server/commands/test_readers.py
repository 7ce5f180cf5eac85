"""The readers that the fuzzer calls: each copes with every value, whatever its numbers are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz.readers import Reading
from storage import payload
from storage.rdb.crc64 import crc64
from storage.rdb.writer import RdbWriter
from storage.stream.stream import Stream
from storage.stream.stream_id import U64_MAX, StreamId

I64_MIN, I64_MAX = -(2**63), 2**63 - 1
I64 = st.sampled_from([I64_MIN, I64_MIN + 1, -2, -1, 0, 1, I64_MAX - 1, I64_MAX])
U64 = st.sampled_from([0, 1, 2**32, I64_MAX, 2**63, U64_MAX - 1, U64_MAX])
IDS = st.builds(StreamId, U64, U64)

reading = Reading()


@st.composite
def groups(draw: st.DrawFn, entry_id: StreamId) -> bytes:
    """One group with one pending entry, in the form that ends a stream of RDB type 21."""
    writer = RdbWriter()
    writer.length(1)
    writer.string(b"g")
    for number in (draw(U64), draw(U64), draw(U64)):  # its last id (ms, seq), and the entries read
        writer.length(number)
    writer.length(1)
    writer.id(entry_id.ms, entry_id.seq)
    writer.i64(draw(I64))  # delivered
    writer.length(draw(U64))
    writer.length(1)
    writer.string(b"alice")
    writer.i64(draw(I64))  # seen
    writer.i64(draw(I64))  # active
    writer.length(1)
    writer.id(entry_id.ms, entry_id.seq)
    return writer.take()


@st.composite
def payloads(draw: st.DrawFn) -> bytes:
    """A DUMP payload of a stream with one entry and one group, with any numbers."""
    entry_id = draw(IDS.filter(lambda drawn: drawn > StreamId(0, 0)))
    stream = Stream()
    stream.append(entry_id, [b"f", b"v"])
    stream.max_deleted_id = draw(IDS)
    stream.entries_added = draw(st.sampled_from([1, 2, I64_MAX]))
    without_groups = payload.dump(stream)[1 : -payload.FOOTER - 1]
    body = bytes([21]) + without_groups + draw(groups(entry_id)) + (11).to_bytes(2, "little")
    return body + crc64(body).to_bytes(8, "little")


@given(payloads(), I64, I64)
@settings(max_examples=100, deadline=None)
def test_no_reader_fails_on_any_number(data: bytes, expiry_ms: int, idle_s: int) -> None:
    reading.read(payload.restore(data), expiry_ms, idle_s)
