# cython: boundscheck=False, wraparound=False
r"""Glob patterns as KEYS, SCAN and PSUBSCRIBE know them.

    *        any bytes, or none
    ?        one byte
    [abc]    one of these bytes; [a-z] a range, either end first; [^a] any other byte;
             a class that is never closed ends with the pattern
    \x       the byte x itself, in a class too; a \ at the very end is itself

All but ``*`` take exactly one byte. So only the last ``*`` that was met need ever take more: a
match is a loop, without recursion, of len(text) * len(pattern) steps at most (Redis recursed for
each ``*``: CVE-2022-36021, CVE-2024-31228).

Two habits of Redis are kept: an empty text is matched by the empty pattern alone, and an escaped
byte in a class is compared with its case even if case is to be ignored. Bytes are unsigned here
in a range; in Redis that depends on the machine's ``char``.
"""

from __future__ import annotations

from typing import Final

STAR: Final = 0x2A
QUESTION_MARK: Final = 0x3F
OPEN: Final = 0x5B
CLOSE: Final = 0x5D
CARET: Final = 0x5E
DASH: Final = 0x2D
BACKSLASH: Final = 0x5C


def match(pattern: bytes, text: bytes, nocase: bool = False) -> bool:
    """Whether the whole of *text* is matched by *pattern*; *nocase*: a-z match A-Z too."""
    if not text:
        return not pattern
    at = here = 0
    after_star = -1  # where the pattern goes on after the last * that was met ..
    star_end = 0  # .. and where what that * has taken of the text ends
    while here < len(text):
        if at < len(pattern) and pattern[at] == STAR:
            at = _skip_stars(pattern, at)
            if at == len(pattern):
                return True
            after_star, star_end = at, here
            continue
        at = _after_element(pattern, at, text[here], nocase)
        here += 1
        if at < 0:
            if after_star < 0:
                return False
            star_end += 1
            at, here = after_star, star_end
    return _skip_stars(pattern, at) == len(pattern)


def _skip_stars(pattern: bytes, at: int) -> int:
    while at < len(pattern) and pattern[at] == STAR:
        at += 1
    return at


def _after_element(pattern: bytes, at: int, byte: int, nocase: bool) -> int:
    """Where the pattern continues if its element at *at* matches *byte*, else -1."""
    if at == len(pattern):
        return -1
    if pattern[at] == QUESTION_MARK:
        return at + 1
    if pattern[at] == OPEN:
        return _after_class(pattern, at + 1, byte, nocase)
    if pattern[at] == BACKSLASH and at + 1 < len(pattern):
        at += 1
    if pattern[at] == byte or (nocase and _lower(pattern[at]) == _lower(byte)):
        return at + 1
    return -1


def _after_class(pattern: bytes, at: int, byte: int, nocase: bool) -> int:
    """Where the pattern continues if the class whose ``[`` is before *at* matches, else -1."""
    end = len(pattern)
    negated = at < end and pattern[at] == CARET
    at += negated
    lower = _lower(byte) if nocase else byte
    found = False
    while at < end and pattern[at] != CLOSE:
        low = high = pattern[at]
        escaped = low == BACKSLASH and at + 1 < end
        if escaped:
            at += 1
            found = found or pattern[at] == byte
        else:
            if at + 2 < end and pattern[at + 1] == DASH:
                at += 2
                low, high = min(low, pattern[at]), max(low, pattern[at])
            if nocase:
                low, high = _lower(low), _lower(high)
            found = found or low <= lower <= high
        at += 1
    if found == negated:
        return -1
    return min(at + 1, end)


def _lower(byte: int) -> int:
    return byte + 0x20 if 0x41 <= byte <= 0x5A else byte
