"""Readers of the shared group ``g``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # pyspark may be missing
    from pyspark_penstock.shared.group_reader import SharedStreamReader
    from tests.spark.shared.group import MakeReader


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers, by default of the stream ``s`` from its beginning, and stops them."""
    from tests.spark.shared.group import reader_from  # noqa: PLC0415  (needs pyspark)

    made: list[SharedStreamReader] = []

    def make(**options: str) -> SharedStreamReader:
        made.append(reader_from(at, options))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


@pytest.fixture
def reader(reader_of: MakeReader) -> SharedStreamReader:
    return reader_of()
