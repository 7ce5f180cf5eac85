"""The docs: all links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")]))
def test_every_link_leads_to_an_existing_page_and_section(page: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)\s]+)\)", page.read_text()):
        name, _, section = target.partition("#")
        linked = (page.parent / name) if name else page
        assert linked.exists(), target
        if section:
            assert section in sections(linked), target


def sections(page: Path) -> set[str]:
    """The anchors of the headings of *page*."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
