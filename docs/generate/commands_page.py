"""docs/commands.md, from the command table."""

from __future__ import annotations

from pathlib import Path

import server.commands  # noqa: F401  (fills the table)
from server.commands.admin.introspection import flag_names
from server.table.command import Command, CommandTable

DOCUMENT = Path(__file__).parents[1] / "commands.md"

HEADING = """\
# Commands

All commands of this server; `make docs` writes this page from the command table. The commands
behave as in Redis 7.4; differences are described at the command.
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
    return "\n".join(parts)


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
    return [
        f"- Since {row.since}, {arity}{complexity}.",
        f"- Flags: {flags}. ACL categories: {acl}.",
    ]
