"""Every link of a page leads to a page that exists, and to a section that it has."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from tests.docs.pages import PAGES, ROOT, anchors, prose, text_of

LINK = re.compile(r"\]\(([^)\s]+)\)")
DRAWINGS = (".svg", ".png")


def links(page: str) -> list[str]:
    """The targets of *page* within the repository."""
    return [target for target in LINK.findall(text_of(page)) if not target.startswith("http")]


def linked(page: str, target: str) -> str:
    """The path, from the root of the repository, that *target* leads to from *page*."""
    parts: list[str] = list(PurePosixPath(page).parent.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            parts.pop()  # IndexError: the link leads out of the repository
        else:
            parts.append(part)
    return "/".join(parts)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_page_and_a_section_of_it(page: str) -> None:
    for target in links(page):
        name, _, section = target.partition("#")
        path = linked(page, name) if name else page
        assert (ROOT / path).is_file(), target
        # The site has pages and drawings only: a source is named as code, not linked.
        assert path in PAGES or path.endswith(DRAWINGS), target
        if section:
            assert section in anchors(path), target


@pytest.mark.parametrize("page", PAGES)
def test_no_two_sections_of_a_page_have_the_same_anchor(page: str) -> None:
    """GitHub and the site number them in different ways, so no link could mean one of them."""
    found = anchors(page)
    twice = {anchor for anchor in found if found.count(anchor) > 1}
    assert not {target.partition("#")[2] for target in links(page)} & twice


@pytest.mark.parametrize("page", PAGES)
def test_no_bracket_is_left_that_was_meant_as_a_link(page: str) -> None:
    assert re.findall(r"\]\s+\(|\[[^\]\n]+\]\[", prose(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_each_drawing_says_in_words_what_it_shows(page: str) -> None:
    drawings = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", text_of(page))
    assert all(len(words.split()) > 5 for words, _ in drawings)
