"""The pages of the documentation, and the blocks of code in them.

A fenced block says what it is: ```` ```python ````. An indented one is a transcript of redis-cli if
it begins with its prompt, and otherwise what is typed into a shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.spark.documented import DUMPS, KAFKA, PIPELINE, README_PART, RECIPES, SPARK, WATCHING

ROOT = Path(__file__).parents[2]
TOP = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "bench/README.md",
)
PAGES = [*TOP, *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md"))]

# Pages whose indented blocks are drawings of folders, or have a test of their own (tests/spark).
OTHER_BLOCKS = {
    "ARCHITECTURE.md", "CONTRIBUTING.md", SPARK, PIPELINE, DUMPS, WATCHING, KAFKA, RECIPES,
}  # fmt: skip
SHELL, PROMPTED, PROGRAM = "sh", "redis-cli", "python"
PROMPT = re.compile(r"127\.0\.0\.1:6379(?:\[\d+\])?(?:\(TX\))?> (.*)$")

# Pages whose Python is run by another test, which reads it from the page.
RUN_ELSEWHERE = {"docs/testing.md": "tests/frameworks/test_projects.py"}
FENCE = re.compile(r"^( *)```(\S*)")


class Block(NamedTuple):
    """A block of code: its *language*, and its *text* without the indentation."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def prose(page: str) -> str:
    """The text of *page* without its blocks, and without the code in its lines."""
    lines = text_of(page).splitlines()
    for block in all_blocks(page):
        for at in range(block.line - 1, block.line + block.text.count("\n")):
            lines[at] = ""
    return re.sub(r"`[^`\n]*`", "code", "\n".join(lines))


def headings(page: str) -> list[str]:
    """The headings of *page*, as they stand there."""
    lines = text_of(page).splitlines()
    for block in all_blocks(page):
        for at in range(block.line - 1, block.line + block.text.count("\n")):
            lines[at] = ""
    return [line.lstrip("#").strip() for line in lines if re.match(r"#+ ", line)]


def anchors(page: str) -> list[str]:
    """What a link to a section of *page* may name, as GitHub makes it of headings."""
    return [
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(page)
    ]


def blocks(page: str) -> list[Block]:
    """The blocks of *page* that these tests look after."""
    found = list(all_blocks(page))
    if page in OTHER_BLOCKS:
        return [block for block in found if block.language != SHELL]
    if page == "README.md":
        elsewhere = README_PART.search(text_of(page))
        assert elsewhere is not None
        return [block for block in found if block.text.strip() not in _dedented(elsewhere[1])]
    return found


def _dedented(text: str) -> str:
    return re.sub(r"^ {4}", "", text, flags=re.MULTILINE)


def all_blocks(page: str) -> Iterator[Block]:
    """Every block of *page*, in order. ``line`` is where its text begins, counted from 1."""
    lines = text_of(page).splitlines()
    at = 0
    while at < len(lines):
        if fence := FENCE.match(lines[at]):
            end = _end_of_fence(lines, at, page)
            indent = len(fence[1])
            text = "\n".join(line[indent:] for line in lines[at + 1 : end])
            yield Block(page, at + 2, fence[2], text)
            at = end + 1
        elif lines[at].startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = _end_of_indented(lines, at)
            language = PROMPTED if PROMPT.match(lines[at][4:]) else SHELL
            yield Block(page, at + 1, language, "\n".join(line[4:] for line in lines[at:end]))
            at = end
        else:
            at += 1


def _end_of_fence(lines: list[str], start: int, page: str) -> int:
    for at in range(start + 1, len(lines)):
        if lines[at].strip() == "```":
            return at
    raise AssertionError(f"{page}:{start + 1}: the block has no end")


def _end_of_indented(lines: list[str], start: int) -> int:
    end = start
    for at in range(start, len(lines)):
        if lines[at].startswith("    "):
            end = at + 1
        elif lines[at].strip():
            break
    return end
