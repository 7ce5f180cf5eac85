"""What a command is, and the table of all of them.

A command is declared once, above its handler: arity, flags, key specs, ACL categories, history.
The first paragraph of the handler's docstring is the summary, the second one the syntax. Arity
checks, key extraction, COMMAND and docs/commands.md all read this declaration.

    @command(
        "LPUSH",
        arity=-3,
        flags=Flags.WRITE | Flags.DENYOOM | Flags.FAST,
        group="list",
        since="1.0.0",
        keys=KeyRange(RW | INSERT),
    )
    def lpush(call: Call) -> Reply:
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntFlag, auto
from itertools import count
from typing import Any, ParamSpec, TypeAlias, TypeVar

from protocol.replies import Reply, Status
from server.table.documentation import (
    CATEGORY_OF_GROUP,
    Category,
    Deprecated,
    Group,
    History,
    OwnWords,
    Tip,
)
from server.table.keys import NOT_KEY, ChannelSpec, KeyRange, KeySpec, KeyUse
from server.table.syntax import ArgumentType


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
    # The server's own, which COMMAND INFO does not show.
    NOT_QUEUED = auto()  # runs at once inside MULTI: EXEC, DISCARD, WATCH, ...
    MAY_REPLICATE = auto()  # writes something without being a write command
    RUNS_QUEUE = auto()  # runs the commands that are queued since MULTI: EXEC
    TELLS_HEALTH = auto()  # asks whether the server can do its work: PING
    FOR_SUBSCRIBERS = auto()  # may be run by a client that is subscribed and speaks RESP2
    RUNS_SCRIPTS = auto()  # runs other commands, and may take long: EVAL, FCALL
    READS_OTHERS = auto()  # reads data that are not at its keys: SORT BY, FUNCTION LIST


INTERNAL = (
    Flags.NOT_QUEUED
    | Flags.MAY_REPLICATE
    | Flags.RUNS_QUEUE
    | Flags.TELLS_HEALTH
    | Flags.FOR_SUBSCRIBERS
    | Flags.RUNS_SCRIPTS
    | Flags.READS_OTHERS
)


NO_CLAIM = -1


class Block:
    """What a handler returns instead of a reply: the client waits. new_block() makes one."""

    __slots__ = (
        "argv",
        "but_for",
        "for_more",
        "keys",
        "kind",
        "on_no_key",
        "readers",
        "reads_as",
        "reads_on",
        "resume",
        "speaks_for",
        "timeout_ms",
        "wake_ms",
        "when_denied",
        "when_over",
    )

    keys: list[bytes]
    kind: type
    timeout_ms: int
    wake_ms: int
    when_over: Reply
    when_denied: Reply
    argv: list[bytes] | None
    on_no_key: bool
    for_more: bool
    reads_on: bool
    readers: Any
    resume: Any
    speaks_for: bytes | None
    reads_as: bytes | None
    but_for: bytes | None


def new_block(
    keys: list[bytes],
    kind: type,
    timeout_ms: int,
    when_over: Reply,
    when_denied: Reply = None,
    argv: list[bytes] | None = None,
    on_no_key: bool = False,
    for_more: bool = False,
    wake_ms: int = NO_CLAIM,
    reads_on: bool = False,
    speaks_for: bytes | None = None,
    readers: Any = None,
    resume: Any = None,
    reads_as: bytes | None = None,
    but_for: bytes | None = None,
) -> Block:
    """Have the client wait for one of *keys*.

    When one of them is ready and holds a *kind*, the command is run again from the start, with
    *argv* if that is given. After *timeout_ms* (0: never) the client gets *when_over*; it gets
    *when_denied* at once where waiting is not allowed (MULTI). With *on_no_key* a key that is gone
    or holds another type wakes the client too. With *for_more* what is added to a list that is
    there wakes it, and it keeps its place in the queue when that was not enough.

    A client that would claim what others have been given is woken by each delivery from its keys,
    and after *wake_ms*, when the first may be claimed (0: there is none yet; NO_CLAIM: it would
    not). With *reads_on* the command has not looked at all that is there: it is run again when
    others have had their turn.

    *readers* are those of a pattern that the client waits with; *resume* is what the command wants
    to know when it is run again.

    *speaks_for* is a name, for the waiters of one key: while a client has to wait, all that wait
    there with its name have to, and are not run again; except those that read as *but_for*.
    """
    made = Block.__new__(Block)
    made.keys = keys
    made.kind = kind
    made.timeout_ms = timeout_ms
    made.when_over = when_over
    made.when_denied = when_denied
    made.argv = argv
    made.on_no_key = on_no_key
    made.for_more = for_more
    made.wake_ms = wake_ms
    made.reads_on = reads_on
    made.readers = readers
    made.resume = resume
    made.speaks_for = speaks_for
    made.reads_as = reads_as
    made.but_for = but_for
    return made


Handler: TypeAlias = Callable[..., "Reply | Block"]
KeyFinder: TypeAlias = Callable[[list[bytes]], list[KeyUse]]
SecretFinder: TypeAlias = Callable[[list[bytes]], Iterable[int]]
H = TypeVar("H", bound=Handler)
P = ParamSpec("P")

REDACTED = b"(redacted)"  # stands for a secret

_numbers = count()  # of commands, in the order of their declarations


class Command:
    """One row of the table: the declaration of a command. *number* counts the rows from 0."""

    __slots__ = (
        "acl",
        "argument_types",
        "arity",
        "channels",
        "complexity",
        "deprecated",
        "first_key_at",
        "flags",
        "found_by",
        "get_keys",
        "group",
        "handler",
        "history",
        "keys",
        "name",
        "number",
        "one_key_at",
        "one_key_rights",
        "own",
        "secrets",
        "since",
        "spellings",
        "subcommands",
        "summary",
        "syntax",
        "tips",
    )

    def __init__(
        self,
        name: str,
        *,
        arity: int,
        flags: Flags,
        group: Group,
        since: str,
        complexity: str = "O(1)",
        keys: KeySpec | tuple[KeySpec, ...] = (),
        get_keys: KeyFinder | None = None,
        channels: ChannelSpec | None = None,
        secrets: SecretFinder | None = None,
        categories: Sequence[Category] | None = None,
        tips: Sequence[Tip] = (),
        deprecated: Deprecated | None = None,
        history: History = (),
        own: Sequence[OwnWords] = (),
        types: Mapping[str, ArgumentType] | None = None,
    ) -> None:
        """Declare the command that clients call *name* (``XGROUP CREATE``).

        *get_keys* finds the keys where the specs cannot. *secrets* finds the places of the words
        that MONITOR and SLOWLOG must not show. *categories* are the ACL categories besides those
        that follow from the flags: by default the one of the group. *own* are the words that Redis
        does not know. *types* are of arguments that have another type than ARGUMENT_TYPES gives
        their names.
        """
        self.name = name.lower().replace(" ", "|")  # as COMMANDSTATS has it: xgroup|create
        self.arity = arity  # argv's length; -n: at least n
        self.flags = int(flags)
        self.group = group
        self.since = since
        self.complexity = complexity
        self.keys = keys if isinstance(keys, tuple) else (keys,)
        self.found_by = tuple(spec for spec in self.keys if NOT_KEY not in spec.flags)
        self.one_key_at = _place_of_one_key(self.found_by)  # 0: not so simple
        # Where the first key stands, or most likely does.
        self.first_key_at = max(1, self.found_by[0].first if self.found_by else 0)
        self.one_key_rights = self.found_by[0].rights if self.one_key_at else 0
        self.get_keys = get_keys
        self.channels = channels  # that the user must have rights on
        self.secrets = secrets
        self.acl = _acl_categories(flags, group, categories)
        self.tips = tuple(tips)
        self.deprecated = deprecated
        self.history = history
        self.own = tuple(own)
        self.argument_types = types or {}
        self.handler: Handler | None = None
        self.summary = self.syntax = ""
        self.subcommands: dict[bytes, Command] = {}
        self.spellings: dict[bytes, Command] = {}  # of the subcommands: in lower and upper case
        self.number = next(_numbers)

    def attach(self, handler: Handler) -> None:
        """Let *handler* run the command, and take summary and syntax from its docstring."""
        paragraphs = [" ".join(text.split()) for text in (handler.__doc__ or "").split("\n\n")]
        self.handler = handler
        self.summary = paragraphs[0]
        self.syntax = paragraphs[1] if len(paragraphs) > 1 else ""

    def accepts(self, argc: int) -> bool:
        """Whether *argc* words, the name included, are a possible call."""
        return argc == self.arity if self.arity >= 0 else argc >= -self.arity

    def stands_alone(self) -> bool:
        """Whether the first word alone tells that it is this command."""
        return not self.subcommands and "|" not in self.name

    def keys_of(self, argv: list[bytes]) -> list[KeyUse]:
        """The keys that *argv* names, and what the command does with each. O(words).

        This is the one place that finds keys: for COMMAND GETKEYS, access checks and scripts alike.
        *argv* must have a number of words that the command accepts. There are no keys where they
        cannot be told, as in ``ZUNIONSTORE d 5 a``: the command refuses that.
        """
        if self.get_keys is not None:
            found: list[KeyUse] = self.get_keys(argv)
            return found
        if self.one_key_at:
            return [KeyUse(argv[self.one_key_at], self.found_by[0].flags)]
        uses: list[KeyUse] = []
        for spec in self.found_by:
            keys: list[bytes] | None = spec.keys_in(argv)
            if keys is None:
                return []
            uses += [KeyUse(key, spec.flags) for key in keys]
        return uses

    def without_secrets(self, argv: list[bytes]) -> list[bytes]:
        """*argv* as MONITOR and SLOWLOG may show it. O(words) if the command has secrets."""
        if self.secrets is None:
            return argv
        hidden = frozenset(self.secrets(argv))
        return [REDACTED if at in hidden else word for at, word in enumerate(argv)]


def _place_of_one_key(specs: tuple[KeySpec, ...]) -> int:
    """Where the key of most commands stands: they have one, at a fixed place. Otherwise 0."""
    first = specs[0] if len(specs) == 1 else None
    return first.first if isinstance(first, KeyRange) and first.last is None else 0


def _acl_categories(
    flags: Flags, group: Group, declared: Sequence[Category] | None
) -> frozenset[Category]:
    """The *declared* categories, by default the group's, and those that follow from *flags*."""
    if declared is None:
        declared = [CATEGORY_OF_GROUP[group]] if group in CATEGORY_OF_GROUP else []
    categories: set[Category] = {*declared, "fast" if flags & Flags.FAST else "slow"}
    if flags & Flags.WRITE:
        categories.add("write")
    if flags & Flags.READONLY and "scripting" not in categories:
        categories.add("read")
    if flags & Flags.ADMIN:
        categories |= {"admin", "dangerous"}
    if flags & Flags.BLOCKING:
        categories.add("blocking")
    if flags & Flags.PUBSUB:
        categories.add("pubsub")
    return frozenset(categories)


