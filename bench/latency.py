"""Latency at a steady load: requests leave at fixed times, whether or not answers have come.

A closed loop would send less while the server pauses, and so hide the pause. Here each request is
due at a fixed time, and its latency counts from then, so requests that wait for the end of a pause
count, too. The load is XADD and SET in turn, on servers that hold many keys, where pauses of a
garbage collector would show.
"""

from __future__ import annotations

import select
import socket
import statistics
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bench import progress
from bench.client import encode
from bench.load import STALL_SECONDS, StalledError
from bench.memory import keys
from bench.results import Comparison
from bench.servers import Server, in_turns
from bench.workloads import CLIENTS, FIELDS

CHUNK = 1 << 16
RATE_SHARE = 0.5  # of the rate that a peer reaches at depth 1
MOST_RATE = 15_000  # requests a second; a generator in Python could not keep up with more
QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}

# A request, and how many line feeds its answer holds. Answers are counted by their line feeds.
XADD = (encode(("XADD", "readings", "MAXLEN", "~", 10_000, "*", *FIELDS)), 2)
SET = (encode(("SET", "key:000000042", "xyz")), 1)


@dataclass(slots=True)
class _Connection:
    """A connection, the times at which its unanswered requests were due, and their line feeds."""

    socket: socket.socket
    due: deque[float]
    lines: deque[int]


def measure(
    servers: Sequence[Server], rate: float, count: int, seconds: float, rounds: int
) -> Iterator[Comparison]:
    """Compare the quantiles at *rate* requests a second: the medians of *rounds* rounds.

    The servers are filled with *count* keys first.
    """
    samples: dict[Server, list[list[float]]] = {server: [] for server in servers}
    for server in servers:
        progress.say(f"latency: {count:,} keys, {server.name}")
        with server.client() as client:
            client.load(keys(count))
    for server in in_turns(servers, rounds):
        progress.say(f"latency: a round of {rounds}, {server.name}")
        samples[server].append(sorted(steady_load(server.port, rate, seconds)))
    for title, quantile in QUANTILES.items():
        ours, *peers = (_median(samples[server], quantile) for server in servers)
        yield Comparison(f"{title} at {rate:,.0f}/s", "ms", ours, peers)


def _median(rounds: list[list[float]], quantile: float) -> float:
    """The median over the rounds of a quantile, in ms."""
    return 1000 * statistics.median(times[int(quantile * len(times))] for times in rounds)


def steady_load(port: int, rate: float, seconds: float) -> list[float]:
    """The latencies, in seconds, of *rate* requests a second sent for *seconds*."""
    with ExitStack() as stack:
        poll = stack.enter_context(select.epoll())
        connections = []
        for _ in range(CLIENTS):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            poll.register(sock.fileno(), select.EPOLLIN)
            connections.append(_Connection(sock, deque(), deque()))
        return _load(poll, connections, rate, int(rate * seconds))


def _load(
    poll: select.epoll, connections: list[_Connection], rate: float, requests: int
) -> list[float]:
    by_number = {connection.socket.fileno(): connection for connection in connections}
    latencies: list[float] = []
    sent = 0
    began = last = time.perf_counter()
    while len(latencies) < requests:
        now = time.perf_counter()
        while sent < requests and began + sent / rate <= now:
            request, lines = (XADD, SET)[sent % 2]
            connection = connections[sent // 2 % CLIENTS]
            connection.due.append(began + sent / rate)
            connection.lines.append(lines)
            connection.socket.sendall(request)
            sent += 1
        for number, _ in poll.poll(0):
            last = _receive(by_number[number], latencies)
        if now - last > STALL_SECONDS:
            raise StalledError(f"{requests - len(latencies)} requests were not answered")
    return latencies


def _receive(connection: _Connection, latencies: list[float]) -> float:
    """Receive, and record the latency of each complete answer; return the time of receipt."""
    lines = connection.socket.recv(CHUNK).count(b"\n")
    now = time.perf_counter()
    while lines:
        taken = min(lines, connection.lines[0])
        lines -= taken
        connection.lines[0] -= taken
        if not connection.lines[0]:
            connection.lines.popleft()
            latencies.append(now - connection.due.popleft())
    return now
