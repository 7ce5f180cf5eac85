"""Fields read with binary names and written again make exactly the same entry."""

from __future__ import annotations

import hiredis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as t

from pyspark_penstock.errors import OptionError
from pyspark_penstock.read.columns import PERMISSIVE, BatchBuilder
from pyspark_penstock.read.page import parse
from pyspark_penstock.schema import columns_of, exact_fields_type, raw_schema
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from tests.spark.answers import IDS, VALUES, Entry, answer

ODD = st.sampled_from([b"a", b"", b"\xff", b"\xfe", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"a\r\n"])
FIELDS = st.lists(st.tuples(ODD | st.binary(max_size=4), VALUES), min_size=1, max_size=5)


@st.composite
def odd_entries(draw: st.DrawFn) -> list[Entry]:
    """Entries with field names that repeat, are empty, or are not UTF-8.

    In half of the examples all entries have the same names.
    """
    ids = [b"%d-%d" % pair for pair in draw(IDS)]
    if draw(st.booleans()):
        fields = draw(FIELDS)
        return [(i, [(name, draw(VALUES)) for name, _ in fields]) for i in ids]
    return [(i, draw(FIELDS)) for i in ids]


@settings(deadline=None)
@given(odd_entries())
def test_entries_are_unchanged_after_a_data_frame(entries: list[Entry]) -> None:
    schema = raw_schema(exact_fields_type())
    batch = BatchBuilder("in", columns_of(schema), PERMISSIVE).batch(parse(answer(entries)))
    encoder = RowEncoder(schema, sink_options({"stream": "out"}))
    reader, found = hiredis.Reader(), []
    for _, _, commands in encoder.encode(batch):
        reader.feed(bytes(commands.data))
    while reader.has_data():
        found.append(reader.gets())
    assert found == [
        [b"XADD", b"out", entry, *(part for field in fields for part in field)]
        for entry, fields in entries
    ]


def test_a_map_with_binary_names_is_refused() -> None:
    """A map holds each name once, so it could not be exact anyway."""
    with pytest.raises(OptionError, match="or with string values or binary names"):
        columns_of(t.StructType().add("_fields", t.MapType(t.BinaryType(), t.BinaryType())))