class CommandTable:
    """All commands, by name.

    Most of them are declared when the server serves already, see server/commands/__init__.py. Who
    asks for a command that is not declared yet, or for all, waits until all are.
    """

    def __init__(self) -> None:
        self._rows: dict[bytes, Command] = {}
        self._all_rows: list[Command] = []  # with the subcommands, in the order of declaration
        self.by_spelling: dict[bytes, Command] = {}  # in lower and in upper case
        self._rest: Iterator[None] = iter(())

    def __iter__(self) -> Iterator[Command]:
        self.complete()
        return iter(self._rows.values())

    def __len__(self) -> int:
        self.complete()
        return len(self._rows)

    def all_rows(self) -> Sequence[Command]:
        """All commands and all subcommands. Rows are added, and none ever goes."""
        self.complete()
        return self._all_rows

    def go_on_with(self, declarations: Iterator[None]) -> None:
        """Each step of *declarations* will declare some more commands, until it ends."""
        self._rest = declarations

    def declare_some(self) -> bool:
        """Take one step. False if all commands were declared before."""
        return next(self._rest, self) is not self

    def complete(self) -> None:
        """Declare all that are missing."""
        while self.declare_some():
            pass

    def find(self, name: bytes) -> Command | None:
        """The command *name*, in upper or lower case; a container has all its subcommands."""
        name = name.lower()
        row = self._rows.get(name)
        if row is None or row.handler is None:
            self.complete()
            row = self._rows.get(name)
        return row

    def called_by(self, argv: list[bytes]) -> Command | None:
        """The command or the subcommand that *argv* calls."""
        row = self.find(argv[0])
        if row is None or not row.subcommands or len(argv) == 1:
            return row
        return row.subcommands.get(argv[1].lower(), row if row.handler else None)

    def named(self, name: bytes) -> Command | None:
        """The command *name*, which may be a subcommand written as ``xgroup|create``."""
        parent, _, child = name.lower().partition(b"|")
        row = self.find(parent)
        return row.subcommands.get(child) if row is not None and child else row

    def add(self, row: Command) -> None:
        """Enter *row*; a subcommand (``XGROUP CREATE``) goes below its container, made before.

        Raises ValueError if there is one of that name.
        """
        parent, _, child = row.name.partition("|")
        rows = self._rows[parent.encode()].subcommands if child else self._rows
        name = (child or parent).encode()
        if name in rows:
            raise ValueError(f"{row.name} is declared twice")
        rows[name] = row
        self._all_rows.append(row)
        spellings = self._rows[parent.encode()].spellings if child else self.by_spelling
        spellings[name] = spellings[name.upper()] = row

    def container(self, name: str, *, group: Group, since: str, summary: str) -> None:
        """Declare a command that has only subcommands."""
        row = Command(
            name,
            arity=-2,
            flags=Flags(0),
            group=group,
            since=since,
            complexity="Depends on subcommand.",
            categories=(),
        )
        row.summary = summary
        self.add(row)

    def container_help(
        self,
        name: str,
        *,
        group: Group,
        since: str,
        flags: Flags = Flags.LOADING | Flags.STALE,
        categories: Sequence[Category] | None = None,
    ) -> None:
        """Declare the subcommand HELP of *name*: of each subcommand its syntax and its summary."""
        row = Command(
            f"{name} HELP", arity=2, flags=flags, group=group, since=since, categories=categories
        )
        container = self._rows[name.lower().encode()]

        def list_subcommands(_call: object) -> Reply:
            lines = [f"{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"]
            for child in container.subcommands.values():
                lines += [child.syntax.removeprefix(name + " "), "    " + child.summary]
            return [Status(line.encode()) for line in lines]

        row.handler = list_subcommands
        row.summary, row.syntax = "Lists the subcommands.", f"{name} HELP"
        self.add(row)


def _declaring(
    table: CommandTable, declaration: Callable[P, Command]
) -> Callable[P, Callable[[H], H]]:
    """A decorator with the parameters of *declaration*, which enters handlers in *table*."""

    def command(*args: P.args, **kwargs: P.kwargs) -> Callable[[H], H]:
        row = declaration(*args, **kwargs)

        def declare(handler: H) -> H:
            row.attach(handler)
            table.add(row)
            return handler

        return declare

    return command


TABLE = CommandTable()
command = _declaring(TABLE, Command)
container = TABLE.container
container_help = TABLE.container_help
