"""Sends values to another server over a socket that is opened for this.

    here                            there
    AUTH, SELECT           ->
                           <-       +OK +OK                    an error: nothing more is sent
    RESTORE RESTORE ...    ->
                           <-       +OK -BUSYKEY ... +OK ...   one line each, in order

The whole server waits, as redis does, so that no key changes while it is being sent; each step
takes at most the time that the client has set. No socket is kept for the next call.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import NamedTuple

from protocol.encoder import Encoder
from protocol.replies import ErrorReply

PIECE = 1 << 16  # bytes: requests are gathered up to this size, then sent
MAX_LINE = 1024  # bytes: longer answers are cut

CANNOT_CONNECT = ErrorReply("IOERR", "error or timeout connecting to the client")
CANNOT_WRITE = ErrorReply("IOERR", "error or timeout writing to target instance")
CANNOT_READ = ErrorReply("IOERR", "error or timeout reading to target instance")


class Target(NamedTuple):
    """The other server. *login* has the password, before it the user if not the default one."""

    host: str
    port: int
    db_index: bytes
    timeout_s: float
    login: list[bytes]


class Outcome:
    """The keys that the other server has accepted, and the first error if there was one."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.error: ErrorReply | None = None

    def failed(self, error: ErrorReply) -> None:
        if self.error is None:
            self.error = error


def transfer(target: Target, restores: Iterable[list[bytes]]) -> Outcome:
    """Have *target* run *restores*: RESTORE, key, and so on. Never raises for what it does."""
    outcome = Outcome()
    try:
        peer = _Peer(target)
    except (OSError, UnicodeError):  # the latter for a text that cannot be a host name
        outcome.failed(CANNOT_CONNECT)
        return outcome
    try:
        _greet(peer, target, outcome)
        if outcome.error is None:
            _restore(peer, restores, outcome)
    except _ConnectionFailed as broken:
        outcome.failed(broken.error)
    finally:
        peer.close()
    return outcome


def _greet(peer: _Peer, target: Target, outcome: Outcome) -> None:
    requests = [[b"SELECT", target.db_index]]
    if target.login:
        requests.insert(0, [b"AUTH", *target.login])
    peer.send(requests)
    for _ in requests:
        _read_answer(peer, outcome)


def _restore(peer: _Peer, restores: Iterable[list[bytes]], outcome: Outcome) -> None:
    keys: list[bytes] = []
    peer.send(_collecting_keys(restores, keys))
    for key in keys:
        if _read_answer(peer, outcome):
            outcome.taken.append(key)


def _collecting_keys(restores: Iterable[list[bytes]], keys: list[bytes]) -> Iterable[list[bytes]]:
    """Pass *restores* on and add the key of each to *keys*, so that no value stays in memory."""
    for words in restores:
        keys.append(words[1])
        yield words


def _read_answer(peer: _Peer, outcome: Outcome) -> bool:
    """Read an answer. False if it is an error, which goes into *outcome*.

    Raises _ConnectionFailed.
    """
    line = peer.read_line()
    if line.startswith(b"-"):
        text = line[1:].decode("utf-8", "surrogateescape")
        outcome.failed(ErrorReply("ERR", f"Target instance replied with error: {text}"))
        return False
    return True


class _ConnectionFailed(Exception):
    """The connection failed; *error* says in doing what."""

    def __init__(self, error: ErrorReply) -> None:
        super().__init__(error.text)
        self.error = error


class _Peer:
    """The connection to the other server."""

    def __init__(self, target: Target) -> None:
        """Connect. Raises OSError."""
        address = (target.host, target.port)
        self._socket = socket.create_connection(address, target.timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()

    def send(self, requests: Iterable[list[bytes]]) -> None:
        """Send *requests*, piece by piece. Raises _ConnectionFailed."""
        out = Encoder(2)
        for words in requests:
            out.array(len(words))
            for word in words:
                out.bulk(word)
            if len(out) >= PIECE:
                self._write(out.take())
        self._write(out.take())

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            raise _ConnectionFailed(CANNOT_WRITE) from None

    def read_line(self) -> bytes:
        """The next line, without its end. Raises _ConnectionFailed."""
        try:
            line = self._lines.readline(MAX_LINE)
        except OSError:
            raise _ConnectionFailed(CANNOT_READ) from None
        if not line.endswith(b"\n"):
            raise _ConnectionFailed(CANNOT_READ)
        return line.rstrip(b"\r\n")
