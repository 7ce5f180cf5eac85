"""What a container command's HELP answers, read from the declarations of its subcommands."""

from __future__ import annotations

from protocol.replies import Reply, Status
from server.table.command import CommandTable


def help_of(table: CommandTable, container: bytes) -> Reply:
    """A heading, and of each subcommand its syntax and, four blanks in, its summary."""
    row = table.find(container)
    name = container.decode().upper()
    lines = [f"{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"]
    for child in row.subcommands.values() if row else ():
        lines += [child.syntax.removeprefix(name + " "), "    " + child.summary]
    return [Status(line.encode()) for line in lines]
