"""docs/guarantees.md: each cell leads to tests that exist, and each such test is one of a cell."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text("utf-8")
CELL = re.compile(r"\[(\d+)\]\(#t(\d+)\)")
TEST = re.compile(r"^- `([^`]+)`$", re.MULTILINE)


def rows() -> list[list[str]]:
    """The rows of the tables, without the head and without the name of the setting."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ")[1:] for line in lines if CELL.search(line)]


def named_tests() -> dict[str, list[str]]:
    """The tests of each number."""
    found = re.split(r"^### T(\d+)$", PAGE, flags=re.MULTILINE)
    return {
        number: TEST.findall(text) for number, text in zip(found[1::2], found[2::2], strict=True)
    }


def test_each_cell_says_what_happens_and_links_named_tests() -> None:
    assert len(rows()) == 17
    for row in rows():
        for cell in row:
            found = CELL.findall(cell)
            assert found, cell
            for shown, number in found:
                assert shown == number
                assert named_tests()[number], cell


def test_all_linked_tests_exist_and_all_are_of_a_cell() -> None:
    in_cells = {number for _, number in CELL.findall(PAGE)}
    assert in_cells == set(named_tests())
    for names in named_tests().values():
        for name in names:
            path, _, test = name.partition("::")
            text = (ROOT / path).read_text("utf-8")
            assert re.search(rf"^ *(async )?def {test}\(", text, re.MULTILINE), name
