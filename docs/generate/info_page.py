"""docs/info.md, from the facts of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from server.observe.fact import Fact, Facts, Family, Kind, Section, Spread, Unit

DOCUMENT = Path(__file__).parents[1] / "info.md"

HEADING = """\
# INFO

What INFO tells, section by section; `make docs` writes this page from the server's table of facts.
`INFO` alone shows the default sections, `INFO everything` shows all, `INFO memory stats` those two.

A counter grows only: since the start, or since `CONFIG RESETSTAT`. A gauge is what something is
now. The names are those of Redis; what is called a slave in them is a replica.
"""

COLUMNS = ["| Field | Unit | Kind | Meaning |", "|---|---|---|---|"]
ON_REQUEST = "Only on request: by its name, by `all`, or by `everything`."


def document(sections: tuple[Section[Any], ...]) -> str:
    """The whole of docs/info.md."""
    return "\n".join([HEADING, *map(section_text, sections)])


def section_text(section: Section[Any]) -> str:
    """One section: a table of what is always there, and one of each group that is not."""
    meaning = section.meaning if section.is_default else f"{section.meaning} {ON_REQUEST}"
    lines = [f"## {section.title}", "", meaning, ""]
    tables: dict[str, list[str]] = {"": []}
    for entry in section.entries:
        tables.setdefault(_introduction(entry.facts), []).extend(_rows(entry.facts))
    for introduction, rows in tables.items():
        if rows:
            lines += [introduction, ""] if introduction else []
            lines += [*COLUMNS, *rows, ""]
    return "\n".join(lines)


def _introduction(facts: Facts[Any] | Family[Any] | Spread) -> str:
    """What stands above the table of *facts*; "" if they are always there."""
    if isinstance(facts, Facts):
        return f"{facts.when}:" if facts.when else ""
    when = f" {facts.when}." if facts.when else ""
    return f"`{facts.prefix}<{facts.label}>`, a line for each {facts.label}.{when}"


def _rows(facts: Facts[Any] | Family[Any] | Spread) -> list[str]:
    ending = f"<{facts.by}>" if isinstance(facts, Spread) else ""
    return [_row(fact, ending) for fact in facts.facts]


def _row(fact: Fact[Any], ending: str) -> str:
    name = f"`{fact.name}{ending}`" if fact.name or ending else "the whole line"
    unit = fact.unit.value
    if fact.unit is Unit.FLAG and fact.words is not None:
        unit = " or ".join(fact.words)
    kind = "" if fact.kind is Kind.TEXT else fact.kind.value
    return f"| {name} | {unit} | {kind} | {fact.meaning} |"
