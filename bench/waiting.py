"""python -m bench.waiting: ten thousand blocked clients, how punctual and how costly they are.

Three questions are asked of one server:

1. Clients wait in BLPOP with time-outs spread over some seconds: how long after its time-out is
   each answered, measured at the client from the moment it sent the command?
2. They all wait without end and nothing happens: how much CPU does the server use?
3. They all disconnect at once while they wait: what is left behind, and is an item that is pushed
   to a list that one of them waited for still there?
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

from bench.bystander import bystander
from bench.client import encode
from bench.servers import PENSTOCK, Server, ServerError, cpu_seconds, pin_generator

CLIENTS = 10_000
FIRST_TIMEOUT, LAST_TIMEOUT = 3.0, 10.0  # seconds
MOST_LATE = 0.015
IDLE_SECONDS = 10.0
MOST_IDLE_CPU = 0.01  # of one CPU, beyond what the server uses with no client at all
GONE_SECONDS = 10.0
CHUNK = 4096
LOT = 10  # commands sent before the server is waited for

Check = tuple[str, str, bool]


def main() -> int:
    """Ask the questions, print the answers; the exit status is 1 if one of them is bad."""
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
    with _connected(server, clients) as plugs, bystander() as lateness_of_sleeper:
        before = cpu_seconds(server.pid)
        late = sorted(_lateness(server, plugs, waits))
        sleeper = lateness_of_sleeper()
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
    with _connected(server, clients) as plugs:
        _block(plugs)
        _await(server, "blocked_clients", lambda number: number == clients)
        waiting = _idle_cpu(server)
        resident = server.usage().resident / clients
    yield f"    with {clients:,} blocked clients", f"{waiting:.2%}", waiting < alone + MOST_IDLE_CPU
    yield "    resident memory a client, at most", f"{resident:,.0f} bytes", True


def leftovers(server: Server, clients: int) -> Iterable[Check]:
    """What remains of clients that disconnect while they are blocked."""
    _await(server, "connected_clients", lambda number: number == 1)
    before = server.usage()
    with _connected(server, clients) as plugs:
        _block(plugs)
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
    """So many connections, closed all at once at the end."""
    plugs = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(clients)]
    try:
        yield plugs
    finally:
        for plug in plugs:
            plug.close()


def _key(number: int) -> str:
    return f"awaited:{number}"


def _block(plugs: Sequence[socket.socket]) -> None:
    """Let all wait without end."""
    for number, plug in enumerate(plugs):
        plug.sendall(encode(("BLPOP", _key(number), 0)))


def _lateness(
    server: Server, plugs: Sequence[socket.socket], waits: Sequence[float]
) -> list[float]:
    """Seconds from the end of each time-out to its answer.

    The commands are sent a few at a time, each lot when the server has taken the one before: a
    time-out runs from when the server has read it, which must not be long after it was sent.
    """
    due: dict[int, float] = {}
    late: list[float] = []
    with select.epoll() as poll, server.client() as client:
        for number, (plug, wait) in enumerate(zip(plugs, waits, strict=True)):
            poll.register(plug.fileno(), select.EPOLLIN)
            due[plug.fileno()] = time.perf_counter() + wait
            plug.sendall(encode(("BLPOP", _key(number), f"{wait:.4f}")))
            if number % LOT == 0:
                client.call("PING")
        by_number = {plug.fileno(): plug for plug in plugs}
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
    """Return when a field of INFO is as it should be, after GONE_SECONDS at the latest."""
    deadline = time.monotonic() + GONE_SECONDS
    while not accept(int(server.info()[field])) and time.monotonic() < deadline:
        time.sleep(0.02)


def _allow_files(number: int) -> None:
    """Let this process and the server it starts have so many connections."""
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
