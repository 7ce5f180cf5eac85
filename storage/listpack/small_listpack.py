# cython: boundscheck=False, wraparound=False
"""The bytes of a small listpack, written at once: what a new small hash or set is kept as."""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.listpack import element_octets

HEADER = 6  # bytes
END = 0xFF
MOST_BYTES = 1024
MOST_WORDS = 32  # each is compared with all others

_pen = bytearray(MOST_BYTES)


def of_words(words: list[bytes], first: int, step: int, longest: int, most: int) -> bytes | None:
    """What Listpack.dump() gives when ``words[first:]`` have been appended; O(words squared).

    None if they are more than MOST_WORDS or take more than *most* bytes, at most MOST_BYTES; if one
    has more than *longest* bytes; or if two of ``words[first::step]`` are equal.
    """
    count = len(words)
    if count - first > MOST_WORDS or _most_bytes(words, first, longest) > most:
        return None
    if _has_equals(words, first, step):
        return None
    data = _pen
    to = HEADER
    for at in range(first, count):
        word = words[at]
        to = element_octets.put(data, to, word)
    octets.put_u8(data, to, END)
    octets.put_u32(data, 0, to + 1)
    octets.put_u16(data, 4, count - first)
    return buffers.cut(data, 0, to + 1)


def _most_bytes(words: list[bytes], first: int, longest: int) -> int:
    """An upper bound for the bytes of the listpack; MOST_BYTES + 1 if a word is too long."""
    size = HEADER + 1
    for at in range(first, len(words)):
        word = words[at]
        length = len(word)
        if length > longest:
            return MOST_BYTES + 1
        size += element_octets.most_bytes(length)
    return size


def _has_equals(words: list[bytes], first: int, step: int) -> bool:
    for at in range(first + step, len(words), step):
        word = words[at]
        for before in range(first, at, step):
            other = words[before]
            if other == word:
                return True
    return False
