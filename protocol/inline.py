r"""Inline commands: a line that a person typed, split into words.

    SET key "a \x01 \n b" 'it\'s'

A word is bare text, a quoted part, or bare text followed by a quoted part. A quoted part ends its
word, so a blank or the end of the line must follow it. In double quotes, backslash escapes are
those of C, with \xHH for any byte; in single quotes only \' is an escape.
"""

from __future__ import annotations

import re

ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"a": b"\a"}

UNUSUAL = re.compile(rb"[\"'\v\f]")  # quotes; and blanks that do not always separate
BLANKS = re.compile(rb"\s*")
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
WORD = re.compile(
    rb"""
    (?P<bare> [^ \t\r\n"']*+ )
    (?: " (?P<double> (?: \\. | [^"\\] )*+ ) " (?= \s | \Z )
      | ' (?P<single> (?: \\' | [^'] )*+ ) ' (?= \s | \Z )
    )?
    """,
    re.DOTALL | re.VERBOSE,
)


class UnbalancedQuotes(Exception):
    """A quote is not closed, or something follows the closing one without a blank."""


def split_words(line: bytes) -> list[bytes]:
    """The words of *line*. Raises UnbalancedQuotes. O(line)."""
    if not UNUSUAL.search(line):
        return line.split()  # what redis-cli --pipe is fed with, by the million
    words: list[bytes] = []
    at = _next(BLANKS, line, 0).end()
    while at < len(line):
        word = _next(WORD, line, at)
        at = word.end()
        if line[at : at + 1] in {b'"', b"'"}:  # a quote that begins no quoted part
            raise UnbalancedQuotes
        words.append(_meaning(word))
        at = _next(BLANKS, line, at).end()
    return words


def _next(pattern: re.Pattern[bytes], line: bytes, at: int) -> re.Match[bytes]:
    found = pattern.match(line, at)
    assert found  # both patterns match the empty text as well
    return found


def _meaning(word: re.Match[bytes]) -> bytes:
    bare, double, single = word.group("bare", "double", "single")
    if double is not None:
        return bare + ESCAPE.sub(_unescaped, double)
    if single is not None:
        return bare + single.replace(b"\\'", b"'")
    return bare


def _unescaped(escape: re.Match[bytes]) -> bytes:
    text = escape[1]
    return bytes((int(text[1:], 16),)) if len(text) == 3 else ESCAPES.get(text, text)
