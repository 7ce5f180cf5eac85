"""The system calls of sockets: plain versions of the C functions in socket_calls.pxd.

Sockets are given by their file descriptors and never block.
"""

from __future__ import annotations

import os
import select
from socket import AF_INET, AF_INET6, socket

AT_ONCE = 64 * 1024  # bytes that are received at most with one call
MOST_PIECES = 64  # that one call sends
MOST_READY = 1024  # files that one look finds ready

_ready: list[tuple[int, int]] = []


def accept(listening: int) -> tuple[int, str] | None:
    """Accept a client: its socket, which does not block, and its address; None if nobody waits.

    The address is ``host:port``, with brackets around an IPv6 host, and "" on a unix socket. Raises
    OSError.
    """
    sock = socket(fileno=listening)
    try:
        client, peer = sock.accept()
    except BlockingIOError:
        return None
    finally:
        sock.detach()
    client.setblocking(False)
    if client.family == AF_INET:
        return client.detach(), f"{peer[0]}:{peer[1]}"
    if client.family == AF_INET6:
        return client.detach(), f"[{peer[0]}]:{peer[1]}"
    return client.detach(), ""


def close(fd: int) -> None:
    """Close a socket. Raises OSError."""
    os.close(fd)


def find_ready(epoll: select.epoll, fd: int, ms: int) -> int:
    """Wait until a file is ready, *ms* at most, or a signal comes: how many are, up to MOST_READY.

    *fd* is the descriptor of *epoll*, which it would cost a call to ask for each time.
    Until the next look, ready_fd and ready_events tell of each of them.
    """
    del fd
    _ready[:] = epoll.poll(ms / 1000, MOST_READY)
    return len(_ready)


def ready_fd(at: int) -> int:
    """The file descriptor of one of those that were found."""
    return _ready[at][0]


def ready_events(at: int) -> int:
    """What has happened there, in epoll's words."""
    return _ready[at][1]


def watch(epoll: select.epoll, own_fd: int, fd: int, events: int) -> None:
    """Have *epoll*, whose descriptor is *own_fd*, watch *fd* for *events*. Raises OSError."""
    del own_fd
    epoll.register(fd, events)


def expect(epoll: select.epoll, own_fd: int, fd: int, events: int) -> None:
    """Have *epoll* watch *fd*, which it knows, for *events* from now on. Raises OSError."""
    del own_fd
    epoll.modify(fd, events)


def forget(epoll: select.epoll, own_fd: int, fd: int) -> None:
    """Have *epoll* watch *fd* no more. Raises OSError."""
    del own_fd
    epoll.unregister(fd)


def receive(fd: int) -> bytes | None:
    """What has come, up to AT_ONCE bytes: none at the end of the stream; None: not yet.

    Raises OSError when the connection is broken.
    """
    try:
        return os.read(fd, AT_ONCE)
    except BlockingIOError:
        return None


def receive_into(fd: int, buffer: memoryview) -> int:
    """How many bytes have come into *buffer*: 0 at the end of the stream; -1: none yet.

    Raises OSError when the connection is broken.
    """
    try:
        return os.readv(fd, [buffer])
    except BlockingIOError:
        return -1


def send(fd: int, data: bytearray, size: int) -> int:
    """How many of the first *size* bytes of *data* the socket has taken.

    Raises OSError when the connection is broken.
    """
    with memoryview(data) as view, view[:size] as wanted:
        try:
            return os.write(fd, wanted)
        except BlockingIOError:
            return 0


def send_pieces(fd: int, pieces: list[bytes | bytearray | None], first: int, start: int) -> int:
    """How many bytes the socket has taken of *pieces* from byte *start* of number *first* on.

    Raises OSError when the connection is broken.
    """
    wanted = [piece for piece in pieces[first : first + MOST_PIECES] if piece is not None]
    try:
        return os.writev(fd, [memoryview(wanted[0])[start:], *wanted[1:]])
    except BlockingIOError:
        return 0
