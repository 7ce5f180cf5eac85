"""Pages: the entries in the reply to one XRANGE, with access by columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import hiredis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pyspark_penstock.errors import ServerError
from pyspark_penstock.read.uniform_page import Numbers, Strings, UniformPage, uniform


class Page(Protocol):
    """Entries of one stream, in order."""

    @property
    def ids(self) -> Strings:
        """The ids, as text."""

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """The size in bytes of the replies that the page was read from."""

    @property
    def last_id(self) -> bytes:
        """The id of the last entry."""

    def column(self, name: bytes) -> Strings | None:
        """The value of a field in each entry: null if it has none, the last if it has several.

        None if no entry has the field.
        """

    def fields(self) -> tuple[NDArray[np.int32], Strings]:
        """Names and values of all entries in one array, and the offset at which each begins."""


class MixedPage:
    """A page of entries with different fields, parsed by hiredis."""

    def __init__(self, entries: Sequence[Sequence[Any]], size: int) -> None:
        self.size = size
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @cached_property
    def ids(self) -> Strings:
        return pa.array([entry[0] for entry in self._entries], pa.binary())

    @property
    def last_id(self) -> bytes:
        last: bytes = self._entries[-1][0]
        return last

    @cached_property
    def _dicts(self) -> list[dict[bytes, bytes]]:
        return [dict(zip(e[1][::2], e[1][1::2], strict=True)) for e in self._entries]

    def column(self, name: bytes) -> Strings | None:
        values = [fields.get(name) for fields in self._dicts]
        return pa.array(values, pa.binary()) if any(v is not None for v in values) else None

    def fields(self) -> tuple[NDArray[np.int32], Strings]:
        sizes = [0, *(len(entry[1]) for entry in self._entries)]
        strings = [string for entry in self._entries for string in entry[1]]
        return np.cumsum(sizes, dtype=np.int32), pa.array(strings, pa.binary())

    def chosen(self, rows: Numbers) -> MixedPage:
        """The page with only the entries at *rows*."""
        return MixedPage([self._entries[row] for row in rows], self.size)


class JoinedPage:
    """Several consecutive pages as one."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = pages

    def __len__(self) -> int:
        return sum(map(len, self._pages))

    @cached_property
    def ids(self) -> Strings:
        return pa.concat_arrays([page.ids for page in self._pages])

    @property
    def size(self) -> int:
        return sum(page.size for page in self._pages)

    @property
    def last_id(self) -> bytes:
        return self._pages[-1].last_id

    def column(self, name: bytes) -> Strings | None:
        found = [(page.column(name), len(page)) for page in self._pages]
        if all(values is None for values, _ in found):
            return None
        return pa.concat_arrays(
            [pa.nulls(size, pa.binary()) if values is None else values for values, size in found]
        )

    def fields(self) -> tuple[NDArray[np.int32], Strings]:
        parts = [page.fields() for page in self._pages]
        sizes = np.concatenate([[0], *(np.diff(starts) for starts, _ in parts)])
        return np.cumsum(sizes, dtype=np.int32), pa.concat_arrays([strings for _, strings in parts])


def as_one(pages: Sequence[Page]) -> Page:
    """Several consecutive pages as one."""
    if len(pages) == 1:
        return pages[0]
    alike = [page for page in pages if isinstance(page, UniformPage) and page.is_like(pages[0])]
    return UniformPage.joined(alike) if len(alike) == len(pages) else JoinedPage(pages)


def parse(answer: bytes) -> UniformPage | MixedPage:
    """Parse the reply to an XRANGE. Raises ServerError if it is not a list of entries."""
    return uniform(answer) or mixed(answer)


def mixed(answer: bytes) -> MixedPage:
    """The page, parsed value by value."""
    reader = hiredis.Reader(protocolError=ServerError)
    reader.feed(answer)
    entries = reader.gets()
    if not isinstance(entries, list) or reader.has_data():
        raise ServerError(f"XRANGE was answered by {answer[:100]!r}")
    return MixedPage(entries, len(answer))
