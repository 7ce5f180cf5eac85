"""What the console says of the fields of INFO is what the facts say."""

from __future__ import annotations

import json

from docs.generate.console_meanings import DOCUMENT, document
from server.parts.server_facts import SECTIONS


def test_the_document_is_up_to_date() -> None:
    """If not, run make docs."""
    assert DOCUMENT.read_text("utf-8") == document(SECTIONS)


def test_a_field_is_found_by_the_heading_that_info_writes() -> None:
    meanings = json.loads(document(SECTIONS))
    assert meanings["Server"]["uptime_in_days"] == "Time since the start, in whole days"
