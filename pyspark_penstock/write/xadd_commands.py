"""XADD commands of a partition, one for each row, with the ids that the rows ask for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import SinkError

WHOLE_ID = r"^[0-9]{1,20}-[0-9]{1,20}$"


class Commands:
    """Encoded commands in one buffer.

    *ids* is None, or null for a row, if the server makes the id.
    """

    def __init__(self, stream: str, array: Any, ids: Any = None) -> None:
        self._stream = stream
        self._array = array
        self._ids = ids

    @property
    def rows(self) -> int:
        """How many commands there are."""
        return len(self._array)

    def slice(self, start: int, count: int | None = None) -> Commands:
        """*count* of the commands, or all, from *start* on. Nothing is copied."""
        ids = None if self._ids is None else self._ids.slice(start, count)
        return Commands(self._stream, self._array.slice(start, count), ids)

    def within(self, rows: int, size: int) -> Commands:
        """The first commands: at most *rows*, of at most *size* bytes, but at least one."""
        ends = self._ends
        fitting = int(np.searchsorted(ends[1:], int(ends[0]) + size, "right"))
        return self.slice(0, min(rows, max(fitting, 1)))

    @property
    def _ends(self) -> Any:
        """The offsets in the buffer at which commands begin, and at which the last one ends."""
        first = self._array.offset
        return np.frombuffer(self._array.buffers()[1], np.int32)[first : first + self.rows + 1]

    @property
    def data(self) -> memoryview:
        """The bytes to send."""
        if not self.rows:
            return EMPTY
        return memoryview(self._array.buffers()[2])[self._ends[0] : self._ends[-1]]

    @property
    def first_id(self) -> EntryId | None:
        """The first id that a row asks for. Raises SinkError if the ids do not ascend."""
        return self._bounds[0]

    @property
    def last_id(self) -> EntryId | None:
        """The last id that a row asks for. Raises SinkError if the ids do not ascend."""
        return self._bounds[1]

    @cached_property
    def _bounds(self) -> tuple[EntryId | None, EntryId | None]:
        given = None if self._ids is None else self._ids.drop_null()
        if given is None or not len(given):
            return None, None
        if len(given) < self.rows:
            raise self._refusal("either all rows have an id or none: given ids would fall behind")
        try:
            if not pc.all(pc.match_substring_regex(given, WHOLE_ID)).as_py():
                raise ValueError
            first, last = (EntryId.parse(given[at].as_py()) for at in (0, len(given) - 1))
            parts = pc.split_pattern(given.cast(pa.string()), "-").values.cast(pa.uint64())
            ms, seq = parts.to_numpy().reshape(len(given), 2).T
        except ValueError:  # pyarrow.ArrowInvalid is one
            bad = next(text for text in given.to_pylist() if not is_whole_id(text))
            raise self._refusal(
                f"{bad!r} is no id; an id column must hold ids like 1763000062499-3, or null"
            ) from None
        ascend = (ms[1:] > ms[:-1]) | ((ms[1:] == ms[:-1]) & (seq[1:] > seq[:-1]))
        if not ascend.all():
            at = int(np.argmin(ascend))
            raise self._refusal(
                f"ids must ascend: {given[at + 1]} comes after {given[at]}; "
                "rows with ids must come in order, a stream in one partition: coalesce(1)"
            )
        return first, last

    def _refusal(self, problem: str) -> SinkError:
        return SinkError(f"stream {self._stream!r}: {problem}")


def is_whole_id(text: str) -> bool:
    """Whether *text* is an id with both parts."""
    try:
        EntryId.parse(text)
    except ValueError:
        return False
    return "-" in text


EMPTY = memoryview(b"")
