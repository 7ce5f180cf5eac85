"""python -m bench.queues: jobs a second of queue libraries, and what a job costs their server.

Each library puts its jobs, which do nothing, into an empty server; then one worker process does
them all. Its rate is that from the beginning of the first job to that of the last one, so the start
of the process does not count; the server's CPU is that of the same time. penstock.queues runs on
Penstock, the others on redis-server. With two CPUs or more the server has one, the worker another.
Other load only makes a round slower, so of the rates the best counts; of the costs the median does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import progress, report
from bench.servers import PENSTOCK, REDIS, ROOT, Server, ServerError, cpu_seconds, pin_generator
from tests.frameworks import environments

PROGRAMS = Path(__file__).parent / "queue_programs"
INSTALLED = ROOT / "build" / "installed"
OURS = "penstock"
RATES = ("enqueued", "done")
PATIENCE_S = 900
FSYNC = {"none": (), "everysec": ("--appendonly", "yes", "--appendfsync", "everysec")}


@dataclass(frozen=True)
class Contender:
    """A *program* of queue_programs with what it is told, in the *environment* of that name.

    A quick one does *times* as many jobs as others, so that it takes long enough to be measured;
    those that are more are put by *fill*, unmeasured.
    """

    title: str
    program: str
    environment: str
    work: tuple[str, ...] = ()
    enqueue: tuple[str, ...] = ()
    times: int = 1
    fill: tuple[str, ...] = ()

    def command(self) -> list[str] | None:
        """What runs it; None if its environment is not there."""
        path = str(PROGRAMS / self.program)
        if self.environment == OURS:
            return [sys.executable, path]
        words = environments.command(self.program, self.environment)
        return words and [*words[:-1], path]


def _ours(title: str, *work: str, enqueue: str = "") -> Contender:
    return Contender(title, "penstock_jobs.py", OURS, work, (enqueue,), 20, ("many",))


CONTENDERS = (
    _ours("penstock.queues, 1 thread", "threads", "1"),
    _ours("penstock.queues, 8 threads", "threads", "8"),
    _ours("penstock.queues, asyncio, 100", "asyncio", "100", enqueue="many"),
    Contender("Celery, solo", "celery_jobs.py", "common", ("solo", "1")),
    Contender("Celery, 8 threads", "celery_jobs.py", "common", ("threads", "8")),
    Contender("RQ, SimpleWorker", "rq_jobs.py", "common"),
    Contender("Dramatiq, 8 threads", "dramatiq_jobs.py", "common", ("8",)),
    Contender("taskiq, streams, 100", "taskiq_jobs.py", "taskiq", ("100",)),
    Contender("BullMQ, 1", "bullmq_jobs.js", environments.NODE, ("1",)),
    Contender("BullMQ, 100", "bullmq_jobs.js", environments.NODE, ("100",), ("many",)),
)


@dataclass(frozen=True)
class Measured:
    """Jobs a second that were put into the queue and that were done, and us of the server's CPU."""

    enqueued: float
    done: float
    cost: float


def main() -> int:
    """Measure, and print a line for each. The exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.queues", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000, help="jobs (default: %(default)s)")
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        help="the best rate counts, and the median of the costs (%(default)s)",
    )
    parser.add_argument("--only", default="", help="those whose names have this in them")
    parser.add_argument("--fsync", choices=FSYNC, default="none", help="with this append-only file")
    options = parser.parse_args()
    pin_generator()
    print(report.machine())
    print(report.neighbours())
    print(f"{'':32}{'enqueued/s':>12}{'jobs/s':>12}{'server us a job':>17}")
    for contender in CONTENDERS:
        if options.only.lower() not in contender.title.lower():
            continue
        command = contender.command()
        if command is None:
            print(f"{contender.title:32} is not installed: make frameworks")
            continue
        try:
            rounds = [
                measure(contender, command, options.jobs, FSYNC[options.fsync])
                for _ in range(options.rounds)
            ]
        except ServerError as error:
            progress.clear()
            print(f"{contender.title:32} {error}")
            continue
        enqueued, done = (max(getattr(each, name) for each in rounds) for name in RATES)
        cost = median(each.cost for each in rounds)
        progress.clear()
        print(f"{contender.title:32}{enqueued:12,.0f}{done:12,.0f}{cost:17.1f}", flush=True)
    return 0


def measure(
    contender: Contender, command: list[str], jobs: int, options: tuple[str, ...]
) -> Measured:
    """One round, with a server of its own. Raises ServerError if it does not come to its end."""
    progress.say(contender.title)
    ours = contender.environment == OURS
    starts = os.environ.get("PENSTOCK_COMMAND", PENSTOCK) if ours else REDIS
    with Server(contender.title, starts, *options) as server:
        url = f"redis://127.0.0.1:{server.port}"
        with _running([*command, "enqueue", url, str(jobs), *contender.enqueue]) as lines:
            put_s = float(_line(lines, "enqueued"))
        more = jobs * (contender.times - 1)
        if more:
            with _running([*command, "enqueue", url, str(more), *contender.fill]) as lines:
                _line(lines, "enqueued")
        total = jobs + more
        with _running([*command, "work", url, str(total), *contender.work]) as lines:
            _line(lines, "first")
            before = cpu_seconds(server.pid)
            took_s = float(_line(lines, "last"))
            cost = (cpu_seconds(server.pid) - before) / total * 1e6
    return Measured(jobs / put_s, total / took_s, cost)


def _line(lines: Iterator[str], word: str) -> str:
    """What follows *word* in the next line that begins with it."""
    for line in lines:
        if line.split()[:1] == [word]:
            return line[len(word) :]
    raise ServerError(f"ended before it said {word!r}")


@contextmanager
def _running(words: list[str]) -> Iterator[Iterator[str]]:
    """The lines that a program prints; it is ended after the block, or when it takes too long."""
    path = os.pathsep.join(map(str, (INSTALLED if INSTALLED.exists() else ROOT, PROGRAMS)))
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
    ) as process:
        timer = threading.Timer(PATIENCE_S, process.kill)
        timer.start()
        try:
            assert process.stdout is not None
            yield process.stdout
        finally:
            timer.cancel()
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
