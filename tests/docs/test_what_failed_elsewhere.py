"""docs/queues.md: each failure of another broker leads to a test that exists."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, text_of

FOLDER = ROOT / "tests" / "server" / "commands" / "streams"


def rows() -> list[list[str]]:
    """The cells of each failure: where, what, what happens here, and the test."""
    section = text_of("docs/queues.md").partition("## What failed elsewhere\n")[2]
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines[1:]]


def test_each_failure_has_a_test_of_its_own() -> None:
    assert len(rows()) > 20
    tests = []
    for *cells, named in rows():
        assert len(cells) == 3
        found = re.fullmatch(r"`(test_\w+\.py)::(test_\w+)`", named)
        assert found, named
        text = (FOLDER / found[1]).read_text("utf-8")
        assert re.search(rf"^ *(async )?def {found[2]}\(", text, re.MULTILINE), named
        tests.append(named)
    assert len(set(tests)) == len(tests)
