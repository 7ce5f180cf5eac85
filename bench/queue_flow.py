"""python -m bench.queue_flow: how long answers take while a queue is busy.

Entries come at a steady rate, a batch each millisecond, whether or not the answers have come, and
the latency of an answer counts from the time at which its batch was due. Consumers read a hundred
entries at a time and acknowledge them, but for one in a hundred: that is given again when
VISIBILITY is over, and after MAXDELIVERIES it is a dead letter. At the end every entry must be
acknowledged or a dead letter.

The same flow goes through the peers, and through Penstock again, without policies: there every
entry is acknowledged. Where all of them are slow, it is the machine.

The generator is one process: with two CPUs it has one, and the server the other. As root both take
precedence over whatever else runs there: else it is the machine that is measured. The last columns
say how late the load was sent all the same; the latencies of XADD include that.
"""

from __future__ import annotations

import argparse
import gc
import os
import select
import socket
import sys
import time
import zlib
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import hiredis

from bench import report
from bench.client import Argument, encode
from bench.peers import Peer, find_peers, known_folders
from bench.servers import PENSTOCK, Server, cpu_seconds, pin_generator, undisturbed

TICK_S = 0.001
PRODUCERS = 10
CONSUMERS = 8
COUNT = 100
FAILS = 100  # one in so many
VISIBILITY_MS = 200
DELIVERIES = 2
PATIENCE_S = 60.0
SETTLE_S = 2.0  # a second after its start the server gives pages back, once
AT_LAST_S = 0.5  # for the consumers, after the last answer to a producer
CHUNK = 1 << 16  # malloc() would map new pages for each buffer of twice the size
QUANTILES = (0.5, 0.99, 0.999, 0.9999)
CREATE = ("XGROUP", "CREATE", "jobs", "workers", 0, "MKSTREAM")
POLICIES = (
    "XGROUP", "CFGSET", "jobs", "workers", "VISIBILITY", VISIBILITY_MS,
    "MAXDELIVERIES", DELIVERIES, "DEADLETTER", "dead", "MKSTREAM",
)  # fmt: skip


class Latencies:
    """How long answers took: pairs of seconds and of how many answers took so long."""

    def __init__(self) -> None:
        self._found: list[tuple[float, int]] = []

    def note(self, seconds: float, count: int = 1) -> None:
        self._found.append((seconds, count))

    def quantiles(self) -> list[float]:
        """Those of QUANTILES, in ms."""
        self._found.sort()
        total = sum(count for _, count in self._found)
        found, seen, at = [], 0, 0
        for quantile in QUANTILES:
            while seen + self._found[at][1] < quantile * total:
                seen += self._found[at][1]
                at += 1
            found.append(self._found[at][0] * 1000)
        return found


class Flow(NamedTuple):
    """How late the generator was, and how long the answers to XADD and XACK took.

    *acked* entries were acknowledged in the *took_s* seconds.
    """

    late: Latencies
    added: Latencies
    told: Latencies
    acked: int
    took_s: float
    busy: float  # which part of a CPU the server used
    is_prompt: bool  # the generator had precedence on its CPU


class Producer:
    """A connection that adds batches, and the times at which unanswered ones were due."""

    def __init__(self, port: int, latencies: Latencies) -> None:
        self.socket = _connect(port)
        self._latencies = latencies
        self._due: deque[tuple[float, int]] = deque()
        self._lines = 0  # of the answers to the first batch that have come

    def send(self, batch: bytes, count: int, due_s: float) -> None:
        self._due.append((due_s, count))
        self.socket.sendall(batch)

    def receive(self) -> int:
        """Take answers; return how many entries are added by now, of whole batches."""
        self._lines += self.socket.recv(CHUNK).count(b"\n")
        done = 0
        while self._due and self._lines >= 2 * self._due[0][1]:
            due_s, count = self._due.popleft()
            self._lines -= 2 * count
            self._latencies.note(time.perf_counter() - due_s, count)
            done += count
        return done


