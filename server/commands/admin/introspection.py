"""COMMAND: what the command table tells of itself.

A row of COMMAND INFO, and the map of COMMAND DOCS, are made of a command's declaration, of the
syntax in its docstring, and of server.table.command_facts.
"""

from __future__ import annotations

from typing import TypeAlias

from protocol.replies import ErrorReply, Reply, Set, Status
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Command, Flags, KeyOrKeys, Keys, NumberedKeys, StreamKeys, command
from server.table.command_facts import DEPRECATED, HISTORY, KEY_USES, TIPS
from server.table.help_lines import help_of
from server.table.syntax import Argument, arguments_of
from storage import glob

Place: TypeAlias = tuple[bytes, Reply]  # the type of a search, and its parameters

ANYBODY = Flags.LOADING | Flags.STALE
PER_COMMAND = "O(N) where N is the number of commands to look up."
EVERY_COMMAND = "O(N) where N is the number of commands."

INVALID_COMMAND = ErrorReply("ERR", "Invalid command specified")
INVALID_COUNT = ErrorReply("ERR", "Invalid number of arguments specified for command")
INVALID_ARGUMENTS = ErrorReply("ERR", "Invalid arguments specified for command")
NO_KEYS = ErrorReply("ERR", "The command has no key arguments")

HIDDEN = (Flags.NOT_QUEUED, Flags.MAY_REPLICATE)  # flags that COMMAND INFO does not know

# ---------------------------------------------------------------------- COMMAND and COMMAND INFO


@command(
    "COMMAND", arity=-1, flags=ANYBODY, group="server", since="2.8.13", complexity=EVERY_COMMAND,
    categories=("connection",),
)  # fmt: skip
def command_(call: Call) -> Reply:
    """Describes all commands.

    COMMAND
    """
    if len(call.argv) > 1:
        raise errors.unknown_subcommand("command", call.argv[1])
    return _all(call)


@command(
    "COMMAND INFO", arity=-2, flags=ANYBODY, group="server", since="2.8.13", complexity=PER_COMMAND,
    categories=("connection",),
)  # fmt: skip
def command_info(call: Call) -> Reply:
    """Describes the named commands, or all.

    COMMAND INFO [command-name [command-name ...]]
    """
    names = call.argv[2:]
    if not names:
        return _all(call)
    rows = (_find(call, name) for name in names)
    return [None if row is None else info_of(row) for row in rows]


def _all(call: Call) -> list[Reply]:
    return [info_of(row) for row in call.server.table]


def info_of(row: Command) -> list[Reply]:
    """The ten elements of a row of COMMAND INFO."""
    keys = row.keys
    subcommands = [info_of(child) for child in row.subcommands.values()]
    return [
        row.name.encode(),
        row.arity,
        Set(Status(flag.lower().encode()) for flag in flag_names(row)),
        keys.first if keys else 0,
        keys.last if keys else 0,
        keys.step if keys else 0,
        Set(Status(b"@" + category.encode()) for category in sorted(row.acl)),
        Set(tip.encode() for tip in TIPS.get(row.name, ())),
        Set(_key_specs(row)),
        list(subcommands) if subcommands else Set(),
    ]


def flag_names(row: Command) -> list[str]:
    """The flags of *row* that COMMAND INFO shows, in capitals."""
    return [str(flag.name) for flag in Flags if row.flags & flag and flag not in HIDDEN]


# ---------------------------------------------------------------------- key specs


def _key_specs(row: Command) -> list[Reply]:
    """Where to find the keys, and what is done with them: one map for each kind of use."""
    if row.keys is None:
        return []
    uses = key_uses(row)
    if isinstance(row.keys, KeyOrKeys):
        option: Reply = {b"keyword": b"KEYS", b"startfrom": -2}
        one = Keys(row.keys.first, row.keys.first)
        return [
            _spec(uses[0], *_places(one)),
            _spec(uses[1], (b"keyword", option), _range(-1, 1, 0)),
        ]
    if len(uses) == 1:
        return [_spec(uses[0], *_places(row.keys))]
    return [
        _spec(use, *_places(Keys(row.keys.first + i, row.keys.first + i)))
        for i, use in enumerate(uses)
    ]


def key_uses(row: Command) -> list[list[bytes]]:
    """The uses of *row*'s keys, each a list of words: the access first."""
    access = row.keys.access if row.keys else ""
    return [use.encode().split() for use in KEY_USES.get(row.name, (access,))]


