"""rename-command: the names by which clients call commands, if these are not their own.

    rename-command FLUSHALL wipe-b840fc02      FLUSHALL is unknown, WIPE-B840FC02 is the command
    rename-command CONFIG ""                   nobody can call CONFIG

Everything else knows a command by its own name: ACL, COMMAND, INFO, and what is logged.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.table.command import Command, CommandTable

Renaming = tuple[bytes, bytes]  # the present name, and the new one; b"": none


class BadRenaming(Exception):
    """A command cannot be renamed; the message is Redis's."""


def renamed(table: CommandTable, changes: Sequence[Renaming]) -> dict[bytes, Command]:
    """The commands of *table* by their names after *changes*, in lower and upper case.

    It is the table's own dictionary if nothing changes. Raises BadRenaming.
    """
    if not changes:
        return table.by_spelling
    table.complete()
    names = dict(table.by_spelling)
    for old, new in changes:
        command = names.pop(old.lower(), None)
        if command is None:
            raise BadRenaming("No such command in rename-command")
        names.pop(old.upper(), None)
        if new.lower() in names:
            raise BadRenaming("Target command name already exists")
        if new:
            names[new.lower()] = names[new.upper()] = command
    return names
