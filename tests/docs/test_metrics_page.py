"""docs/metrics.md is what the families of metrics say."""

from __future__ import annotations

from docs.generate.metrics_page import DOCUMENT, document
from server.metrics.page import families


def test_the_document_is_up_to_date() -> None:
    """If not, run make docs."""
    assert DOCUMENT.read_text("utf-8") == document(families())


def test_each_family_is_in_it_once() -> None:
    page = document(families())
    for family in families():
        assert page.count(f"| `{family.name}` |") == 1
        assert family.meaning in page
