"""A command's line of syntax as the tree of arguments that COMMAND DOCS shows.

XADD key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id>
field value [field value ...]

WORD  ~  *        a word that stands for itself
name              a value; WORD name  is a value after its word, unless that has no letters
[...]             may be left out
<a | b>  [a | b]  one of these
x [x ...]         x once or more often

sequence     = alternative { "|" alternative }
alternative  = { item }
item         = "[" sequence "]" | "<" sequence ">" | word
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

_PIECES = re.compile(r"\.\.\.|[\[\]<>|]|[^\s\[\]<>|]+")

ArgumentType: TypeAlias = Literal["key", "string", "integer", "double", "pattern", "unix-time"]

# The types of arguments by their names; all others are strings. Where a name means something else
# than here, the command's declaration says so.
ARGUMENT_TYPES: dict[str, ArgumentType] = {
    **dict.fromkeys(("key", "source", "sourcekey", "destination", "newkey"), "key"),
    **dict.fromkeys(("decrement", "increment"), "integer"),
    **dict.fromkeys(("count", "len", "num-matches", "numkeys", "offset", "rank"), "integer"),
    **dict.fromkeys(("min-match-len", "numfields", "numids"), "integer"),
    **dict.fromkeys(("end", "index", "index1", "index2", "start", "stop"), "integer"),
    **dict.fromkeys(("client-id", "cursor", "db", "destination-db", "protover"), "integer"),
    **dict.fromkeys(("entries-added", "entries-read"), "integer"),
    **dict.fromkeys(("maxage", "milliseconds", "min-idle-time", "ms", "seconds"), "integer"),
    **dict.fromkeys(("height", "latitude", "longitude", "radius", "timeout", "width"), "double"),
    "integer": "integer",
    **dict.fromkeys(("float", "lowerbound", "upperbound"), "double"),
    "pattern": "pattern",
    **dict.fromkeys(("unix-time-seconds", "unix-time-milliseconds"), "unix-time"),
}
# The names of words without letters.
_NAMES = {"*": "auto-id", "=": "equal", "~": "approximately", "$": "last-id", "+": "last-entry"}

_MARKS = {"[", "]", "<", ">", "|"}


class Argument(NamedTuple):
    """An argument as COMMAND DOCS shows it. Blocks and oneofs have *arguments* of their own."""

    name: str
    type: str
    token: str = ""
    optional: bool = False
    multiple: bool = False
    multiple_token: bool = False
    arguments: Sequence[Argument] = ()

    @property
    def flags(self) -> list[str]:
        return [flag for flag in ("optional", "multiple", "multiple_token") if getattr(self, flag)]


def arguments_of(
    syntax: str, name: str, types: Mapping[str, ArgumentType] | None = None
) -> list[Argument]:
    """The arguments in *syntax*, which begins with the command's *name* (``xgroup|create``).

    *types* go before ARGUMENT_TYPES. Raises ValueError if the syntax is not of the form above.
    """
    pieces = _PIECES.findall(syntax)
    words = name.upper().split("|")
    if pieces[: len(words)] != words:
        raise ValueError(f"the syntax of {name} begins with another name: {syntax!r}")
    parser = _Parser(pieces[len(words) :], {**ARGUMENT_TYPES, **(types or {})})
    arguments = parser.sequence("")
    parser.expect_end()
    return arguments


class _Parser:
    """Reads pieces from left to right."""

    def __init__(self, pieces: list[str], types: Mapping[str, ArgumentType]) -> None:
        self._pieces = pieces
        self._types = types
        self._at = 0

    def _next(self) -> str:
        return self._pieces[self._at] if self._at < len(self._pieces) else ""

    def _take(self) -> str:
        piece = self._next()
        self._at += 1
        return piece

    def expect_end(self) -> None:
        if self._next():
            raise ValueError(f"{self._next()!r} is not opened")

    def sequence(self, closing: str) -> list[Argument]:
        """Read up to *closing*: the arguments of one alternative, or a oneof of several."""
        alternatives = [self._alternative()]
        while self._next() == "|":
            self._take()
            alternatives.append(self._alternative())
        if self._next() != closing:
            raise ValueError(f"{closing or 'the end'} expected, not {self._next()!r}")
        return alternatives[0] if len(alternatives) == 1 else [_one_of(alternatives)]

    def _alternative(self) -> list[Argument]:
        items: list[Argument] = []
        while self._next() not in ("]", ">", "|", ""):
            self._add_item(items)
        return items

    def _add_item(self, items: list[Argument]) -> None:
        piece = self._take()
        if piece == "[":
            self._add_optional(items)
        elif piece == "<":
            items += self.sequence(">")
            self._take()
        elif is_token(piece):
            items.append(self._token(piece))
        else:
            items.append(Argument(piece, self._types.get(piece, "string")))

    def _token(self, word: str) -> Argument:
        """Read a value after its word, or the word alone."""
        following = self._next()
        if word not in _NAMES and following and following not in _MARKS and not is_token(following):
            self._take()
            return Argument(following, self._types.get(following, "string"), token=word)
        return Argument(_NAMES.get(word, word.lower()), "pure-token", token=word)

    def _add_optional(self, items: list[Argument]) -> None:
        """Read an optional part. If it repeats what precedes it, that becomes repeatable."""
        repeated = self._repeats()
        inner = self.sequence("]") if not repeated else []
        self._take()
        if repeated:
            _repeat(items, repeated)
        else:
            items.append(_block(inner)._replace(optional=True))

    def _repeats(self) -> int:
        """Take ``x y ...`` before a closing bracket; return how many words it repeats. Else 0."""
        end = self._at
        while end < len(self._pieces) and self._pieces[end] not in _MARKS:
            end += 1
        if self._pieces[end - 1] != "..." or self._pieces[end : end + 1] != ["]"]:
            return 0
        words = self._pieces[self._at : end - 1]
        self._at = end
        return len(words)


def is_token(word: str) -> bool:
    """Whether *word* stands for itself: capitals, or no letter at all."""
    return word.upper() == word


def _repeat(items: list[Argument], words: int) -> None:
    """Replace the last arguments, *words* words long, by one that may be repeated."""
    taken: list[Argument] = []
    with_token = False
    while words > 0:
        if not items:
            raise ValueError("nothing stands before what is repeated")
        taken.insert(0, items.pop())
        with_token = words > 1 and bool(taken[0].token) and taken[0].type != "pure-token"
        words -= 2 if with_token else 1
    block = _block(taken)
    items.append(block._replace(multiple=True, multiple_token=with_token and block is taken[0]))


def _block(arguments: list[Argument]) -> Argument:
    """*arguments* as one."""
    if len(arguments) == 1:
        return arguments[0]
    return Argument("_".join(a.name for a in arguments), "block", arguments=arguments)


def _one_of(alternatives: list[list[Argument]]) -> Argument:
    choices = [_block(arguments) for arguments in alternatives]
    return Argument("_or_".join(a.name for a in choices), "oneof", arguments=choices)


def walk(arguments: Sequence[Argument]) -> Iterator[Argument]:
    """All arguments of the trees, parents first."""
    for argument in arguments:
        yield argument
        yield from walk(argument.arguments)
