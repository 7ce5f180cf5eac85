"""The first line of a script or a library: ``#!lua name=mylib flags=no-writes,allow-oom``.

Its words may be quoted as in an inline command: ``#!lua name="mylib"``.
Source of the rules and texts: Redis's eval.c (evalExtractShebangFlags) and functions.c.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from protocol.inline import UnbalancedQuotes, split_words
from protocol.replies import ErrorReply
from server.table.command import Flags

NO_WRITES = 1  # the script changes nothing
ALLOW_OOM = 2  # it may run while maxmemory is exceeded
ALLOW_STALE = 4  # it may run on a replica that has lost its primary
NO_CLUSTER = 8
ALLOW_CROSS_SLOT_KEYS = 16
NO_HEADER = 32  # a script without a first line: each of its commands is checked by itself

FLAGS = {
    b"no-writes": NO_WRITES,
    b"allow-oom": ALLOW_OOM,
    b"allow-stale": ALLOW_STALE,
    b"no-cluster": NO_CLUSTER,
    b"allow-cross-slot-keys": ALLOW_CROSS_SLOT_KEYS,
}
# Of a command that runs a script: whether it has these, the script's own flags say.
SAID_BY_SCRIPTS = int(Flags.STALE | Flags.DENYOOM | Flags.WRITE | Flags.MAY_REPLICATE)
ENGINE = b"#!lua"
NAME = re.compile(rb"[A-Za-z0-9_]+", re.ASCII)

BAD_METADATA = "Invalid library metadata"
BAD_NAME = ErrorReply(
    "ERR",
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one"
    " character long",
)


class ScriptHeader(NamedTuple):
    """The flags of a script, and where its text begins: a line feed remains, to count lines."""

    flags: int
    start: int


def read_script_header(source: bytes) -> ScriptHeader:
    """The header of a script for EVAL. Raises ErrorReply."""
    if not source.startswith(b"#!"):
        return ScriptHeader(NO_HEADER, 0)
    line = _first_line(source, "Invalid script shebang")
    words = _words(line, "Invalid engine in script shebang")
    if words[0] != ENGINE:
        raise ErrorReply("ERR", f"Unexpected engine in script shebang: {_text(words[0])}")
    flags = 0
    for word in words[1:]:
        option, _, value = word.partition(b"=")
        if option != b"flags" or not _:
            raise ErrorReply("ERR", f"Unknown lua shebang option: {_text(word)}")
        for flag in value.split(b",") if value else []:
            if flag not in FLAGS:
                raise ErrorReply("ERR", f"Unexpected flag in script shebang: {_text(flag)}")
            flags |= FLAGS[flag]
    return ScriptHeader(flags, len(line))


class LibraryHeader(NamedTuple):
    """The name of a library, and where its text begins."""

    name: bytes
    start: int


def read_library_header(source: bytes) -> LibraryHeader:
    """The header of a library of functions. Raises ErrorReply."""
    if not source.startswith(b"#!"):
        raise ErrorReply("ERR", "Missing library metadata")
    line = _first_line(source, BAD_METADATA)
    words = _words(line, BAD_METADATA)
    engine = words[0][2:]
    name = None
    for word in words[1:]:
        option, _, value = word.partition(b"=")
        if option.lower() != b"name" or not _:
            raise ErrorReply("ERR", f"Invalid metadata value given: {_text(word)}")
        if name is not None:
            raise ErrorReply(
                "ERR", "Invalid metadata value, name argument was given multiple times"
            )
        name = value
    if name is None:
        raise ErrorReply("ERR", "Library name was not given")
    if not is_name(name):
        raise BAD_NAME
    if engine.lower() != b"lua":
        raise ErrorReply("ERR", f"Engine '{_text(engine)}' not found")
    return LibraryHeader(name, len(line))


def _first_line(source: bytes, error: str) -> bytes:
    """What is before the first line feed. Raises *error* without one, or with a zero byte in it."""
    line, newline, _ = source.partition(b"\n")
    if not newline or b"\0" in line:
        raise ErrorReply("ERR", error)
    return line


def _words(line: bytes, error: str) -> list[bytes]:
    """The words of *line*, without their quotes. Raises *error* if these are not balanced."""
    try:
        return split_words(line)
    except UnbalancedQuotes:
        raise ErrorReply("ERR", error) from None


def is_name(name: bytes) -> bool:
    """Whether a library or a function may be called *name*."""
    return NAME.fullmatch(name) is not None


def flags_of_call(command: int, script: int) -> int:
    """The flags of a call: what those of its *command* are with a *script* that has these."""
    if script & NO_HEADER:
        return command
    flags = command & ~SAID_BY_SCRIPTS
    if not script & NO_WRITES:
        flags |= Flags.WRITE
        if not script & ALLOW_OOM:
            flags |= Flags.DENYOOM
    if script & ALLOW_STALE:
        flags |= Flags.STALE
    return flags


def flag_names(flags: int) -> list[bytes]:
    """The names of the *flags*, as FUNCTION LIST shows them."""
    return [name for name, flag in FLAGS.items() if flags & flag]


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")
