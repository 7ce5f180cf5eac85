"""What a command is, and the table of all of them.

A command is declared once, above its handler; arity checks, key positions, ACL categories, COMMAND
INFO and DOCS, and docs/commands.md are all read from that declaration. The handler's docstring
opens with the summary; its second paragraph is the syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntFlag, auto
from typing import Any, TypeAlias, TypeVar

from protocol.replies import Reply


class Flags(IntFlag):
    """What a command does, in the words of COMMAND INFO."""

    WRITE = auto()
    READONLY = auto()
    DENYOOM = auto()
    ADMIN = auto()
    PUBSUB = auto()
    NOSCRIPT = auto()
    BLOCKING = auto()
    LOADING = auto()  # may run while data is loaded
    STALE = auto()  # may run on a replica that lost its master
    SKIP_MONITOR = auto()
    SKIP_SLOWLOG = auto()
    ASKING = auto()  # comes from a node of a cluster
    FAST = auto()
    NO_AUTH = auto()  # may run before authentication
    NO_MULTI = auto()  # not allowed inside MULTI
    MOVABLEKEYS = auto()
    ALLOW_BUSY = auto()
    NO_ASYNC_LOADING = auto()
    NO_MANDATORY_KEYS = auto()
    NOT_QUEUED = auto()  # runs at once inside MULTI: EXEC, DISCARD, WATCH, ...; not in COMMAND INFO
    MAY_REPLICATE = auto()  # writes something without being a write command; not in COMMAND INFO


class Keys:
    """Where the keys stand in argv: one range. *last* counts from the end when negative.

    *first*, *last* and *step* are also what COMMAND INFO shows.
    """

    __slots__ = ("access", "first", "last", "step")

    def __init__(self, first: int, last: int, step: int = 1, access: str = "RW") -> None:
        self.first = first
        self.last = last
        self.step = step
        self.access = access  # RO, RW, OW (overwrites) or RM (removes), as in key specs

    def of(self, argv: list[bytes]) -> list[bytes]:
        """The keys that *argv* names."""
        if self.last == self.first:
            return [argv[self.first]]
        end = self.last if self.last >= 0 else len(argv) + self.last
        return argv[self.first : end + 1 : self.step]


class NumberedKeys(Keys):
    """Keys behind their count: ``LMPOP 2 a b LEFT`` has it at *count_at* = 1."""

    __slots__ = ("count_at",)

    def __init__(self, count_at: int, access: str = "RW") -> None:
        super().__init__(0, 0, 0, access)
        self.count_at = count_at

    def of(self, argv: list[bytes]) -> list[bytes]:
        try:
            count = int(argv[self.count_at])
        except ValueError:
            return []
        first = self.count_at + 1
        return argv[first : first + count] if 0 < count <= len(argv) - first else []


class StreamKeys(Keys):
    """The first half of what follows the option STREAMS, as XREAD itself finds it.

    *options_at* is where options begin; *skips* tells how many words an option takes along, so that
    a group or a consumer named ``STREAMS`` is not taken for the option.
    """

    __slots__ = ("options_at", "skips")

    def __init__(self, options_at: int, skips: dict[bytes, int], access: str) -> None:
        super().__init__(0, 0, 0, access)
        self.options_at = options_at
        self.skips = skips

    def of(self, argv: list[bytes]) -> list[bytes]:
        names = behind_option(b"STREAMS", argv, self.options_at, self.skips)
        return names[: len(names) // 2] if names and len(names) % 2 == 0 else []


class KeyOrKeys(Keys):
    """One key at *first* or, if that is empty, all that follow the option KEYS, as MIGRATE has it.

    *options_at* and *skips* are as for StreamKeys.
    """

    __slots__ = ("options_at", "skips")

    def __init__(self, first: int, options_at: int, skips: dict[bytes, int]) -> None:
        super().__init__(first, first)
        self.options_at = options_at
        self.skips = skips

    def of(self, argv: list[bytes]) -> list[bytes]:
        names = behind_option(b"KEYS", argv, self.options_at, self.skips)
        if names is None:
            return [argv[self.first]]
        return [] if argv[self.first] else names


def behind_option(
    option: bytes, argv: list[bytes], at: int, skips: dict[bytes, int]
) -> list[bytes] | None:
    """What follows *option*, looked for from *at* on; None if it is not there."""
    while at < len(argv):
        word = argv[at].upper()
        if word == option:
            return argv[at + 1 :]
        at += 1 + skips.get(word, 0)
    return None


class Block:
    """A handler's answer when it has nothing to give yet: wait for one of *keys*.

    When one of them is ready and holds a *kind*, the command is run again from the start, with
    *argv* if that is given. After *timeout_ms* (0: never) the client gets *when_over*; it gets
    *when_denied* at once where waiting is not allowed (MULTI). With *on_no_key* a key that is gone
    or holds another type wakes the client too.
    """

    __slots__ = ("argv", "keys", "kind", "on_no_key", "timeout_ms", "when_denied", "when_over")

    def __init__(
        self,
        keys: list[bytes],
        kind: type,
        timeout_ms: int,
        when_over: Reply,
        when_denied: Reply = None,
        argv: list[bytes] | None = None,
        on_no_key: bool = False,
    ) -> None:
        self.keys = keys
        self.kind = kind
        self.timeout_ms = timeout_ms
        self.when_over = when_over
        self.when_denied = when_denied
        self.argv = argv
        self.on_no_key = on_no_key


Handler: TypeAlias = Callable[..., "Reply | Block"]
H = TypeVar("H", bound=Handler)


class Command:
    """One row of the table, with what COMMANDSTATS counts."""

    __slots__ = (
        "acl",
        "arity",
        "calls",
        "complexity",
        "failed",
        "flags",
        "group",
        "handler",
        "keys",
        "name",
        "nanoseconds",
        "rejected",
        "since",
        "subcommands",
        "summary",
        "syntax",
    )

    def __init__(
        self,
        name: str,
        *,
        arity: int,
        flags: int,
        group: str,
        since: str,
        complexity: str = "O(1)",
        keys: Keys | None = None,
        acl: frozenset[str] = frozenset(),
        handler: Handler | None = None,
    ) -> None:
        self.name = name.lower().replace(" ", "|")  # as commandstats has it: xgroup|create
        self.arity = arity  # argv's length; -n: at least n
        self.flags = int(flags)
        self.group = group
        self.since = since
        self.complexity = complexity
        self.keys = keys
        self.acl = acl
        self.handler = handler
        self.summary, self.syntax = _summary_and_syntax(handler)
        self.subcommands: dict[bytes, Command] = {}
        self.reset_stats()

    def reset_stats(self) -> None:
        self.calls = 0
        self.nanoseconds = 0
        self.rejected = 0  # refused before it ran
        self.failed = 0  # answered an error

    def accepts(self, argc: int) -> bool:
        """Whether *argc* words, the name included, are a possible call."""
        return argc == self.arity if self.arity >= 0 else argc >= -self.arity

    def stands_alone(self) -> bool:
        """Whether the first word alone tells that it is this command."""
        return not self.subcommands and "|" not in self.name

    def keys_of(self, argv: list[bytes]) -> list[bytes]:
        """The keys that *argv* names: for execution, COMMAND GETKEYS and access checks alike."""
        return [] if self.keys is None else self.keys.of(argv)


def _summary_and_syntax(handler: Handler | None) -> tuple[str, str]:
    text = (handler.__doc__ if handler is not None else None) or ""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return paragraphs[0], paragraphs[1] if len(paragraphs) > 1 else ""


class CommandTable:
    """All commands, by name."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Command] = {}
        self.by_spelling: dict[bytes, Command] = {}  # also in capitals, for a quick first look

    def __iter__(self) -> Iterator[Command]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, name: bytes) -> Command | None:
        """The command of that name, in whatever letters."""
        return self._rows.get(name.lower())

    def add(self, row: Command) -> None:
        """Enter *row*; a subcommand (``XGROUP CREATE``) goes below its container, made before."""
        parent, _, child = row.name.partition("|")
        rows = self._rows[parent.encode()].subcommands if child else self._rows
        name = (child or parent).encode()
        if name in rows:
            raise ValueError(f"{row.name} is declared twice")
        rows[name] = row
        if not child:
            self.by_spelling[name] = self.by_spelling[name.upper()] = row

    def command(self, name: str, **declaration: Any) -> Callable[[H], H]:
        """Declare the function below to be *name*; the rest is what Command takes."""

        def declare(handler: H) -> H:
            self.add(Command(name, handler=handler, **_with_acl(declaration)))
            return handler

        return declare

    def container(self, name: str, *, group: str, since: str, summary: str) -> None:
        """Declare a command that has only subcommands."""
        row = Command(
            name,
            arity=-2,
            flags=0,
            group=group,
            since=since,
            complexity="Depends on subcommand.",
            acl=frozenset({"slow"}),
        )
        row.summary = summary
        self.add(row)


_GROUP_CATEGORY = {"generic": "keyspace", "transactions": "transaction", "server": ""}


def _with_acl(declaration: dict[str, Any]) -> dict[str, Any]:
    """Add the ACL categories that follow from flags and group."""
    flags, group = declaration["flags"], declaration["group"]
    words = {_GROUP_CATEGORY.get(group, group), "fast" if flags & Flags.FAST else "slow"}
    if flags & Flags.WRITE:
        words.add("write")
    if flags & Flags.READONLY and group not in ("connection", "server"):
        words.add("read")
    if flags & Flags.ADMIN:
        words |= {"admin", "dangerous"}
    if flags & Flags.BLOCKING:
        words.add("blocking")
    if flags & Flags.PUBSUB:
        words.add("pubsub")
    words |= set(declaration.pop("categories", ()))
    return {**declaration, "acl": frozenset(words - {""})}


TABLE = CommandTable()
command = TABLE.command
container = TABLE.container
