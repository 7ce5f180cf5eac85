"""Which commands a selector allows.

    +@all -@dangerous +config|get +select|0

    everything  True                        what holds for a command that no rule names
    exceptions  {flushall, keys, config, config|set, ...}
    first_words {select: {0}}               allowed with this first argument only
    rules       [-@dangerous, +config|get, +select|0]    as they are shown

A command and each of its subcommands count for themselves; a rule on the command is one on all of
them.
"""

from __future__ import annotations

from collections.abc import Iterator

from server.table.command import TABLE, Command, Flags
from server.users import bad_rule
from server.users.bad_rule import BadRule, UnknownCommand

NO_AUTH = int(Flags.NO_AUTH)  # AUTH, HELLO, QUIT, RESET: everybody may run them

# Named by ACL CAT, in this order.
CATEGORIES = (
    "keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap",
    "hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous",
    "connection", "transaction", "scripting",
)  # fmt: skip


def all_commands() -> Iterator[Command]:
    """Every command and every subcommand."""
    for row in TABLE:
        yield row
        yield from row.subcommands.values()


class CommandRights:
    """Rules on commands, applied one after the other: the last one that names a command counts."""

    __slots__ = ("_everything", "_exceptions", "_first_words", "_parts", "_rules")

    def __init__(self) -> None:
        self.set_all(allow=False)

    def copy(self) -> CommandRights:
        other = CommandRights()
        other._everything = self._everything
        other._exceptions = set(self._exceptions)
        other._first_words = {name: set(words) for name, words in self._first_words.items()}
        other._rules = dict(self._rules)
        other._parts = {name: dict(parts) for name, parts in self._parts.items()}
        return other

    # ------------------------------------------------------------------ what is allowed

    @property
    def are_full(self) -> bool:
        """Whether every command is allowed."""
        return self._everything and not self._exceptions

    def allow(self, command: Command, argv: list[bytes]) -> bool:
        """Whether *argv*, a call of *command*, is allowed."""
        if (command.name in self._exceptions) is not self._everything:
            return True
        if command.flags & NO_AUTH:
            return True
        words = self._first_words.get(command.name)
        return words is not None and len(argv) > 1 and argv[1].lower() in words

    # ------------------------------------------------------------------ rules

    def set_all(self, allow: bool) -> None:
        """``+@all`` or ``-@all``: all earlier rules have no effect any more."""
        self._everything = allow
        self._exceptions: set[str] = set()
        self._first_words: dict[str, set[bytes]] = {}
        self._rules: dict[bytes, bytes] = {}  # by what they name, the last one last
        # What has a rule of its own: of a command, its subcommands and its first words.
        self._parts: dict[bytes, dict[bytes, None]] = {}

    def change(self, name: bytes, allow: bool) -> None:
        """``+get``, ``-config|set``, ``+select|0``. Raises BadRule."""
        command = None if name.endswith(b"|") else TABLE.named(name)
        if command is None and allow and b"|" in name:
            self._allow_first_word(name)
        elif command is None:
            raise UnknownCommand
        else:
            self._set(command, allow)
            self._note(command.name.encode(), allow)

    def change_category(self, name: bytes, allow: bool) -> None:
        """``+@read``, ``-@dangerous``. Raises UnknownCommand."""
        wanted = name.decode("latin-1").lower()
        if wanted not in CATEGORIES:
            raise UnknownCommand
        for command in all_commands():
            if wanted in command.acl:
                self._set(command, allow)
        self._note(b"@" + wanted.encode(), allow)

    def _allow_first_word(self, name: bytes) -> None:
        """``+select|0``: the command is allowed with this first argument. Raises BadRule."""
        known, _, word = name.rpartition(b"|")
        command = TABLE.named(known)
        if command is None:
            raise UnknownCommand
        if b"|" in known:
            raise BadRule(bad_rule.FIRST_WORD_OF_SUBCOMMAND)
        if not word:
            raise BadRule(bad_rule.SYNTAX)
        if command.subcommands:
            raise UnknownCommand
        self._first_words.setdefault(command.name, set()).add(word.lower())
        self._note(name.lower(), allow=True)

    def _set(self, command: Command, allow: bool) -> None:
        for row in (command, *command.subcommands.values()):
            if allow is self._everything:
                self._exceptions.discard(row.name)
            else:
                self._exceptions.add(row.name)
            self._first_words.pop(row.name, None)

    def _note(self, name: bytes, allow: bool) -> None:
        """Add a rule to those that are shown, in place of those that it makes void."""
        self._rules.pop(name, None)
        for part in self._parts.pop(name, ()):
            del self._rules[part]
        self._rules[name] = (b"+" if allow else b"-") + name
        whole, _, _ = name.rpartition(b"|")
        if whole:
            self._parts.setdefault(whole, {})[name] = None

    def description(self) -> bytes:
        """The rules that lead here: ``-@all +get``."""
        return b" ".join([b"+@all" if self._everything else b"-@all", *self._rules.values()])
