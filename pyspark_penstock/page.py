"""Pages: the answer to one XRANGE, and what it holds, by columns.

    *2\\r\\n                    entries
      *2\\r\\n                  an entry
        $15\\r\\n1763000062499-3\\r\\n
        *4\\r\\n                fields and values
          $6\\r\\ndevice\\r\\n $2\\r\\nd7\\r\\n $4\\r\\ntemp\\r\\n $4\\r\\n21.5\\r\\n
      ...

Most streams have entries of one shape. Such a page is read without a step for each value:

1. Every line is found at once. If their number is what as many entries of the first one's shape
   must have, the lines form a table: a row an entry.
2. The first row is read line by line.
3. The lines that are no ids and no values, and no headers of these, are compared with those of the
   first row: the same fields in the same order.
4. The headers of ids and values are compared with those that the lines after them ask for.

By induction from the first line this proves that the table is how RESP would be read: a line break
inside of a value makes some header wrong.

A page that fails a step, because shapes differ or values have line breaks or are long, is read by
hiredis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import hiredis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pyspark_penstock.errors import ServerError

LINE = b"\r\n"
LONGEST = 999  # of the values that are read by columns: their headers fit in a word of 4 bytes
LARGEST = (1 << 31) - 1  # Arrow counts bytes in 32 bits
WORD, LONG_WORD = np.dtype("<u4"), np.dtype("<u8")
ROW_LINES = 4  # *2, $id, id, *fields; then two lines a string
TWO = np.frombuffer(b"*2\r\n", WORD)[0]
HEADERS = np.frombuffer(b"".join((b"$%d\r\n" % n)[:4] for n in range(LONGEST + 1)), WORD)

Strings = Any  # a pyarrow.BinaryArray; pyarrow has no types
Numbers = NDArray[np.int64]


class Page(Protocol):
    """Entries of one stream, in order."""

    @property
    def ids(self) -> Strings:
        """The ids, as text."""

    def __len__(self) -> int: ...

    def column(self, name: bytes) -> Strings | None:
        """The value of a field in each entry, null where it lacks; the last, where it is twice.

        None where no entry has it.
        """

    def fields(self) -> tuple[NDArray[np.int32], Strings]:
        """Where each entry's strings begin, one more at the end; and the strings, in order."""


class UniformPage:
    """A page of entries that have the same fields in the same order."""

    def __init__(self, pieces: Strings, rows: int, row_lines: int, names: list[bytes]) -> None:
        self._pieces = pieces
        self._firsts = np.arange(rows, dtype=np.int64) * (2 * row_lines)  # pieces
        self._names = {name: at for at, name in enumerate(names)}
        self._strings = 2 * len(names)

    def __len__(self) -> int:
        return len(self._firsts)

    @cached_property
    def ids(self) -> Strings:
        return self._take(self._firsts + 2 * 2)

    def column(self, name: bytes) -> Strings | None:
        at = self._names.get(name)
        return None if at is None else self._take(self._firsts + 2 * (ROW_LINES + 3 + 4 * at))

    def fields(self) -> tuple[NDArray[np.int32], Strings]:
        inside = 2 * (np.arange(self._strings, dtype=np.int64) * 2 + (ROW_LINES + 1))
        starts = np.arange(len(self) + 1, dtype=np.int32) * self._strings
        return starts, self._take((self._firsts[:, None] + inside).ravel())

    def _take(self, places: Numbers) -> Strings:
        return self._pieces.take(pa.array(places))


