"""docs/commands.md, from the command table."""

from __future__ import annotations

from pathlib import Path

import server.commands  # noqa: F401  (fills the table)
from server.commands.admin.introspection import flag_names
from server.table import not_served
from server.table.command import Command, CommandTable
from server.table.documentation import OwnWords
from server.table.not_served import Family

DOCUMENT = Path(__file__).parents[1] / "commands.md"

HEADING = """\
# Commands

All commands of this server; `make docs` writes this page from the command table. The commands
behave as in Redis 8.6; differences are described at the command. Those that only Penstock has say
so, and so do words that only Penstock knows, of commands that are Redis's. What is not served is at
the end.
"""

MODULES = """\
**Modules** (`JSON.SET` and the like): the error says "{reason}". `loadmodule` ends the start.
"""


def document(table: CommandTable) -> str:
    """The whole of docs/commands.md."""
    groups: dict[str, list[Command]] = {}
    for parent in table:
        rows = parent.subcommands.values() or [parent]
        groups.setdefault(parent.group, []).extend(rows)
        if parent.subcommands and parent.handler:
            groups[parent.group].append(parent)
    parts = [HEADING]
    for group in sorted(groups):
        parts.append(f"## {group.capitalize()}\n")
        parts += [entry(row) for row in sorted(groups[group], key=lambda row: row.name)]
    parts.append("## Not served\n")
    parts += [refusal(family) for family in not_served.FAMILIES]
    parts.append(MODULES.format(reason=not_served.MODULES))
    return "\n".join(parts)


def refusal(family: Family) -> str:
    """Commands that are not served, and why."""
    names = ", ".join(f"`{name}`" for name in family.names)
    return f'**{family.title}**: {family.explanation} {names}: the error says "{family.reason}".\n'


def entry(row: Command) -> str:
    """One command: syntax, summary, and a line of facts."""
    lines = [f"### {row.name.upper().replace('|', ' ')}", "", f"`{row.syntax}`", "", row.summary]
    if row.deprecated is not None:
        since, instead = row.deprecated
        lines += ["", f"Deprecated since {since}; use {instead} instead."]
    return "\n".join([*lines, "", *_facts(row), ""])


def _facts(row: Command) -> list[str]:
    least = abs(row.arity)
    arity = f"{least} word" if least == 1 else f"{least} words"
    if row.arity < 0:
        arity += " or more"
    complexity = f"; {row.complexity.rstrip('.')}" if row.complexity else ""
    flags = ", ".join(name.lower() for name in flag_names(row)) or "none"
    acl = " ".join(f"@{category}" for category in sorted(row.acl))
    # No version of Redis begins with 0.
    since = f"Since Penstock {row.since}" if row.since.startswith("0.") else f"Since {row.since}"
    return [
        f"- {since}, {arity}{complexity}.",
        f"- Flags: {flags}. ACL categories: {acl}.",
        *map(_own_words, row.own),
    ]


def _own_words(own: OwnWords) -> str:
    words = ", ".join(f"`{word}`" for word in own.words.split())
    return f"- Penstock's own, since {own.since}: {words}: {own.meaning}."
