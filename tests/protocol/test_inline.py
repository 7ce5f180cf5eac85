"""split_words: the words and quotes of inline commands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.inline import UnbalancedQuotes, split_words
from tests.worth import rounds

ESCAPES = {ord("n"): b"\n", ord("r"): b"\r", ord("t"): b"\t", ord("b"): b"\b", ord("a"): b"\a"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"", []),
        (b" \t ", []),
        (b"PING", [b"PING"]),
        (b"  SET  a\tb ", [b"SET", b"a", b"b"]),
        (b'"a b"', [b"a b"]),
        (b"'a b'", [b"a b"]),
        (b"\"\" ''", [b"", b""]),
        (b'a"b c"', [b"ab c"]),  # a quoted part can end a word
        (b"a'b\\'c'", [b"ab'c"]),
        (b"\"it's\" '\"'", [b"it's", b'"']),
        (b'"\\n\\r\\t\\b\\a"', [b"\n\r\t\b\a"]),
        (b'"\\x41\\xfF\\x00"', [b"A\xff\x00"]),
        (b'"\\x4 \\xZZ \\q \\" \\\\"', [b'x4 xZZ q " \\']),
        (b"'\\n\\x41\\\\ '", [b"\\n\\x41\\\\ "]),  # in single quotes only \' is an escape
        (b"a\\nb", [b"a\\nb"]),  # outside quotes nothing is an escape
        (b"a\x0bb \x0b\x0cc", [b"a\x0bb", b"c"]),  # VT and FF separate words only next to a blank
        (b'"a"\x0bb', [b"a", b"b"]),
        (b"a\x00b \xff\x80", [b"a\x00b", b"\xff\x80"]),
    ],
)
def test_words_are_split_as_in_redis(line: bytes, words: list[bytes]) -> None:
    assert split_words(line) == words


@pytest.mark.parametrize(
    "line",
    [
        b'"',
        b"'",
        b'a "b',
        b"a 'b",
        b'"a"b',
        b"'a'b",
        b'"a""b"',
        b"''\"\"",
        b'"a\\"',
        b"'a\\'",
        b'a"b"c',
    ],
)
def test_unbalanced_quotes_are_refused(line: bytes) -> None:
    with pytest.raises(UnbalancedQuotes):
        split_words(line)


def words_one_character_at_a_time(line: bytes) -> list[bytes] | None:
    """The words of *line*, or None for unbalanced quotes."""
    words: list[bytes] = []
    at = 0
    while True:
        while line[at : at + 1].isspace():
            at += 1
        if at == len(line):
            return words
        word, quote = b"", b""
        while at < len(line) or quote:
            char = line[at : at + 1]
            if not char:
                return None
            at += 1
            if char == quote:
                if line[at : at + 1].strip():
                    return None
                break
            if quote == b'"' and char == b"\\" and at < len(line):
                char = line[at : at + 1]
                at += 1
                digits = line[at : at + 2]
                if char == b"x" and len(digits) == 2 and digits.isalnum():
                    try:
                        char = bytes([int(digits, 16)])
                        at += 2
                    except ValueError:
                        pass
                else:
                    char = ESCAPES.get(char[0], char)
            elif quote == b"'" and char == b"\\" and line[at : at + 1] == b"'":
                char = b"'"
                at += 1
            elif not quote and char in {b'"', b"'"}:
                quote, char = char, b""
            elif not quote and char in {b" ", b"\n", b"\r", b"\t"}:
                break
            word += char
        words.append(word)


@settings(max_examples=rounds(500))
@given(st.lists(st.sampled_from("\"'\\ ntx4fZa\t\x0b\n\r"), max_size=16).map("".join))
def test_split_words_agrees_with_the_naive_version(text: str) -> None:
    line = text.encode()
    try:
        words = split_words(line)
    except UnbalancedQuotes:
        words = None
    assert words == words_one_character_at_a_time(line)
