"""What a replica says before the stream comes, and what it hears. Pure: lines in, lines out.

    PING                             +PONG; an error that asks for AUTH will do
    AUTH [user] password             +OK          if masterauth is set
    REPLCONF listening-port 6380     +OK or error: an old primary knows fewer options
    REPLCONF ip-address ...          +OK or error if replica-announce-ip is set
    REPLCONF capa eof capa psync2    +OK or error
             capa rdb-13             as much is known as in Redis 8.6; other primaries ignore it
             capa rdb-14             as much of streams as in Redis 8.8
             capa penstock           policies and schedules of streams, too
    PSYNC id offset [FAILOVER]       +FULLRESYNC id offset | +CONTINUE [id] | error

Each waits for the answer to the one before. Empty lines are signs of life.

Source: replication.c of Redis 7.0, syncWithMaster
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import NamedTuple

from server.config.parameters import Config

LONGEST_LINE = 1024  # bytes: a primary that sends more is none
_ID = re.compile("[0-9a-zA-Z]{40}")
_OFFSET = re.compile("[0-9]{1,18}")
_COME_LATER = (b"-NOMASTERLINK", b"-LOADING")
_ASKS_FOR_AUTH = (b"-NOAUTH", b"-NOPERM", b"-ERR operation not permitted")

_log = logging.getLogger("penstock")


class LinkFailed(Exception):
    """The primary cannot be followed now; the message is for the server log."""


class Copy(NamedTuple):
    """A copy of all data comes, of the history *id* at *offset*."""

    id: str
    offset: int


class Continue(NamedTuple):
    """The history continues under the name *id*; "" is the name that we have asked for."""

    id: str


def first_words(config: Config) -> Iterator[list[bytes]]:
    """What is said before PSYNC, word by word."""
    yield [b"PING"]
    if config.masterauth:
        user = [_bytes(config.masteruser)] if config.masteruser else []
        yield [b"AUTH", *user, _bytes(config.masterauth)]
    port = config.replica_announce_port or (
        config.tls_port if config.tls_replication else config.port
    )
    yield [b"REPLCONF", b"listening-port", b"%d" % port]
    if config.replica_announce_ip:
        yield [b"REPLCONF", b"ip-address", _bytes(config.replica_announce_ip)]
    known = (b"eof", b"psync2", b"rdb-12", b"rdb-13", b"rdb-14", b"penstock")
    yield [b"REPLCONF", *(word for name in known for word in (b"capa", name))]


class Handshake:
    """Asks for the history *history_id* after *offset*; with *takes_over*, says FAILOVER."""

    def __init__(self, config: Config, history_id: str, offset: int, takes_over: bool) -> None:
        self._words = first_words(config)
        self._psync = [b"PSYNC", history_id.encode(), b"%d" % (offset + 1)]
        if takes_over:
            self._psync.append(b"FAILOVER")
        self._said: list[bytes] = []
        self.outcome: Copy | Continue | None = None

    def next(self) -> list[bytes]:
        """What is to be sent now."""
        self._said = next(self._words, self._psync)
        if self._said is self._psync:
            history, offset = self._psync[1].decode(), int(self._psync[2])
            _log.info("Trying a partial resynchronization (request %s:%d).", history, offset)
        return self._said

    def take(self, line: bytes) -> bool:
        """Take the answer *line*. True: next() is to be sent; False: it was empty, or the last.

        Raises LinkFailed.
        """
        if not line:
            return False
        if self._said is self._psync:
            self.outcome = _outcome(line)
            return False
        word, is_error = self._said[0], line.startswith(b"-")
        if word == b"PING":
            if is_error and not line.startswith(_ASKS_FOR_AUTH):
                raise LinkFailed(f"Error reply to PING from master: '{shown(line)}'")
            _log.info("Master replied to PING, replication can continue...")
        elif is_error and word == b"AUTH":
            raise LinkFailed(f"Unable to AUTH to MASTER: {shown(line)}")
        elif is_error:
            _log.info(
                "(Non critical) Master does not understand REPLCONF %s: %s",
                self._said[1].decode(),
                shown(line),
            )
        return True


def _outcome(line: bytes) -> Copy | Continue:
    words = line.decode("ascii", "replace").split()
    if words[:1] == ["+FULLRESYNC"]:
        is_whole = len(words) == 3 and _ID.fullmatch(words[1]) and _OFFSET.fullmatch(words[2])
        if not is_whole:
            raise LinkFailed("Master replied with wrong +FULLRESYNC syntax.")
        return Copy(words[1], int(words[2]))
    if words[:1] == ["+CONTINUE"]:
        name = words[1] if len(words) > 1 else ""
        if name and not _ID.fullmatch(name):
            raise LinkFailed("Master replied with wrong +CONTINUE syntax.")
        return Continue(name)
    if line.startswith(_COME_LATER):
        raise LinkFailed(
            f"Master is currently unable to PSYNC but should be in the future: {shown(line)}"
        )
    if line.startswith(b"-"):
        raise LinkFailed(
            f"Master does not support PSYNC or is in error state (reply: {shown(line)})"
        )
    raise LinkFailed(f"Unexpected reply to PSYNC from master: {shown(line)}")


def shown(line: bytes) -> str:
    """What a primary has sent, for the server log: its first 200 bytes, in ASCII."""
    return (
        line[:200].decode("utf-8", "backslashreplace").encode("ascii", "backslashreplace").decode()
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