class MixedPage:
    """A page of any entries, as hiredis reads them."""

    def __init__(self, entries: Sequence[Sequence[Any]]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @cached_property
    def ids(self) -> Strings:
        return pa.array([entry[0] for entry in self._entries], pa.binary())

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


def parse(answer: bytes) -> Page:
    """The page that an XRANGE was answered with. Raises ServerError if it is something else."""
    return uniform(answer) or mixed(answer)


def mixed(answer: bytes) -> MixedPage:
    """The page, read value by value."""
    reader = hiredis.Reader(protocolError=ServerError)
    reader.feed(answer)
    entries = reader.gets()
    if not isinstance(entries, list) or reader.has_data():
        raise ServerError(f"XRANGE was answered by {answer[:100]!r}")
    return MixedPage(entries)


def uniform(answer: bytes) -> UniformPage | None:
    """The page, read by columns; None if that cannot be done."""
    data = np.frombuffer(answer, np.uint8)
    breaks = np.flatnonzero(data == ord("\n"))
    shape = shape_of(answer, breaks)
    if shape is None:
        return None
    rows, strings = shape
    starts = (breaks[:-1] + 1).reshape(rows, ROW_LINES + 2 * strings)
    ends = breaks[1:].reshape(starts.shape) - 1
    if starts[-1, -2] + WORD.itemsize > len(answer):
        return None  # the last header is shorter than any
    if not (
        values_agree(answer, data, starts, ends)
        and (words_at(answer, WORD)[starts[:, 0]] == TWO).all()
        and rows_agree(answer, starts)
    ):
        return None
    first = answer[: breaks[starts.shape[1]] + 1].split(LINE)
    row = first[1:-1]
    if len(row) != starts.shape[1] or not is_entry(row):
        return None
    return UniformPage(pieces(answer, starts, ends), rows, len(row), row[ROW_LINES + 1 :: 4])


def shape_of(answer: bytes, breaks: Numbers) -> tuple[int, int] | None:
    """Step 1: entries and strings an entry, if the lines are as many as these must have."""
    if len(breaks) < 1 + ROW_LINES or len(answer) > LARGEST:
        return None
    rows = count_in(answer[: breaks[0] - 1])
    strings = count_in(answer[breaks[3] + 1 : breaks[4] - 1])
    if strings < 2 or strings % 2:
        return None
    return (rows, strings) if len(breaks) == 1 + rows * (ROW_LINES + 2 * strings) else None


def count_in(header: bytes) -> int:
    """The count in an array's header, or -1."""
    digits = header[1:]
    return int(digits) if header[:1] == b"*" and digits.isdigit() and len(digits) < 9 else -1


def is_entry(row: list[bytes]) -> bool:
    """Step 2: whether each header of the entry is the one that what follows asks for."""
    strings = row[2:3] + row[ROW_LINES + 1 :: 2]
    return (
        row[0] == b"*2"
        and row[3] == b"*%d" % (len(strings) - 1)
        and row[1:2] + row[ROW_LINES::2] == [b"$%d" % len(string) for string in strings]
    )


def rows_agree(answer: bytes, starts: Numbers) -> bool:
    """Step 3: whether all but ids, values and their headers are in all rows as in the first.

    They are compared by words of 8 bytes, of which the last of a span overlaps the one before.
    """
    lines, offsets = [], []
    for first, last in constant_spans(starts.shape[1]):
        spans = starts[:, last] - starts[:, first]
        size = int(spans[0]) + len(b"$")  # of the header that follows
        if size < LONG_WORD.itemsize or (spans != spans[0]).any():
            return False
        steps = [*range(0, size - LONG_WORD.itemsize, LONG_WORD.itemsize)]
        offsets += [*steps, size - LONG_WORD.itemsize]
        lines += [first] * (len(steps) + 1)
    found = words_at(answer, LONG_WORD)[starts[:, lines] + np.array(offsets)]
    return bool((found == found[0]).all())


def constant_spans(row_lines: int) -> Iterator[tuple[int, int]]:
    """The lines that are the same in all entries, from a first to one that is not any more."""
    first = ROW_LINES - 1
    for header in range(ROW_LINES, row_lines, 4):
        yield first, header + 2
        first = header + 4


def words_at(answer: bytes, word: np.dtype[Any]) -> NDArray[Any]:
    """The words that begin at each byte."""
    return np.ndarray((len(answer) - word.itemsize + 1,), word, answer, strides=(1,))


def values_agree(answer: bytes, data: NDArray[np.uint8], starts: Numbers, ends: Numbers) -> bool:
    """Step 4: whether each header of an id or a value is the one that the line after asks for.

    A header that begins with the right word is at least as long as it must be. So if all together
    are no longer than that, each is right.
    """
    columns = [1, *range(ROW_LINES + 2, starts.shape[1], 4)]
    lines = starts[:, columns]
    after = ends[:, [column + 1 for column in columns]]
    begin = starts[:, [column + 1 for column in columns]]
    lengths = after - begin
    if lengths.max() > LONGEST:
        return False
    sizes = begin - lines - len(b"$1\r\n")
    longer = np.count_nonzero(lengths > 9) + np.count_nonzero(lengths > 99)
    return bool(
        (words_at(answer, WORD)[lines] == HEADERS[lengths]).all()
        and sizes.sum() == longer
        and (data[after] == ord("\r")).all()
        and (data[begin - 2] == ord("\r")).all()
    )


def pieces(answer: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Strings:
    """The page cut into lines and what lies between them, without copying it.

    Piece 2 i is line i after the first, piece 2 i + 1 its line break.
    """
    offsets = np.empty(2 * starts.size + 1, np.int32)
    offsets[0:-1:2] = starts.ravel()
    offsets[1:-1:2] = ends.ravel()
    offsets[-1] = len(answer)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(answer)]
    return pa.Array.from_buffers(pa.binary(), 2 * starts.size, buffers)
