"""The pages look the same on GitHub and on the site, whose Markdown is stricter."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import PAGES, all_blocks, text_of

ITEM = re.compile(r"( *)(?:[-*]|\d+\.) ")


def paragraphs(page: str) -> list[list[str]]:
    """What stands between empty lines of *page*, without its blocks of code."""
    lines = text_of(page).splitlines()
    for block in all_blocks(page):
        for at in range(block.line - 2, block.line + block.text.count("\n") + 1):
            lines[at : at + 1] = [""]
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        else:
            found.append([])
    return [paragraph for paragraph in found if paragraph]


@pytest.mark.parametrize("page", PAGES)
def test_lists_and_tables_are_paragraphs_of_their_own(page: str) -> None:
    for first, *rest in paragraphs(page):
        if not ITEM.match(first) and not first.startswith(" "):
            assert [line for line in rest if ITEM.match(line)] == []
        if not first.startswith("|"):
            assert [line for line in rest if line.startswith("|")] == []


@pytest.mark.parametrize("page", PAGES)
def test_what_belongs_to_an_item_is_indented_by_four(page: str) -> None:
    for first, *rest in paragraphs(page):
        nested = [found for line in (first, *rest) if (found := ITEM.match(line))]
        assert [found[0] for found in nested if len(found[1]) % 4] == []
        assert not re.match(r" {1,3}\S", first), first
