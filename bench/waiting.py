"""python -m bench.waiting: how punctually ten thousand blocked clients are served, and their cost.

It answers three questions about one server:

1. Clients wait in BLPOP, with time-outs spread over some seconds. How long after its time-out is
   each answered, measured at the client from the moment when it sent the command?
2. All clients wait without a time-out, and nothing happens. How much CPU does the server use?
3. All clients disconnect at once while they wait. What is left of them? If an item is pushed to a
   list for which one of them waited, is it still there?
"""

from __future__ import annotations

import argparse
import os
import resource
import select
import socket
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from bench.client import encode
from bench.servers import PENSTOCK, Server, ServerError, cpu_seconds, pin_generator
from bench.wake_delay import measured_wake_delay

CLIENTS = 10_000
FIRST_TIMEOUT, LAST_TIMEOUT = 3.0, 10.0  # seconds
MOST_LATE = 0.015
IDLE_SECONDS = 10.0
MOST_IDLE_CPU = 0.01  # of one CPU, beyond what the server uses with no client at all
GONE_SECONDS = 10.0
CHUNK = 4096
PING_EVERY = 10  # commands; after so many, a PING waits for the server

Check = tuple[str, str, bool]


def main() -> int:
    """Answer the questions. Returns the exit status: 1 if one of the answers is bad."""
    parser = argparse.ArgumentParser(prog="python -m bench.waiting", description=__doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--command", default=os.environ.get("PENSTOCK_COMMAND", PENSTOCK))
    options = parser.parse_args()
    _allow_files(options.clients + 100)
    pin_generator()
    checks: list[Check] = []
    with Server("the server", options.command, "--maxclients", str(options.clients + 100)) as it:
        for ask in (timeouts, idleness, leftovers):
            for check in ask(it, options.clients):
                checks.append(check)
                print(_line(check), flush=True)
    return 0 if all(good for _, _, good in checks) else 1


def timeouts(server: Server, clients: int) -> Iterable[Check]:
    """How late the answers to BLPOP with a time-out are."""
    waits = [
        FIRST_TIMEOUT + (LAST_TIMEOUT - FIRST_TIMEOUT) * (number * 7919 % clients) / clients
        for number in range(clients)
    ]
    with _connected(server, clients) as sockets, measured_wake_delay() as wake_delay:
        before = cpu_seconds(server.pid)
        late = sorted(_lateness(server, sockets, waits))
        sleeper = wake_delay()
        cost = (cpu_seconds(server.pid) - before) / clients
    yield f"{clients:,} time-outs, the most late", f"{late[-1] * 1e3:.2f} ms", late[-1] <= MOST_LATE
    for share in (0.5, 0.99):
        yield f"    {share:.0%} of them at most", f"{late[int(share * clients)] * 1e3:.2f} ms", True
    yield "    the earliest", f"{late[0] * 1e3:.2f} ms", late[0] >= 0
    yield "    a process that only sleeps, the most late", f"{sleeper * 1e3:.2f} ms", True
    yield "    server CPU for each wait", f"{cost * 1e6:.1f} us", True


def idleness(server: Server, clients: int) -> Iterable[Check]:
    """What blocked clients cost while nothing happens."""
    alone = _idle_cpu(server)
    yield "CPU of the idle server, no clients", f"{alone:.2%}", True
    with _connected(server, clients) as sockets:
        _block(sockets)
        _await(server, "blocked_clients", lambda number: number == clients)
        waiting = _idle_cpu(server)
        resident = server.usage().resident / clients
    yield f"    with {clients:,} blocked clients", f"{waiting:.2%}", waiting < alone + MOST_IDLE_CPU
    yield "    resident memory a client, at most", f"{resident:,.0f} bytes", True


def leftovers(server: Server, clients: int) -> Iterable[Check]:
    """What remains of clients that disconnect while they are blocked."""
    _await(server, "connected_clients", lambda number: number == 1)
    before = server.usage()
    with _connected(server, clients) as sockets:
        _block(sockets)
        _await(server, "blocked_clients", lambda number: number == clients)
        began = time.perf_counter()
    _await(server, "connected_clients", lambda number: number == 1)
    seconds = time.perf_counter() - began
    yield f"{clients:,} blocked clients gone within", f"{seconds:.2f} s", seconds < GONE_SECONDS
    info = server.info()
    blocked, connected = int(info["blocked_clients"]), int(info["connected_clients"])
    yield "    blocked and connected clients left", f"{blocked}, {connected - 1}", blocked == 0
    files = server.usage().files - before.files
    yield "    open files left", f"{files}", files <= 0
    grown = server.usage().resident - before.resident
    yield (
        "    growth of resident memory",
        f"{grown / clients:,.0f} bytes each",
        True,
    )
    with server.client() as client:
        client.call("RPUSH", _key(7), "item")
        length = client.call("LLEN", _key(7))
    yield "    items left in a list one waited for", f"{length} of 1", length == 1


@contextmanager
def _connected(server: Server, clients: int) -> Any:
    """Open *clients* connections, and close them all at once at the end."""
    sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(clients)]
    try:
        yield sockets
    finally:
        for sock in sockets:
            sock.close()


def _key(number: int) -> str:
    return f"awaited:{number}"


def _block(sockets: Sequence[socket.socket]) -> None:
    """Let all wait without a time-out."""
    for number, sock in enumerate(sockets):
        sock.sendall(encode(("BLPOP", _key(number), 0)))


def _lateness(
    server: Server, sockets: Sequence[socket.socket], waits: Sequence[float]
) -> list[float]:
    """Seconds from the end of each time-out to its answer.

    The commands are sent PING_EVERY at a time, after the server has read the ones before. A
    time-out starts when the server has read the command, which must be soon after it was sent.
    """
    due: dict[int, float] = {}
    late: list[float] = []
    with select.epoll() as poll, server.client() as client:
        for number, (sock, wait) in enumerate(zip(sockets, waits, strict=True)):
            poll.register(sock.fileno(), select.EPOLLIN)
            due[sock.fileno()] = time.perf_counter() + wait
            sock.sendall(encode(("BLPOP", _key(number), f"{wait:.4f}")))
            if number % PING_EVERY == 0:
                client.call("PING")
        by_number = {sock.fileno(): sock for sock in sockets}
        while due:
            for ready, _ in poll.poll(2 * LAST_TIMEOUT):
                now = time.perf_counter()
                by_number[ready].recv(CHUNK)
                late.append(now - due.pop(ready))
    return late


def _idle_cpu(server: Server) -> float:
    """Share of a CPU that the server uses in the next IDLE_SECONDS."""
    before = cpu_seconds(server.pid)
    time.sleep(IDLE_SECONDS)
    return (cpu_seconds(server.pid) - before) / IDLE_SECONDS


def _await(server: Server, field: str, accept: Callable[[int], bool]) -> None:
    """Wait until *accept* is true for a field of INFO, or GONE_SECONDS have passed."""
    deadline = time.monotonic() + GONE_SECONDS
    while not accept(int(server.info()[field])) and time.monotonic() < deadline:
        time.sleep(0.02)


def _allow_files(number: int) -> None:
    """Raise the limit of open files, for this process and its servers, to *number*."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))


def _line(check: Check) -> str:
    title, value, good = check
    return f"{title:44}{value:>16}{'' if good else '   <- bad'}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ServerError as error:
        sys.exit(f"bench.waiting: {error}")
