"""Reads cases.txt: which commands are sent, and what the append-only file then holds.

    == a title
    given SET k v            a command whose logged form is not checked
    SET k v EX 100           a command; the indented lines below it are logged
        SET k v PXAT <now+100s>
    B> BLPOP l 0             client B sends this, and is not answered yet
    later                    20 ms go by

Words are quoted as in redis-cli. Commands that are logged together stand between MULTI and EXEC.
``db1:`` before a command is its database, if not 0. ``P:`` and ``R:`` begin lines that only
Penstock or only Redis logs. ``<now>`` is the time in unix ms, and ``<now+100s>`` is 100 s later.
Times in the AOF are rounded to ten seconds, so that a slow server passes too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.compat.resp import quoted
from tests.compat.script import split

Op: TypeAlias = tuple[int, list[bytes]]  # database, command

GIVEN, RUN, SEND, LATER = "given", "run", "send", "later"
LATER_MS = 20
PENSTOCK, REDIS = "P", "R"

_GRAIN_S = 10
_NEAR_S = 10**6  # a number that differs by more from now is not a time
_TIME = re.compile(rb"(\d{13})(-\d+)?")
_PLACEHOLDER = re.compile(r"<now(?:([+-]\d+)s)?>")


@dataclass
class Step:
    """One line of a case, and the lines that each server then logs."""

    action: str
    words: str = ""
    client: str = ""
    logged: dict[str, list[str]] = field(default_factory=lambda: {PENSTOCK: [], REDIS: []})

    def argv(self, now_ms: int) -> list[bytes]:
        """The command, with its times computed from *now_ms*."""
        return list(split(_PLACEHOLDER.sub(lambda place: str(_moment(place, now_ms)), self.words)))


@dataclass
class Case:
    """The steps under one title; they begin on an empty server."""

    title: str
    steps: list[Step] = field(default_factory=list)


def load() -> list[Case]:
    """The cases of cases.txt."""
    cases: list[Case] = []
    text = Path(__file__).with_name("cases.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("== "):
            cases.append(Case(line[3:]))
        elif line.startswith("    "):
            _expect(cases[-1].steps[-1], line.strip())
        elif line and not line.startswith("#"):
            cases[-1].steps.append(_step(line))
    return cases


def _step(line: str) -> Step:
    if line == LATER:
        return Step(LATER)
    if line.startswith("given "):
        return Step(GIVEN, line.removeprefix("given "))
    if line[1:3] == "> ":
        return Step(SEND, line[3:], client=line[0])
    return Step(RUN, line)


def _expect(step: Step, line: str) -> None:
    server = line[0] if line[:3] in ("P: ", "R: ") else ""
    for name in [server] if server else [PENSTOCK, REDIS]:
        step.logged[name].append(line[3:] if server else line)


def _moment(place: re.Match[str], now_ms: int) -> int:
    return now_ms + int(place[1] or 0) * 1000


def shown(units: Iterable[list[Op]], now_ms: int) -> Iterator[str]:
    """*units*, which are commands logged together, as lines of a case."""
    for unit in units:
        lines = [_line(db, argv, now_ms) for db, argv in unit]
        yield from lines if len(lines) == 1 else ["MULTI", *lines, "EXEC"]


def _line(db: int, argv: list[bytes], now_ms: int) -> str:
    words = (_TIME.sub(lambda time: _relative(time, now_ms), word) for word in argv)
    text = " ".join(word.decode() if _is_plain(word) else quoted(word) for word in words)
    return f"db{db}: {text}" if db else text


def _relative(time: re.Match[bytes], now_ms: int) -> bytes:
    difference = (int(time[1]) - now_ms) / 1000
    if abs(difference) > _NEAR_S:
        return time[0]
    rounded = round(difference / _GRAIN_S) * _GRAIN_S
    return (b"<now%+ds>" % rounded if rounded else b"<now>") + (time[2] or b"")


def _is_plain(word: bytes) -> bool:
    return bool(word) and all(0x21 <= byte < 0x7F and byte not in b"\"'\\" for byte in word)