class Consumer:
    """A connection that reads, acknowledges, and reads again."""

    def __init__(self, port: int, name: str, latencies: Latencies, some_fail: bool) -> None:
        self.socket = _connect(port)
        self._latencies = latencies
        self._some_fail = some_fail
        self._reader = hiredis.Reader()
        words = ("XREADGROUP", "GROUP", "workers", name, "COUNT", COUNT, "BLOCK", 1000)
        self._read = encode((*words, "STREAMS", "jobs", ">"))
        self._told_s = 0.0  # when an XACK was sent that is not answered yet; 0: there is none
        self._ask()

    def _ask(self, *ids: Argument) -> None:
        told = encode(("XACK", "jobs", "workers", *ids)) if ids else b""
        self._told_s = time.perf_counter() if ids else 0.0
        self.socket.sendall(told + self._read)

    def receive(self) -> int:
        """Take answers; return how many entries have been acknowledged."""
        self._reader.feed(self.socket.recv(CHUNK))
        done = 0
        while (answer := self._reader.gets()) is not False:
            if isinstance(answer, hiredis.ReplyError):
                raise answer
            if self._told_s:
                self._latencies.note(time.perf_counter() - self._told_s)
                self._told_s = 0.0
                done += answer
            else:
                self._ask(*self._done(answer))
        return done

    def _done(self, answer: Any) -> list[bytes]:
        """The ids of the entries that are done; the others always fail."""
        entries = answer[0][1] if answer else ()
        return [entry[0] for entry in entries if not (self._some_fail and fails(entry[0]))]


def fails(entry_id: bytes) -> bool:
    """Whether the job of that entry fails, each time."""
    return zlib.crc32(entry_id) % FAILS == 0


