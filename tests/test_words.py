"""Words that docstrings, comments and docs do not use: idiom that a reader has to read twice."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "server", "storage", "protocol", "octets", "penstock", "pyspark_penstock", "build_core",
    "tests", "bench", "fuzz", "docs",
)  # fmt: skip
ENDINGS = (".py", ".pxd", ".pyx", ".md")

# What is found, and what to write instead.
UNWANTED = {
    r'"""The same\b': "repeat the fact",
    r"\bneeds not\b": "need not",
    r"\bhung up on\b": "disconnected",
    r"(?i)\blikewise\b": "repeat the fact",
    r"(?i)\bamid (the|a|an|its|all|that|this)\b": "during",
    r"\bin the midst of\b": "during, in the middle of",
    r"\b(its|their) midst\b": "before it ends, while it runs",
    r"\bAs of Redis #": "Redis #123: ...",
    r"\bwho has none\b": "imported lazily",
    r"\bwhoever\b": "name the client, the caller, the process",
    r"\bis there no more\b": "no longer exists",
    r"\b(bytes|takes|sent) beside (its|their) (key|text|repl)": "besides",
    r"\bneed be\b": "if needed",
}

# What is found in prose alone, since variables have this name; and where it may stand.
BEHIND = re.compile(r"(?i)\bbehind\b")
NOT_AFTER = re.compile(
    r"(?i)(lags?|lagging|falls?|fell|far|further|furthest|how far it is)\s+behind"  # has less
    r"|(leaves?|left)\s+(\w+\s+){0,4}behind"  # garbage
    r"|a\s+replica\s+that\s+is\s+behind|behind\s+(its|the)\s+primary"
    r"|behind\s+(a\s+proxy|a\s+dam|one\s+address|sentinels|walls)"  # is hidden by it
    r"|\*behind|raises\s+behind"  # names
)
DOCSTRING_FOLLOWS = (tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def pages() -> Iterator[Path]:
    yield from ROOT.glob("*.md")
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in ENDINGS and path != Path(__file__):
                yield path


def found(text: str) -> Iterator[str]:
    """The unwanted words of *text*, each with its line and what to write instead."""
    for pattern, better in UNWANTED.items():
        for match in re.finditer(pattern, text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{line}: {match[0]} -> {better}"


def prose(source: str) -> str:
    """The comments and docstrings of *source*, each on its own line of it."""
    parts: list[str] = []
    line, before = 1, tokenize.ENCODING
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and before in DOCSTRING_FOLLOWS
        if token.type == tokenize.COMMENT or is_docstring:
            parts += "\n" * (token.start[0] - line), token.string.lstrip("#")
            line = token.end[0]
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return "".join(parts)


def behind(text: str) -> Iterator[str]:
    """Where the prose *text* says "behind" of an order."""
    rest = NOT_AFTER.sub(lambda match: "\n" * match[0].count("\n"), text)
    for match in BEHIND.finditer(rest):
        line = rest.count("\n", 0, match.start()) + 1
        yield f"{line}: {match[0]} -> after, past"


def test_no_unwanted_words() -> None:
    hits = [
        f"{page.relative_to(ROOT)}:{hit}" for page in pages() for hit in found(page.read_text())
    ]
    assert hits == []


def test_what_comes_after_is_not_behind() -> None:
    hits = []
    for page in pages():
        text = page.read_text()
        if any(behind(text)):
            words = text if page.suffix == ".md" else prose(text)
            hits += [f"{page.relative_to(ROOT)}:{hit}" for hit in behind(words)]
    assert hits == []


@pytest.mark.parametrize(
    "text",
    [
        '"""The same, for a list."""',
        "it needs not be asked",
        "A switch amid the load.",
        "As of Redis #1: it hung.",
        "An eviction was left in its midst.",
    ],
)
def test_unwanted_words_are_seen(text: str) -> None:
    assert list(found(text))


@pytest.mark.parametrize(
    "text",
    [
        "Keys of the same name.",
        "def switch_on(self, amid_command: bool) -> None: ...",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert list(found(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "returns the offset behind it",
        "up to 17 digits behind the point",
        "Commands that are pipelined behind a blocked one wait.",
        "Behind the bytes stands a sum.",
        "It lags behind, and a sum is behind it.",
    ],
)
def test_behind_for_after_is_seen(text: str) -> None:
    assert len(list(behind(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a server behind a proxy",
        "a replica that is behind its primary",
        "the one that was the furthest\nbehind",
        "A test leaves nothing of it behind.",
        "Raises Behind when time is up.",
    ],
)
def test_behind_in_other_senses_is_not(text: str) -> None:
    assert list(behind(text)) == []


def test_prose_is_comments_and_docstrings() -> None:
    source = (
        '"""One."""\n'
        "# two\n"
        "def f():\n"
        '    """Three,\n'
        '    four."""\n'
        "    behind = 'five'  # six\n"
        "    return (\n"
        "        'seven'\n"
        "    )\n"
    )
    words = prose(source)
    assert words.split() == ['"""One."""', "two", '"""Three,', 'four."""', "six"]
    assert words.count("\n", 0, words.index("six")) == 5
