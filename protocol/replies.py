"""The values a command may answer with, beyond plain Python ones.

    Python              RESP3               RESP2
    bytes               $ bulk string       the same
    int (64 bits)       : integer           the same
    None                _ null              $-1
    NULL_ARRAY          _ null              *-1
    list, tuple         * array             the same
    dict                % map               * flat array
    Pairs               % map               * array of [key, value] arrays
    Set                 ~ set               * array
    Push                > push              * array
    bool                # boolean           : 1 or 0
    float               , double            $ its text
    BigNumber           ( big number        $ its text
    Verbatim            = verbatim string   $ bulk string
    Status              + simple string     the same
    ErrorReply          - error             the same
    NO_REPLY            nothing             nothing
    Encoded             what it holds: bytes that are RESP already

RESP2 lacks much of this; the encoder converts.
"""

from __future__ import annotations

from typing import TypeAlias, Union

CR, LF = b"\r\n"


def one_line(text: bytes) -> bytes:
    """*text* with blanks for line ends, which would end the reply and begin a forged one."""
    if CR in text or LF in text:  # numbers: to look for bytes raises an error on the way
        return text.replace(b"\r", b" ").replace(b"\n", b" ")
    return text


class Status:
    """A simple string, such as ``+OK``; line ends in *text* become blanks."""

    __slots__ = ("line",)

    def __init__(self, text: bytes) -> None:
        self.line = b"+%b\r\n" % one_line(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Status) and other.line == self.line

    def __hash__(self) -> int:
        return hash(self.line)

    def __repr__(self) -> str:
        return f"Status({self.line[1:-2]!r})"


class Encoded:
    """Bytes that are RESP already: the base of Encoder, which knows how they are written."""

    __slots__ = ()


class Pairs(dict[bytes, "Reply"]):
    """A map that RESP2 clients get as [[key, value], ...] and not flat: XREAD's reply."""

    __slots__ = ()


class Set(list["Reply"]):
    """A set; its members are given in a list, each once."""

    __slots__ = ()


class Push(list["Reply"]):
    """A message that answers no request."""

    __slots__ = ()


class BigNumber(int):
    """An integer beyond 64 bits."""


class Verbatim:
    """Text that is to be shown as it is, with its *format* (three letters: txt, mkd)."""

    __slots__ = ("format", "text")

    def __init__(self, text: bytes, format_: bytes = b"txt") -> None:
        self.text = text
        self.format = format_


class ErrorReply(Exception):
    """An error line: *code* (``ERR``, ``WRONGTYPE``, ...) and its text.

    Bytes that a client sent may be part of the text, decoded as UTF-8 with surrogateescape.
    Raised by handlers, and a value inside EXEC's array.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code} {text}" if text else code)
        self.code = code
        self.text = text


class NullArray:
    """RESP2's ``*-1``: what a blocking command answers when its time is up."""


class NoReply:
    """Stands for no reply at all, as after CLIENT REPLY OFF."""


OK = Status(b"OK")
QUEUED = Status(b"QUEUED")
NULL_ARRAY = NullArray()
NO_REPLY = NoReply()

Reply: TypeAlias = Union[
    bytes,
    int,
    float,
    None,
    list["Reply"],
    tuple["Reply", ...],
    dict[bytes, "Reply"],
    Status,
    Verbatim,
    ErrorReply,
    NullArray,
    NoReply,
    Encoded,
]
