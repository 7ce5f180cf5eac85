"""Uniform pages: entries with the same fields in the same order, read by columns with numpy.

    *2\\r\\n                    entries
      *2\\r\\n                  an entry
        $15\\r\\n1763000062499-3\\r\\n
        *4\\r\\n                fields and values
          $6\\r\\ndevice\\r\\n $2\\r\\nd7\\r\\n $4\\r\\ntemp\\r\\n $4\\r\\n21.5\\r\\n
      ...

1. Find all line breaks at once. If there are as many lines as entries of the first one's shape must
   have, the lines form a table with a row for each entry.
2. Read the first row line by line. Before the id and each value stand a separator and a length:

       \\r\\n*2\\r\\n$|15\\r\\n|1763000062499-3|\\r\\n*4\\r\\n$6\\r\\ndevice\\r\\n$|2\\r\\n|d7|...
       separator    length id              separator                     length value

3. Check that each row has the same separators in the same places, after the value before.
4. Check that before each id and value stand its length and a ``$``.
5. Check that separators, lengths, ids and values together are as long as the page.

A separator contains all line breaks between two values except the last one, so it ends before the
value. It ends with a ``$``, so it ends before the digits of the length. So step 5 counts no byte
twice and leaves none out. This proves that a RESP parser would give the same result: a line break
inside a value would make a separator or a length wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

LINE = b"\r\n"
LONGEST = 999  # of the values that are read by columns
LARGEST = (1 << 31) - 1  # Arrow counts bytes in 32 bits
ROW_LINES = 4  # *2, $id, id, *fields; then two lines a string
ID, NAME, VALUE = 2, ROW_LINES + 1, ROW_LINES + 3  # the first line of each kind
WORD = np.dtype("<u8")
SPARE = 16  # bits of a word of eight bytes: a length, its line break and the ``$`` take six
LENGTHS = np.frombuffer(
    b"".join((b"\r\n$%d\r\n" % n)[-6:] + bytes(2) for n in range(LONGEST + 1)), WORD
)

Strings = Any  # a pyarrow.BinaryArray; pyarrow has no types
Numbers = NDArray[np.int64]
Bounds = NDArray[np.int32]


class UniformPage:
    """A page of entries with the same fields in the same order.

    *bounds* are the offsets in the reply at which strings begin and end: of the ids, then of the
    values of each field. *separators* are the bytes before each of these strings.
    """

    def __init__(
        self, answer: bytes, bounds: Bounds, separators: list[bytes], names: list[bytes]
    ) -> None:
        self.answer = answer
        self.bounds = bounds
        self.separators = separators
        self.names = names
        self._columns = {name: at for at, name in enumerate(names, 1)}

    @staticmethod
    def joined(pages: Sequence[UniformPage]) -> UniformPage:
        """Pages of the same shape as one. It must not be longer than a reply may be."""
        places = np.cumsum([0, *(len(page.answer) for page in pages)], dtype=np.int32)
        bounds = [page.bounds + at for page, at in zip(pages, places, strict=False)]
        return UniformPage(
            b"".join(page.answer for page in pages),
            np.concatenate(bounds, axis=1),
            pages[0].separators,
            pages[0].names,
        )

    def is_like(self, other: object) -> bool:
        """Whether the entries of both pages have the same shape."""
        return isinstance(other, UniformPage) and self.separators == other.separators

    def __len__(self) -> int:
        return len(self.bounds[0])

    @cached_property
    def ids(self) -> Strings:
        return cut(self.answer, self.bounds[0])

    @property
    def size(self) -> int:
        return len(self.answer)

    @property
    def last_id(self) -> bytes:
        start, stop = self.bounds[0, -1]
        return self.answer[start:stop]

    def column(self, name: bytes) -> Strings | None:
        at = self._columns.get(name)
        return None if at is None else cut(self.answer, self.bounds[at])

    def fields(self) -> tuple[NDArray[np.int32], Strings]:
        bounds = np.empty((len(self), len(self.names), 2, 2), np.int32)
        ends = [len(separator) - len(LINE + b"$") for separator in self.separators[1:]]
        bounds[:, :, 0, 1] = self.bounds[:-1, :, 1].T + ends  # of names
        bounds[:, :, 0, 0] = bounds[:, :, 0, 1] - [len(name) for name in self.names]
        bounds[:, :, 1] = self.bounds[1:].swapaxes(0, 1)
        starts = np.arange(len(self) + 1, dtype=np.int32) * (2 * len(self.names))
        return starts, cut(self.answer, bounds)

    def chosen(self, rows: Numbers) -> UniformPage:
        """The page with only the entries at *rows*."""
        return UniformPage(self.answer, self.bounds.take(rows, 1), self.separators, self.names)


def cut(answer: bytes, bounds: Bounds) -> Strings:
    """The strings between *bounds*."""
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(answer)]
    pieces = pa.Array.from_buffers(pa.binary(), max(bounds.size - 1, 0), buffers)
    return pieces.take(pa.array(np.arange(0, bounds.size, 2)))  # without the bytes between them


def uniform(answer: bytes) -> UniformPage | None:
    """Read a page by columns; None if one of the checks fails."""
    breaks = np.flatnonzero(np.frombuffer(answer, np.uint8) == ord("\n"))
    shape = shape_of(answer, breaks)
    if shape is None:
        return None
    rows, row_lines = shape
    row = answer[breaks[0] + 1 : breaks[row_lines] - 1].split(LINE)
    if len(row) != row_lines or not is_entry(row):
        return None
    lines = [ID, *range(VALUE, row_lines, 4)]
    starts = breaks[:-1].reshape(rows, row_lines).T[lines] + 1
    stops = breaks[1:].reshape(rows, row_lines).T[lines] - 1
    before = breaks[:-1:row_lines] - 1  # where the separators before the ids begin
    separators = list(separators_of(row))
    if not separators_agree(answer, [before, *stops[:-1]], separators):
        return None
    if not lengths_agree(answer, starts, stops, before[0] + rows * sum(map(len, separators))):
        return None
    bounds = np.stack([starts, stops], axis=2, dtype=np.int32, casting="same_kind")
    return UniformPage(answer, bounds, separators, row[NAME::4])


def shape_of(answer: bytes, breaks: Numbers) -> tuple[int, int] | None:
    """Step 1: the number of entries, and of lines in each; None if the lines form no table."""
    if len(breaks) < 1 + ROW_LINES or len(answer) > LARGEST:
        return None
    rows = count_in(answer[: breaks[0] - 1])
    strings = count_in(answer[breaks[3] + 1 : breaks[4] - 1])
    if strings < 2 or strings % 2:
        return None
    row_lines = ROW_LINES + 2 * strings
    return (rows, row_lines) if len(breaks) == 1 + rows * row_lines else None


def count_in(header: bytes) -> int:
    """The number in the header of an array, or -1."""
    digits = header[1:]
    count = int(digits) if digits.isdigit() and len(digits) < 9 else -1
    return count if header == b"*%d" % count else -1


def is_entry(row: list[bytes]) -> bool:
    """Step 2: whether each header of the entry is right for what follows it."""
    strings = row[2:3] + row[ROW_LINES + 1 :: 2]
    return (
        row[0] == b"*2"
        and row[3] == b"*%d" % (len(strings) - 1)
        and row[1:2] + row[ROW_LINES::2] == [b"$%d" % len(string) for string in strings]
    )


def separators_of(row: list[bytes]) -> Iterator[bytes]:
    """Step 2: the bytes between the values of an entry, without the lengths."""
    first = 0
    for line in (ID, *range(VALUE, len(row), 4)):
        yield LINE + LINE.join(row[first : line - 1]) + LINE + b"$"
        first = line + 1


def separators_agree(answer: bytes, places: list[Numbers], separators: list[bytes]) -> bool:
    """Step 3: whether each separator stands in all its places."""
    for at, separator in zip(places, separators, strict=True):
        if not answer.startswith(separator, at[-1]):
            return False  # the page may even be too short for it
        found = words_at(answer, np.dtype((np.void, len(separator))))[at]
        if found.tobytes() != separator * len(at):
            return False
    return True


def words_at(answer: bytes, word: np.dtype[Any]) -> NDArray[Any]:
    """A view of the words that begin at each byte."""
    return np.ndarray((len(answer) - word.itemsize + 1,), word, answer, strides=(1,))


def lengths_agree(answer: bytes, starts: Numbers, stops: Numbers, others: int) -> bool:
    """Steps 4 and 5. *others* is how many bytes belong to no length, id or value."""
    lengths = stops - starts
    if lengths.max() > LONGEST:
        return False
    digits = lengths.size + np.count_nonzero(lengths > 9) + np.count_nonzero(lengths > 99)
    size = others + digits + lengths.size * len(LINE) + lengths.sum() + len(LINE)
    found = words_at(answer, WORD)[starts - WORD.itemsize] >> SPARE
    agree = (found == LENGTHS[lengths]).all()
    return bool(agree and size == len(answer) and answer.endswith(LINE))
