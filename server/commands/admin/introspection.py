"""COMMAND: shows the command table.

A row of COMMAND INFO and the map of COMMAND DOCS are made from a command's declaration and from
the syntax in its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, repeat

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply, Set, Status
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import INTERNAL, TABLE, Command, Flags, command, container_help
from server.table.documentation import OwnWords, Tip
from server.table.keys import NOT_KEY, KeyFlags, KeyRange, KeySpec, KeyUse, Search
from server.table.syntax import Argument, arguments_of
from storage import glob

ANYBODY = Flags.LOADING | Flags.STALE
PER_COMMAND = "O(N) where N is the number of commands to look up."
EVERY_COMMAND = "O(N) where N is the number of commands."

INVALID_COMMAND = ErrorReply("ERR", "Invalid command specified")
INVALID_COUNT = ErrorReply("ERR", "Invalid number of arguments specified for command")
INVALID_ARGUMENTS = ErrorReply("ERR", "Invalid arguments specified for command")
NO_KEYS = ErrorReply("ERR", "The command has no key arguments")

# ---------------------------------------------------------------------- long replies


def _encoded(call: Call, make: Callable[[], Reply]) -> Encoder:
    """The reply that *make* makes. Clients ask for it when they connect: its bytes are kept."""
    out = call.client.out.another()
    out.append_shared(_bytes_of(make, out.resp, len(TABLE.all_rows())))
    return out


@lru_cache(maxsize=4)  # two replies, in two versions of the protocol
def _bytes_of(make: Callable[[], Reply], resp: int, _rows: int) -> bytes:
    """The bytes of what *make* makes, as long as the table has so many *_rows*."""
    out = Encoder(resp)
    out.write(make())
    return out.take()


# ---------------------------------------------------------------------- COMMAND and COMMAND INFO


@command(
    "COMMAND",
    arity=-1,
    flags=ANYBODY,
    group="server",
    since="2.8.13",
    complexity=EVERY_COMMAND,
    categories=["connection"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def command_(call: Call) -> Reply:
    """Describes all commands.

    COMMAND
    """
    return _encoded(call, _all_rows)


@command(
    "COMMAND INFO",
    arity=-2,
    flags=ANYBODY,
    group="server",
    since="2.8.13",
    complexity=PER_COMMAND,
    categories=["connection"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def command_info(call: Call) -> Reply:
    """Describes the named commands, or all.

    COMMAND INFO [command-name [command-name ...]]
    """
    names = call.argv[2:]
    if not names:
        return _encoded(call, _all_rows)
    rows = (TABLE.named(name) for name in names)
    return [None if row is None else info_of(row) for row in rows]


def _all_rows() -> Reply:
    return [info_of(row) for row in TABLE]


def info_of(row: Command) -> list[Reply]:
    """The ten elements of a row of COMMAND INFO."""
    subcommands = [info_of(child) for child in row.subcommands.values()]
    return [
        row.name.encode(),
        row.arity,
        Set(Status(flag.lower().encode()) for flag in flag_names(row)),
        *_range_of_keys(row.keys),
        Set(Status(b"@" + category.encode()) for category in sorted(row.acl)),
        Set(tip.encode() for tip in row.tips),
        Set(_shown_spec(spec) for spec in row.keys),
        list(subcommands) if subcommands else Set(),
    ]


def flag_names(row: Command) -> list[str]:
    """The flags of *row* that COMMAND INFO shows, in capitals."""
    return [str(flag.name) for flag in Flags(row.flags & ~INTERNAL)]


def _range_of_keys(specs: tuple[KeySpec, ...]) -> tuple[int, int, int]:
    """First key, last key and step, which older clients read; zeros if no key has a fixed place."""
    ranges = [spec for spec in specs if isinstance(spec, KeyRange)]
    if not ranges:
        return 0, 0, 0
    first, last = ranges[0], ranges[-1]
    return first.first, last.first if last.last is None else last.last, first.step


def _shown_spec(spec: KeySpec) -> Reply:
    first, others = spec.searches()
    return {
        b"flags": _words(spec.flags),
        b"begin_search": _shown_search(first),
        b"find_keys": _shown_search(others),
    }


def _words(flags: KeyFlags) -> Set:
    return Set(Status(word.encode()) for word in flags.words)


def _shown_search(search: Search) -> Reply:
    parameters: dict[bytes, Reply] = {
        name.encode(): value.encode() if isinstance(value, str) else value
        for name, value in search.spec.items()
    }
    return {b"type": search.type.encode(), b"spec": parameters}


# ---------------------------------------------------------------------- COMMAND DOCS


@command(
    "COMMAND DOCS",
    arity=-2,
    flags=ANYBODY,
    group="server",
    since="7.0.0",
    complexity=PER_COMMAND,
    categories=["connection"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def command_docs(call: Call) -> Reply:
    """Documents the named commands, or all.

    COMMAND DOCS [command-name [command-name ...]]
    """
    names = call.argv[2:]
    if not names:
        return _encoded(call, _all_docs)
    rows = (TABLE.named(name) for name in names)
    return {row.name.encode(): docs_of(row) for row in rows if row is not None}


def _all_docs() -> Reply:
    return {row.name.encode(): docs_of(row) for row in TABLE}


def docs_of(row: Command) -> dict[bytes, Reply]:
    """The map of COMMAND DOCS for one command. Raises ValueError if its syntax is malformed."""
    docs: dict[bytes, Reply] = {
        b"summary": row.summary.encode(),
        b"since": row.since.encode(),
        b"group": row.group.encode(),
    }
    if row.complexity:
        docs[b"complexity"] = row.complexity.encode()
    if row.deprecated is not None:
        docs[b"doc_flags"] = Set([Status(b"deprecated")])
        docs[b"deprecated_since"] = row.deprecated.since.encode()
        docs[b"replaced_by"] = row.deprecated.replaced_by.encode()
    history = [*row.history, *map(_row_of_history, row.own)]
    if history:
        docs[b"history"] = Set([version.encode(), what.encode()] for version, what in history)
    arguments = arguments_of(row.syntax, row.name, row.argument_types) if row.syntax else []
    if arguments:
        last = len(row.keys) - 1  # the spec of all keys that are left
        docs[b"arguments"] = _shown(arguments, chain(range(last), repeat(last)))
    if row.subcommands:
        docs[b"subcommands"] = {
            child.name.encode(): docs_of(child) for child in row.subcommands.values()
        }
    return docs


def _row_of_history(own: OwnWords) -> tuple[str, str]:
    return f"Penstock {own.since}", f"{', '.join(own.words.split())}: {own.meaning}."


def _shown(arguments: Sequence[Argument], spec_numbers: Iterator[int]) -> Reply:
    """*arguments* as COMMAND DOCS shows them; each key takes one of *spec_numbers*."""
    shown: list[Reply] = []
    for argument in arguments:
        row: dict[bytes, Reply] = {b"name": argument.name.encode(), b"type": argument.type.encode()}
        if argument.type == "key":
            row[b"key_spec_index"] = next(spec_numbers)
        if argument.token:
            row[b"token"] = argument.token.encode()
        if argument.flags:
            row[b"flags"] = Set(Status(flag.encode()) for flag in argument.flags)
        if argument.arguments:
            row[b"arguments"] = _shown(argument.arguments, spec_numbers)
        shown.append(row)
    return shown


# ---------------------------------------------------------------------- COMMAND COUNT and LIST


@command(
    "COMMAND COUNT",
    arity=2,
    flags=ANYBODY,
    group="server",
    since="2.8.13",
    categories=["connection"],
)
def command_count(call: Call) -> Reply:
    """Counts the commands.

    COMMAND COUNT
    """
    return len(TABLE)


@command(
    "COMMAND LIST",
    arity=-2,
    flags=ANYBODY,
    group="server",
    since="7.0.0",
    complexity=EVERY_COMMAND,
    categories=["connection"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def command_list(call: Call) -> Reply:
    """Lists the names of all commands, or of those of an ACL category or a pattern.

    COMMAND LIST [FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]
    """
    args = Args(call.argv, 2)
    by, wanted = b"", b""
    if args.left():
        if not args.take_word(b"FILTERBY"):
            raise errors.SYNTAX
        word = args.take_word(b"MODULE", b"ACLCAT", b"PATTERN")
        if word is None or args.left() != 1:
            raise errors.SYNTAX
        by, wanted = word, args.take()
    return [
        row.name.encode()
        for parent in TABLE
        for row in (parent, *parent.subcommands.values())
        if _passes(row, by, wanted)
    ]


def _passes(row: Command, by: bytes, wanted: bytes) -> bool:
    """Whether *row* passes the filter. No command belongs to a module."""
    if not by:
        return True
    if by == b"ACLCAT":
        return wanted.lower() in (category.encode() for category in row.acl)
    return by == b"PATTERN" and glob.match(wanted, row.name.encode(), nocase=True)


# ---------------------------------------------------------------------- COMMAND GETKEYS


@command(
    "COMMAND GETKEYS",
    arity=-3,
    flags=ANYBODY,
    group="server",
    since="2.8.13",
    complexity="O(N) where N is the number of arguments to the command.",
    categories=["connection"],
)
def command_getkeys(call: Call) -> Reply:
    """Finds the keys that a complete command names.

    COMMAND GETKEYS command [arg [arg ...]]
    """
    return [use.key for use in _keys_in(call, call.argv[2:])]


@command(
    "COMMAND GETKEYSANDFLAGS",
    arity=-3,
    flags=ANYBODY,
    group="server",
    since="7.0.0",
    complexity="O(N) where N is the number of arguments to the command.",
    categories=["connection"],
)
def command_getkeysandflags(call: Call) -> Reply:
    """Finds the keys that a complete command names, and tells what it does with each.

    COMMAND GETKEYSANDFLAGS command [arg [arg ...]]
    """
    return [[use.key, _words(use.flags)] for use in _keys_in(call, call.argv[2:])]


def _keys_in(call: Call, argv: list[bytes]) -> list[KeyUse]:
    """The keys of the command *argv*. Raises ErrorReply if it never has any, or could not run."""
    row = TABLE.called_by(argv)
    if row is None:
        raise INVALID_COMMAND
    if all(NOT_KEY in spec.flags for spec in row.keys):
        raise NO_KEYS
    if not row.accepts(len(argv)):
        raise INVALID_COUNT
    uses: list[KeyUse] = row.keys_of(argv)
    if not (uses or row.flags & Flags.NO_MANDATORY_KEYS):
        raise INVALID_ARGUMENTS
    return uses


container_help("COMMAND", flags=ANYBODY, group="server", since="5.0.0", categories=["connection"])
