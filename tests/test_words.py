"""Words that docstrings, comments and docs do not use: idiom that a reader has to read twice."""

from __future__ import annotations

import re
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
    r"(?i)\b(offset|digits|bytes?|right|room|words?|elements?|entries|commands) behind\b": "after",
    r"(?i)\bbehind (the (point|fork|end|key|snapshot)|its end|each other)\b": "after, past",
    r"\bneeds not\b": "need not",
    r"\bhung up on\b": "disconnected",
    r"(?i)\blikewise\b": "repeat the fact",
    r"(?i)\bamid (the|a|an|its|all|that|this)\b": "during",
    r"\bin the midst of\b": "during, in the middle of",
    r"\bAs of Redis #": "Redis #123: ...",
    r"\bwho has none\b": "imported lazily",
    r"\bwhoever\b": "name the client, the caller, the process",
    r"\bis there no more\b": "no longer exists",
    r"\b(bytes|takes|sent) beside (its|their) (key|text|repl)": "besides",
    r"\bneed be\b": "if needed",
}


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


def test_no_unwanted_words() -> None:
    hits = [
        f"{page.relative_to(ROOT)}:{hit}" for page in pages() for hit in found(page.read_text())
    ]
    assert hits == []


@pytest.mark.parametrize(
    "text",
    [
        '"""The same, for a list."""',
        "returns the offset behind it",
        "up to 17 digits behind the point",
        "it needs not be asked",
        "A switch amid the load.",
        "As of Redis #1: it hung.",
    ],
)
def test_unwanted_words_are_seen(text: str) -> None:
    assert list(found(text))


@pytest.mark.parametrize(
    "text",
    [
        "a server behind a proxy",
        "a replica that is behind its primary",
        "Commands that are pipelined behind a blocked one wait.",
        "Keys of the same name.",
        "at = pack.behind(at)",
        "def switch_on(self, amid_command: bool) -> None: ...",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert list(found(text)) == []
