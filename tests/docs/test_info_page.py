"""docs/info.md is what the facts say."""

from __future__ import annotations

from docs.generate.info_page import DOCUMENT, document
from server.parts.server_facts import SECTIONS


def test_the_document_is_up_to_date() -> None:
    """If not, run make docs."""
    assert DOCUMENT.read_text("utf-8") == document(SECTIONS)


def test_each_section_and_each_field_is_in_it() -> None:
    page = document(SECTIONS)
    for section in SECTIONS:
        assert f"## {section.title}\n" in page
        for entry in section.entries:
            for fact in entry.facts.facts:
                assert fact.meaning in page
                assert f"`{fact.name}" in page