def _connect(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class Schedule:
    """Batches that are due at a steady rate, sent by *producers* in turn."""

    def __init__(self, producers: list[Producer], rate: int, seconds: float) -> None:
        self._producers = producers
        self._size = round(rate * TICK_S)
        self._words = encode(("XADD", "jobs", "*", "job", "mail-to-ann", "tries", "3")) * self._size
        self._batches = round(seconds / TICK_S)
        self._sent = 0
        self.late = Latencies()
        self.began_s = time.perf_counter()

    def send_due(self) -> float:
        """Send what is due. Returns after how long the next batch is, in s."""
        while self._sent < self._batches:
            due_s = self.began_s + self._sent * TICK_S
            early_s = due_s - time.perf_counter()
            if early_s > 0:
                return early_s
            self.late.note(-early_s, self._size)
            producer = self._producers[self._sent % len(self._producers)]
            producer.send(self._words, self._size, due_s)
            self._sent += 1
        return AT_LAST_S

    @property
    def entries(self) -> int:
        return self._size * self._batches


def flow(server: Server, rate: int, seconds: float, some_fail: bool) -> Flow:
    """Let entries flow through the group, which is there."""
    time.sleep(SETTLE_S)
    added, told = Latencies(), Latencies()
    before = cpu_seconds(server.pid)
    with undisturbed(server.pid) as is_prompt:
        producers = [Producer(server.port, added) for _ in range(PRODUCERS)]
        consumers = [
            Consumer(server.port, f"w{number}", told, some_fail) for number in range(CONSUMERS)
        ]
        schedule = Schedule(producers, rate, seconds)
        acked, took_s = _converse(schedule, [*producers, *consumers])
    busy = (cpu_seconds(server.pid) - before) / took_s
    return Flow(schedule.late, added, told, acked, took_s, busy, is_prompt)


def _converse(schedule: Schedule, everybody: list[Producer | Consumer]) -> tuple[int, float]:
    """Send what is due, and take all answers: how many entries were acknowledged, and the s."""
    by_number = {each.socket.fileno(): each for each in everybody}
    answered = acked = 0
    with select.epoll() as poll:
        for number in by_number:
            poll.register(number, select.EPOLLIN)
        last = schedule.began_s
        while answered < schedule.entries or time.perf_counter() - last < AT_LAST_S:
            for each in _ready(poll, by_number, schedule.send_due()):
                if isinstance(each, Producer):
                    answered += each.receive()
                    last = time.perf_counter()
                else:
                    acked += each.receive()
                schedule.send_due()  # what comes may take longer than a batch may wait
            if time.perf_counter() - last > PATIENCE_S:
                raise TimeoutError("the server does not answer")
    for each in everybody:
        each.socket.close()
    return acked, last - schedule.began_s


def _ready(
    poll: select.epoll, by_number: dict[int, Producer | Consumer], timeout_s: float
) -> list[Producer | Consumer]:
    """Those to whom something has come, or soon comes."""
    found = poll.poll(0)
    if not found:  # poll() itself waits for whole ms
        select.select([poll], [], [], timeout_s)
        found = poll.poll(0)
    return [by_number[number] for number, _ in found]


def check(server: Server, entries: int) -> str:
    """Wait until all entries are acknowledged or dead letters, as they ought to be."""
    with server.client() as client:
        until = time.monotonic() + PATIENCE_S
        read = ("XREADGROUP", "GROUP", "workers", "last", "COUNT", 1000, "STREAMS", "jobs", ">")
        while client.call("XPENDING", "jobs", "workers")[0] and time.monotonic() < until:
            client.call(*read)
            time.sleep(VISIBILITY_MS / 1000)
        pending = client.call("XPENDING", "jobs", "workers")[0]
        dead = client.call("XLEN", "dead")
        wanted = sum(fails(row[0]) for row in _all(client, entries))
    if pending or dead != wanted:
        raise SystemExit(f"{pending} pending; {dead} dead letters, not {wanted}")
    return f"{dead:,} dead letters, as there should be; nothing is pending"


def _all(client: Any, entries: int) -> list[Any]:
    found: list[Any] = []
    start = b"-"
    while page := client.call("XRANGE", "jobs", start, "+", "COUNT", 10_000):
        found += page
        start = b"(" + page[-1][0]
    if len(found) != entries:
        raise SystemExit(f"{len(found)} entries, not {entries}")
    return found


def head() -> str:
    """The head of the table: the latencies of answers, by quantiles, in ms."""
    columns = (("XADD", QUANTILES), ("XACK", QUANTILES), ("sent late", QUANTILES[-2:]))
    names = "".join(f"{name:<{8 * len(shown)}}" for name, shown in columns)
    shown = "".join(f"{quantile:<8.2%}" for _, shown in columns for quantile in shown)
    return f"{'ms until the answer':32}busy  {names.rstrip()}\n{'':38}{shown.rstrip()}"


def line(name: str, found: Flow) -> str:
    """The line of the table for a server."""
    latencies = *found.added.quantiles(), *found.told.quantiles(), *found.late.quantiles()[-2:]
    return f"{name:32}{found.busy:4.0%}  " + "".join(f"{ms:<8.2f}" for ms in latencies).rstrip()


def with_policies(command: str, rate: int, seconds: float) -> None:
    """Print the latencies of Penstock while some entries fail, and become dead letters."""
    with Server("ours", command) as server:
        with server.client() as client:
            client.call(*CREATE)
            client.call(*POLICIES)
        found = flow(server, rate, seconds, some_fail=True)
        print(line("Penstock, some entries fail", found), flush=True)
        entries = round(rate * TICK_S) * round(seconds / TICK_S)
        print(f"    {entries:,} entries, {entries / found.took_s:,.0f} a second;"
              f" {found.acked:,} acknowledged meanwhile; {check(server, entries)}")  # fmt: skip
    if not found.is_prompt:
        print("    others may take the CPUs: only root can give precedence there")


def without(peer: Peer, rate: int, seconds: float) -> None:
    """Print the latencies of a server with a group without policies; all is acknowledged."""
    with Server(peer.name, peer.command) as server:
        with server.client() as client:
            client.call(*CREATE)
        print(line(peer.name, flow(server, rate, seconds, some_fail=False)), flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print. The exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.queue_flow", description=__doc__)
    parser.add_argument("--rate", type=int, default=100_000, help="entries a second (%(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--alone", action="store_true", help="only Penstock, with policies")
    options = parser.parse_args(argv)
    print(report.machine())
    print(report.neighbours())
    print(head())
    ours = os.environ.get("PENSTOCK_COMMAND", PENSTOCK)
    others = [] if options.alone else [Peer("Penstock", ours), *find_peers(known_folders())]
    for _ in range(options.rounds):
        with_policies(ours, options.rate, options.seconds)
        for other in others:
            without(other, options.rate, options.seconds)
    return 0


if __name__ == "__main__":
    pin_generator()
    gc.disable()
    sys.exit(main())
