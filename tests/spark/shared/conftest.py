"""Readers of the group g, made from options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql.types import StructType

from pyspark_penstock.shared_reader import SharedStreamReader
from pyspark_penstock.source_options import stream_options
from tests.spark.shared.group import GROUP, MakeReader

SCHEMA = StructType().add("i", "long")


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers of the stream s from its beginning, or of what else options say; stops them."""
    made = []

    def make(**options: str) -> SharedStreamReader:
        given = {} if "subscribePattern" in options else {"subscribe": "s"}
        given |= {} if "startingTimestamp" in options else {"startingOffsets": "earliest"}
        given |= at | {"minPartitions": "1", "group": GROUP, "groupMode": "shared"}
        read = stream_options(given | options)
        assert read.sharing
        made.append(SharedStreamReader(read, read.sharing, SCHEMA))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


@pytest.fixture
def reader(reader_of: MakeReader) -> SharedStreamReader:
    return reader_of()
