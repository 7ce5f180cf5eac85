r"""Scripts: text files with cases of commands.

A case begins with ``==`` and its title. Words are quoted as in redis-cli (``"\x00\r\n"``,
``'as it is'``); a line that begins with ``#`` is a comment.

    == a title
    RPUSH l a              the unnamed client sends this and reads the reply
    A: RPUSH l a           client A sends this and reads the reply
    A> BLPOP l 0           A sends this; the next step waits until A is answered or blocked
    A<                     A reads a reply, or finds its connection closed
    A ...                  A has no reply
    A closes               A disconnects; the next step waits until the server has noticed
    A>> "*1\r\n$4\r\nPI"   A sends these bytes
    20x XADD s {n}-0 f v   the same line 20 times; {n} counts from 1
    = [:1 "a"]             the expected answer to the line above, where no oracle is asked
    =3 {"k" :1}            the same in RESP3 only (=2: in RESP2 only)

Inside a word, ``{A.id}`` and ``{A.addr}`` are A's client id and address, ``{now+9}`` and
``{now_ms-9}`` are times relative to the start of the case, and ``{x*9}`` is ``x`` nine times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_LINE = re.compile(r"(?:([A-Z])(:|>>|>|<| \.\.\.| closes)(?:\s+|$))?(?:(\d+)x )?(.*)")
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_WORD = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(\S+))(?=\s|$)""")
_CONTROL = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"a": b"\a"}

CALL, SEND, READ, QUIET, CLOSE, BYTES = ":", ">", "<", "...", "closes", ">>"


@dataclass(slots=True)
class Step:
    """One action of one client."""

    line: int
    client: str
    action: str
    words: list[bytes]
    expected: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Case:
    """The steps under one title."""

    name: str
    steps: list[Step] = field(default_factory=list)


def load(folder: Path) -> list[Case]:
    """The cases of all files in *folder*; their names are ``file: title``."""
    return [case for path in sorted(folder.glob("*.txt")) for case in parse(path)]


def parse(path: Path) -> Iterator[Case]:
    """The cases of *path*. Raises ValueError with the file and line of a syntax error."""
    case: Case | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        try:
            if text.startswith("== "):
                if case:
                    yield case
                case = Case(f"{path.stem}: {text[3:]}")
            elif text and not text.startswith("#"):
                assert case, "a line before the first =="
                _add(case, number, text)
        except (AssertionError, ValueError) as error:
            raise ValueError(f"{path}:{number}: {error}") from error
    if case:
        yield case


def _add(case: Case, number: int, text: str) -> None:
    if match := re.match(r"=([23]?) (.*)", text):
        case.steps[-1].expected.update(
            dict.fromkeys([int(match[1])] if match[1] else [2, 3], match[2])
        )
        return
    match = _LINE.fullmatch(text)
    assert match, "not a line of a script"
    client, action, times, rest = match.groups()
    action = (action or CALL).strip()
    if action in {READ, QUIET, CLOSE}:
        assert not rest, "nothing may follow"
    for n in range(1, int(times or 1) + 1):
        words = list(split(rest.replace("{n}", str(n)) if times else rest))
        assert words or action in {READ, QUIET, CLOSE}, "no command"
        case.steps.append(Step(number, client or "", action, words))


def split(text: str) -> Iterator[bytes]:
    """The words of *text*. Raises ValueError for unbalanced quotes."""
    at = 0
    while at < len(text.rstrip()):
        match = _WORD.match(text, at)
        if match is None or (match[3] or "")[:1] in {'"', "'"}:
            raise ValueError(f"unbalanced quotes: {text[at:]}")
        double, single, plain = match.groups()
        if double is not None:
            yield _ESCAPE.sub(_unescape, double.encode())
        else:
            yield (single.replace("\\'", "'") if single is not None else plain).encode()
        at = match.end()


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code[1:], 16)]) if len(code) == 3 else _CONTROL.get(code, code)
