"""Inline commands: a line that a person typed, split into words.

    SET key "a \\x01 \\n b" 'it\\'s'

In double quotes, backslash escapes are those of C with \\xHH for any byte; in single quotes only
\\' is one. A closing quote must be followed by a blank or the end of the line.
"""

from __future__ import annotations

ESCAPES = {ord("n"): 10, ord("r"): 13, ord("t"): 9, ord("b"): 8, ord("a"): 7}
BLANKS = b" \t\n\r\x0b\x0c\x00"
BACKSLASH, DOUBLE, SINGLE = b"\\\"'"
HEX_DIGITS = b"0123456789abcdefABCDEF"


class UnbalancedQuotes(Exception):
    """A quote is not closed, or something follows it without a blank."""


def split_words(line: bytes) -> list[bytes]:
    """The words of *line*. Raises UnbalancedQuotes. O(line)."""
    words: list[bytes] = []
    at, end = 0, len(line)
    while True:
        while at < end and line[at] in BLANKS:
            at += 1
        if at >= end:
            return words
        word, at = _word(line, at)
        words.append(word)


def _word(line: bytes, at: int) -> tuple[bytes, int]:
    """The word that begins at *at*, and where it ends. Quotes may stand inside a word."""
    word = bytearray()
    while at < len(line) and line[at] not in BLANKS:
        if line[at] == DOUBLE:
            at = _double_quoted(line, at + 1, word)
        elif line[at] == SINGLE:
            at = _single_quoted(line, at + 1, word)
        else:
            word.append(line[at])
            at += 1
    return bytes(word), at


def _double_quoted(line: bytes, at: int, word: bytearray) -> int:
    """Add what stands up to the closing quote to *word*; returns where to go on."""
    while at < len(line) and line[at] != DOUBLE:
        if line[at] == BACKSLASH and _is_hex(line, at):
            word.append(int(line[at + 2 : at + 4], 16))
            at += 4
        elif line[at] == BACKSLASH and at + 1 < len(line):
            word.append(ESCAPES.get(line[at + 1], line[at + 1]))
            at += 2
        else:
            word.append(line[at])
            at += 1
    return _closed(line, at)


def _single_quoted(line: bytes, at: int, word: bytearray) -> int:
    while at < len(line) and line[at] != SINGLE:
        if line[at : at + 2] == b"\\'":
            at += 1
        word.append(line[at])
        at += 1
    return _closed(line, at)


def _is_hex(line: bytes, at: int) -> bool:
    digits = line[at + 2 : at + 4]
    is_x = line[at + 1 : at + 2] == b"x"
    return is_x and len(digits) == 2 and all(digit in HEX_DIGITS for digit in digits)


def _closed(line: bytes, at: int) -> int:
    """*at* must be a closing quote that ends its word; returns what is behind it."""
    if at >= len(line) or (at + 1 < len(line) and line[at + 1] not in BLANKS):
        raise UnbalancedQuotes
    return at + 1
