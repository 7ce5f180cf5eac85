"""The JSON that browsers send: what it must be, and what it says.

What is wrong with it is a BadRequest, whose text is for people.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Any, NamedTuple

# These defend other clients against a pause: so much JSON is read in one go, by who has logged in.
MOST_BYTES = 1024**2
MOST_VALUES = 40_000  # in that JSON: some milliseconds
MOST_COMMANDS = 10_000  # of a request
# These defend the server against who has not.
MOST_LOGIN_BYTES = 4096
# These defend it against a browser that has others do its work, again and again.
MOST_WATCHES = 32
MOST_WATCHED_COMMANDS = 64  # of a watch
LEAST_EVERY_MS, MOST_EVERY_MS = 100, 60_000
LONGEST_NAME = 100

Argv = list[bytes]
TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"')  # without backtracking


class BadRequest(Exception):
    """The request cannot be understood; the message says why."""


class Commands(NamedTuple):
    """POST api/commands."""

    db: int
    commands: list[Argv]
    is_transaction: bool


class Watched(NamedTuple):
    """One thing that is looked at again and again: its commands, under a name."""

    name: str
    commands: tuple[tuple[bytes, ...], ...]


class WatchedStreams(NamedTuple):
    """The streams whose names match a pattern. With another name they are told of anew."""

    name: str
    match: bytes


class Watching(NamedTuple):
    """POST api/watch."""

    live: str
    every_ms: int
    is_paused: bool
    db: int
    watches: list[Watched]
    streams: WatchedStreams | None


def read(body: bytes) -> Mapping[str, Any]:
    """The object that *body* is. Raises BadRequest."""
    if not _is_bounded(body):
        raise BadRequest(f"the JSON has more than {MOST_VALUES} values")
    try:
        found = json.loads(body)
    except RecursionError:
        raise BadRequest("the JSON is nested too deeply") from None
    except ValueError:  # no UTF-8, or a number of too many digits, are such, too
        raise BadRequest("the body is no JSON") from None
    if not isinstance(found, dict):
        raise BadRequest("the body must be a JSON object")
    return found


def _is_bounded(body: bytes) -> bool:
    """Whether *body* has few values. A comma stands before each but the first, or in a text."""
    if body.count(b",") <= MOST_VALUES:
        return True
    if body.count(b'"') > 2 * MOST_VALUES:
        return False
    return TEXT.sub(b"", body).count(b",") <= MOST_VALUES


def credentials(body: bytes) -> tuple[bytes, bytes]:
    """Name and password of who logs in. Raises BadRequest."""
    found = read(body)
    name = _text(found, "username") or "default"
    return _encoded(name), _encoded(_text(found, "password"))


def commands(body: bytes) -> Commands:
    """What is to be run. Raises BadRequest."""
    found = read(body)
    argvs = _argvs(found.get("commands"), MOST_COMMANDS)
    return Commands(_db(found), argvs, _flag(found, "transaction"))


def watching(body: bytes) -> Watching:
    """What is to be watched. Raises BadRequest."""
    found = read(body)
    every_ms = found.get("every_ms", 1000)
    if not _is_number(every_ms) or not LEAST_EVERY_MS <= every_ms <= MOST_EVERY_MS:
        raise BadRequest(f"every_ms must be a number from {LEAST_EVERY_MS} to {MOST_EVERY_MS}")
    watches = found.get("watches", [])
    if not isinstance(watches, list) or len(watches) > MOST_WATCHES:
        raise BadRequest(f"watches must be a list of at most {MOST_WATCHES}")
    return Watching(
        live=_text(found, "live"),
        every_ms=every_ms,
        is_paused=_flag(found, "paused"),
        db=_db(found),
        watches=[_watched(watch) for watch in watches],
        streams=_streams(found.get("streams")),
    )


def _watched(watch: Any) -> Watched:
    if not isinstance(watch, dict):
        raise BadRequest("a watch must be an object")
    argvs = _argvs(watch.get("commands"), MOST_WATCHED_COMMANDS)
    return Watched(_name(watch), tuple(map(tuple, argvs)))


def _streams(streams: Any) -> WatchedStreams | None:
    if streams is None:
        return None
    if not isinstance(streams, dict):
        raise BadRequest("streams must be an object or null")
    return WatchedStreams(_name(streams), _word(streams.get("match", "*")))


def _name(found: Mapping[str, Any]) -> str:
    name = _text(found, "name")
    if len(name) > LONGEST_NAME:
        raise BadRequest(f"a name has at most {LONGEST_NAME} characters")
    return name


def _argvs(found: Any, most: int) -> list[Argv]:
    if not isinstance(found, list) or len(found) > most:
        raise BadRequest(f"commands must be a list of at most {most}")
    return [_argv(words) for words in found]


def _argv(words: Any) -> Argv:
    if not isinstance(words, list) or not words:
        raise BadRequest("a command must be a list of words")
    return [_word(word) for word in words]


def _word(word: Any) -> bytes:
    if isinstance(word, str):
        return _encoded(word)
    if isinstance(word, dict) and isinstance(word.get("base64"), str):
        try:
            return b64decode(word["base64"], validate=True)
        except (NotBase64, ValueError):
            raise BadRequest("a word is no base64") from None
    raise BadRequest('a word must be a text or {"base64": text}')


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadRequest("a text has half of a surrogate pair") from None


def _text(found: Mapping[str, Any], name: str) -> str:
    text = found.get(name, "")
    if not isinstance(text, str):
        raise BadRequest(f"{name} must be a text")
    return text


def _flag(found: Mapping[str, Any], name: str) -> bool:
    flag = found.get(name, False)
    if not isinstance(flag, bool):
        raise BadRequest(f"{name} must be true or false")
    return flag


def _db(found: Mapping[str, Any]) -> int:
    db = found.get("db", 0)
    if not _is_number(db) or not 0 <= db < 2**31:
        raise BadRequest("db must be the number of a database")
    return int(db)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
