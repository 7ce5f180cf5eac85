"""rename-command: the names by which clients call commands, if these are not their own.

    rename-command FLUSHALL wipe-b840fc02      FLUSHALL is unknown, WIPE-B840FC02 is the command
    rename-command CONFIG ""                   nobody can call CONFIG

Everything else knows a command by its own name: ACL, COMMAND, INFO, and what is logged.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.table.command import Command

Renaming = tuple[bytes, bytes]  # the present name, and the new one; b"": none


class BadRenaming(Exception):
    """A command cannot be renamed; the message is Redis's."""


def renamed(spellings: dict[bytes, Command], changes: Sequence[Renaming]) -> dict[bytes, Command]:
    """*spellings* of the names (in lower and upper case) after *changes*.

    They are the same object if nothing changes. Raises BadRenaming.
    """
    names = dict(spellings) if changes else spellings
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