def _spec(use: list[bytes], begin: Place, find: Place) -> Reply:
    return {
        b"flags": Set(Status(word) for word in use),
        b"begin_search": {b"type": begin[0], b"spec": begin[1]},
        b"find_keys": {b"type": find[0], b"spec": find[1]},
    }


def _places(keys: Keys) -> tuple[Place, Place]:
    """How to find the first key, and from there the others."""
    if isinstance(keys, StreamKeys):
        first = keys.options_at + (1 + keys.skips[b"GROUP"] if b"GROUP" in keys.skips else 0)
        keyword: Reply = {b"keyword": b"STREAMS", b"startfrom": first}
        return (b"keyword", keyword), _range(-1, 1, 2)  # the first half of what is left
    if isinstance(keys, NumberedKeys):
        counted: Reply = {b"keynumidx": 0, b"firstkey": 1, b"keystep": 1}
        return (b"index", {b"index": keys.count_at}), (b"keynum", counted)
    last = keys.last if keys.last < 0 else keys.last - keys.first
    return (b"index", {b"index": keys.first}), _range(last, keys.step, 0)


def _range(last: int, step: int, limit: int) -> Place:
    return b"range", {b"lastkey": last, b"keystep": step, b"limit": limit}


# ---------------------------------------------------------------------- COMMAND DOCS


@command(
    "COMMAND DOCS", arity=-2, flags=ANYBODY, group="server", since="7.0.0", complexity=PER_COMMAND,
    categories=("connection",),
)  # fmt: skip
def command_docs(call: Call) -> Reply:
    """Documents the named commands, or all.

    COMMAND DOCS [command-name [command-name ...]]
    """
    names = call.argv[2:]
    rows = [_find(call, name) for name in names] if names else list(call.server.table)
    return {row.name.encode(): docs_of(row) for row in rows if row is not None}


def docs_of(row: Command) -> dict[bytes, Reply]:
    """The map of COMMAND DOCS for one command. Raises ValueError if its syntax is malformed."""
    docs: dict[bytes, Reply] = {
        b"summary": row.summary.encode(),
        b"since": row.since.encode(),
        b"group": row.group.encode(),
        b"complexity": row.complexity.encode(),
    }
    if row.name in DEPRECATED:
        since, instead = DEPRECATED[row.name]
        docs[b"doc_flags"] = Set([Status(b"deprecated")])
        docs[b"deprecated_since"] = since.encode()
        docs[b"replaced_by"] = instead.encode()
    if row.name in HISTORY:
        docs[b"history"] = Set([v.encode(), text.encode()] for v, text in HISTORY[row.name])
    arguments = arguments_of(row.syntax, row.name) if row.syntax else []
    if arguments:
        docs[b"arguments"] = _shown(arguments, _SpecNumbers(len(key_uses(row))))
    if row.subcommands:
        docs[b"subcommands"] = {
            child.name.encode(): docs_of(child) for child in row.subcommands.values()
        }
    return docs


class _SpecNumbers:
    """Which key spec a key argument belongs to: each to the next one, the rest to the last."""

    def __init__(self, specs: int) -> None:
        self._last = specs - 1
        self._seen = -1

    def next(self) -> int:
        self._seen += 1
        return min(self._seen, self._last)


def _shown(arguments: list[Argument], specs: _SpecNumbers) -> Reply:
    return [_argument(argument, specs) for argument in arguments]


def _argument(argument: Argument, specs: _SpecNumbers) -> Reply:
    shown: dict[bytes, Reply] = {b"name": argument.name.encode(), b"type": argument.type.encode()}
    if argument.type == "key":
        shown[b"key_spec_index"] = specs.next()
    if argument.token:
        shown[b"token"] = argument.token.encode()
    if argument.flags:
        shown[b"flags"] = Set(Status(flag.encode()) for flag in argument.flags)
    if argument.arguments:
        shown[b"arguments"] = _shown(argument.arguments, specs)
    return shown


# ---------------------------------------------------------------------- COMMAND COUNT and LIST


@command(
    "COMMAND COUNT", arity=2, flags=ANYBODY, group="server", since="2.8.13",
    categories=("connection",),
)  # fmt: skip
def command_count(call: Call) -> Reply:
    """Counts the commands.

    COMMAND COUNT
    """
    return len(call.server.table)


