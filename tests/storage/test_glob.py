"""Glob patterns: each rule, a recursive model of all rules, and a bound on time and stack."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.glob import match
from tests.worth import rounds


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        (b"", b"", True),
        (b"", b"a", False),
        (b"abc", b"abc", True),
        (b"abc", b"abd", False),
        (b"abc", b"ab", False),
        (b"ab", b"abc", False),
        (b"h?llo", b"hello", True),
        (b"h?llo", b"hllo", False),
        (b"*", b"anything", True),
        (b"h*llo", b"hllo", True),
        (b"h*llo", b"heeeello", True),
        (b"a**b***", b"ab", True),
        (b"*a*a", b"abab", False),
        (b"*ab*b", b"aababb", True),
        (b"h[ae]llo", b"hallo", True),
        (b"h[ae]llo", b"hillo", False),
        (b"h[^e]llo", b"hallo", True),
        (b"h[^e]llo", b"hello", False),
        (b"[a-c]", b"b", True),
        (b"[a-c]", b"d", False),
        (b"[c-a]", b"b", True),
        (b"[^a-c]x", b"dx", True),
        (b"[-a]", b"-", True),
        (b"[\x80-\xff]", b"\x90", True),
        (b"\\*", b"*", True),
        (b"\\*", b"a", False),
        (b"\\?\\[\\\\", b"?[\\", True),
        (b"\\a", b"a", True),
        (b"[\\]]", b"]", True),
        (b"[\\^a]", b"^", True),
        (b"[\\a-c]", b"b", False),
    ],
)
def test_each_rule(pattern: bytes, text: bytes, matched: bool) -> None:
    assert match(pattern, text) is matched


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        (b"*", b"", False),
        (b"[abc", b"c", True),
        (b"[abc", b"cx", False),
        (b"[", b"a", False),
        (b"[", b"[", False),
        (b"[^", b"a", True),
        (b"[]", b"]", False),
        (b"[]a]", b"a", False),
        (b"[^]", b"a", True),
        (b"[a-]", b"_", True),
        (b"[a-]", b"-", False),
        (b"[a-", b"-", True),
        (b"[a-c", b"b", True),
        (b"[a\\", b"\\", True),
        (b"a\\", b"a\\", True),
    ],
)
def test_malformed_patterns_match_as_in_redis(pattern: bytes, text: bytes, matched: bool) -> None:
    assert match(pattern, text) is matched


@pytest.mark.parametrize(
    ("pattern", "text", "matched"),
    [
        (b"HeLLo", b"hEllO", True),
        (b"[a-c]x", b"BX", True),
        (b"[^A]", b"a", False),
        (b"\\A", b"a", True),
        (b"[\\A]", b"a", False),
        (b"[[]", b"{", False),
        (b"\xc0", b"\xe0", False),
    ],
)
def test_case_can_be_ignored(pattern: bytes, text: bytes, matched: bool) -> None:
    assert match(pattern, text, True) is matched


def first_element(pattern: bytes) -> tuple[set[int], bytes]:
    """The bytes that the pattern's first element (not ``*``) matches, and the rest."""
    head, rest = pattern[0], pattern[1:]
    if head == ord("?"):
        return set(range(256)), rest
    if head == ord("\\") and rest:
        return {rest[0]}, rest[1:]
    if head != ord("["):
        return {head}, rest
    negated = rest[:1] == b"^"
    rest = rest[negated:]
    taken: set[int] = set()
    while rest and rest[0] != ord("]"):
        if rest[0] == ord("\\") and len(rest) > 1:
            taken.add(rest[1])
            rest = rest[2:]
        elif rest[1:2] == b"-" and len(rest) > 2:
            low, high = sorted((rest[0], rest[2]))
            taken.update(range(low, high + 1))
            rest = rest[3:]
        else:
            taken.add(rest[0])
            rest = rest[1:]
    return (set(range(256)) - taken if negated else taken), rest[1:]


def model(pattern: bytes, text: bytes) -> bool:
    if not pattern:
        return not text
    if pattern[0] == ord("*"):
        return any(model(pattern[1:], text[n:]) for n in range(len(text) + 1))
    taken, rest = first_element(pattern)
    return bool(text) and text[0] in taken and model(rest, text[1:])


@given(
    pattern=st.lists(st.sampled_from(list(b"ab*?[]^-\\")), max_size=9).map(bytes),
    text=st.lists(st.sampled_from(list(b"ab*]-\\^")), min_size=1, max_size=7).map(bytes),
)
@settings(max_examples=rounds(1000), deadline=None)
def test_match_agrees_with_the_recursive_model(pattern: bytes, text: bytes) -> None:
    assert match(pattern, text) is model(pattern, text)


def test_many_stars_take_at_most_text_times_pattern_steps() -> None:
    """With a try of every length for every star this test would never end."""
    assert match(b"*a" * 50 + b"b", b"a" * 200) is False
    assert match(b"*a" * 50 + b"*b", b"a" * 200 + b"b") is True


def test_a_pattern_of_many_stars_does_not_recurse() -> None:
    assert match(b"*" * 100_000, b"a") is True
    assert match(b"*?" * 50_000, b"a" * 50_000) is True
