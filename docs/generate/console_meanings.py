"""What the fields of INFO mean, as the console shows it: server/console/static/meanings.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from server.observe.fact import Facts, Section

DOCUMENT = Path(__file__).parents[2] / "server/console/static/meanings.json"


def document(sections: tuple[Section[Any], ...]) -> str:
    """Section -> field -> meaning, without lines of many fields, such as those of commands."""
    meanings = {section.title: _meanings(section) for section in sections}
    return json.dumps(meanings, indent=1, ensure_ascii=False) + "\n"


def _meanings(section: Section[Any]) -> dict[str, str]:
    return {
        fact.name: fact.meaning.replace("`", "")
        for entry in section.entries
        if isinstance(entry.facts, Facts)
        for fact in entry.facts.facts
    }
