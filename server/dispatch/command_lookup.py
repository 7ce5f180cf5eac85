"""Which command the first words name, by the names that clients know it by.

    SET k v              SET
    set k v              SET        names are looked up as they are written, then in lower case
    CONFIG GET maxmemory CONFIG|GET
    FLUSHALL             none, if rename-command has taken that name from clients

Most commands are declared while the server serves already; naming one of these has all of them
declared at once.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from protocol.requests import know_names
from server.table import errors
from server.table.command import TABLE, Command
from server.table.renaming import renamed


class CommandLookup:
    """The commands of the table. *renames* is what rename-command says: old names and new ones."""

    __slots__ = ("_called", "_called_name", "_name", "_named", "_spellings")

    def __init__(self, renames: list[tuple[bytes, bytes]]) -> None:
        self._spellings = renamed(TABLE, renames)
        # The name that was looked up last. In a row of one command it is always the same object.
        self._name: bytes | None = None
        self._named: Command | None = None
        self._called_name = b""  # the same for scripts, where it is another object each time
        self._called: Command | None = None
        know_names(self._spellings)

    def named(self, name: bytes) -> Command | None:
        """The command of that *name*, if it is written as in the table; not a subcommand."""
        if name is self._name:
            return self._named
        command = self._spellings.get(name)
        if command is not None:
            self._name, self._named = name, command
        return command

    def called(self, name: bytes) -> Command | None:
        """As named(), for a script."""
        if name == self._called_name:
            return self._called
        command = self._spellings.get(name)
        if command is not None:
            self._called_name, self._called = name, command
        return command

    def find(self, argv: list[bytes], logged: bool = False) -> Command | ErrorReply:
        """The command, or the subcommand, that *argv* names; the error if there is none.

        What was *logged* may also have a name that rename-command has taken from clients.
        """
        command = self._spellings.get(argv[0]) or self._spellings.get(argv[0].lower())
        if command is None:
            TABLE.complete()
            command = self._spellings.get(argv[0].lower())
        if command is None and logged:
            command = TABLE.find(argv[0])
        if command is None:
            return errors.unknown_command(argv)
        if len(argv) == 1 or not (command.subcommands or command.handler is None):
            return command
        child = command.spellings.get(argv[1]) or command.subcommands.get(argv[1].lower())
        if child is None:
            TABLE.complete()  # a container may be there before the last of its subcommands
            child = command.subcommands.get(argv[1].lower())
            if child is None:
                return errors.unknown_subcommand(command.name, argv[1])
        return child

    def find_any(self, argv: list[bytes]) -> Command | None:
        """The command, or the subcommand, that *argv* names; None if there is none."""
        found = self.find(argv)
        return None if isinstance(found, ErrorReply) else found