@command(
    "COMMAND LIST", arity=-2, flags=ANYBODY, group="server", since="7.0.0",
    complexity=EVERY_COMMAND, categories=("connection",),
)  # fmt: skip
def command_list(call: Call) -> Reply:
    """Lists the names of all commands, or of those of an ACL category or a pattern.

    COMMAND LIST [FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]
    """
    args = Args(call.argv, 2)
    by, wanted = b"", b""
    if args.left:
        by, wanted = _filter(args)
    return [
        row.name.encode()
        for parent in call.server.table
        for row in (parent, *parent.subcommands.values())
        if _passes(row, by, wanted)
    ]


def _filter(args: Args) -> tuple[bytes, bytes]:
    """What FILTERBY looks at, and for what. Raises SYNTAX."""
    if not args.take_word(b"FILTERBY"):
        raise errors.SYNTAX
    by = args.take_word(b"MODULE", b"ACLCAT", b"PATTERN")
    if by is None or args.left != 1:
        raise errors.SYNTAX
    return by, args.take()


def _passes(row: Command, by: bytes, wanted: bytes) -> bool:
    """Whether *row* is of the category *wanted*, or has a name like that; none is a module's."""
    if not by:
        return True
    if by == b"ACLCAT":
        return wanted.lower() in (category.encode() for category in row.acl)
    return by == b"PATTERN" and glob.match(wanted, row.name.encode(), nocase=True)


# ---------------------------------------------------------------------- COMMAND GETKEYS


@command(
    "COMMAND GETKEYS", arity=-3, flags=ANYBODY, group="server", since="2.8.13",
    complexity="O(N) where N is the number of arguments to the command.",
    categories=("connection",),
)  # fmt: skip
def command_getkeys(call: Call) -> Reply:
    """Finds the keys in a whole command.

    COMMAND GETKEYS command [arg [arg ...]]
    """
    _, keys = _keys_in(call, call.argv[2:])
    return list(keys)


@command(
    "COMMAND GETKEYSANDFLAGS", arity=-3, flags=ANYBODY, group="server", since="7.0.0",
    complexity="O(N) where N is the number of arguments to the command.",
    categories=("connection",),
)  # fmt: skip
def command_getkeysandflags(call: Call) -> Reply:
    """Finds the keys in a whole command, and tells what it does with them.

    COMMAND GETKEYSANDFLAGS command [arg [arg ...]]
    """
    argv = call.argv[2:]
    row, keys = _keys_in(call, argv)
    uses = _present_uses(row, argv)
    return [
        [key, Set(Status(word) for word in uses[min(i, len(uses) - 1)])]
        for i, key in enumerate(keys)
    ]


def _keys_in(call: Call, argv: list[bytes]) -> tuple[Command, list[bytes]]:
    """The command of *argv* and its keys. Refuses what could not run."""
    row = call.server.table.find(argv[0])
    if row is not None and row.subcommands and len(argv) > 1:
        row = row.subcommands.get(argv[1].lower(), row if row.handler else None)
    if row is None:
        raise INVALID_COMMAND
    if row.keys is None:
        raise NO_KEYS
    if not row.accepts(len(argv)):
        raise INVALID_COUNT
    keys: list[bytes] = row.keys_of(argv)
    if not keys:
        raise INVALID_ARGUMENTS
    return row, keys


def _present_uses(row: Command, argv: list[bytes]) -> list[list[bytes]]:
    """What *argv* does with its keys; SET only reads the old value when GET is asked for."""
    uses = key_uses(row)
    if row.name == "set":
        asks = b"GET" in (word.upper() for word in argv[3:])
        return [[b"RW", b"access", b"update"]] if asks else [[b"OW", b"update"]]
    return uses


@command(
    "COMMAND HELP", arity=2, flags=ANYBODY, group="server", since="5.0.0",
    categories=("connection",),
)  # fmt: skip
def command_help(call: Call) -> Reply:
    """Lists the subcommands.

    COMMAND HELP
    """
    return help_of(call.server.table, b"command")


def _find(call: Call, name: bytes) -> Command | None:
    """The command, or the subcommand written as ``xgroup|create``, of that name."""
    parent, _, child = name.lower().partition(b"|")
    row = call.server.table.find(parent)
    return row.subcommands.get(child) if row is not None and child else row
