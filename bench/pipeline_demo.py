"""python -m bench.pipeline_demo: a stream's way through Spark, with checks of all results.

A live aggregate, an archive that trims, a stream restored from it, and SQL over both. The Spark
work is done by ``python -m pyspark_penstock``, as a user would do it. Progress is printed on
standard error.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import redis

from bench.demo.proof import Fact
from bench.pipeline_demo_files import STREAM, digest, entries, records
from bench.progress import Progress
from bench.servers import PENSTOCK, ROOT, Server, ServerError

FILES = 40_000
RESULT, RESTORED = "files-by-kind", "files-again"
GROUP, AUDITOR = "by-kind", "auditor"
LIMIT_S = 300.0
QUICK_START = ("--conf", "spark.driver.defaultJavaOptions=-XX:TieredStopAtLevel=1")
STEPS = 9  # looking for files, three of the pipeline, archive twice, restore, query, health
TICK_S = 0.5
JOB = """\
checkpoint = "{folder}/checkpoint"

[source.files]
subscribe = "files"
startingOffsets = "earliest"
schema = "kind string, size bigint, _ts timestamp"
watermark = "0 seconds"  # the ids of a stream only grow: nothing comes late
group = "by-kind"

[sql]
text = '''
    SELECT window(_ts, '1 second').start AS at, kind, count(*) AS files, sum(size) AS bytes
    FROM files
    GROUP BY window(_ts, '1 second'), kind
'''

[sink]
stream = "files-by-kind"
"""
QUERY = """\
SELECT kind, count(*) AS files, sum(size) AS bytes FROM files
GROUP BY kind ORDER BY bytes DESC LIMIT 5"""


@dataclass(frozen=True)
class Totals:
    """The number of files, and the sum of their sizes."""

    files: int
    size: int


class Demo:
    """The demo on one server, with a folder for what Spark keeps."""

    def __init__(self, port: int, folder: Path, limit: int, progress: Progress) -> None:
        self._port = port
        self._progress = progress
        self._folder = folder
        self._archive = folder / "archive"
        self._limit = limit
        self.server = redis.Redis(port=port)

    def run(self) -> Iterator[Fact]:
        """Run all steps in order; yield the checks."""
        self.server.delete(STREAM, RESULT, RESTORED)
        self._progress.step("looking for files")
        expected = totals_of(records(self._limit))
        print(f"{expected.files:,} files of {expected.size:,} bytes\n")
        self._live(expected)
        yield Fact("entries in the stream", expected.files + 1, self.server.xlen(STREAM))
        yield Fact("sums of the live aggregate", expected, aggregated(self.server))
        whole = digest(self.server, STREAM)
        yield from self._archive_and_trim(expected.files + 1)
        yield from self._restore(whole)
        self._spark("query", QUERY, "--archive", str(self._archive))
        self._spark("health", STREAM, "--html", str(self._folder / "health.html"))

    # ------------------------------------------------------------------ the steps

    def _live(self, expected: Totals) -> None:
        """Run a producer and a live pipeline until everything is counted; then stop the pipeline.

        A window is written when a later entry closes it, so the producer adds one more entry.
        """
        job = self._folder / "job.toml"
        job.write_text(JOB.format(folder=self._folder), "utf-8")
        self.server.xgroup_create(STREAM, AUDITOR, id="0", mkstream=True)
        pipeline = self._start("run", str(job), "--continuous", step="run: Spark starts")
        self._await_query()
        self._progress.step("run: files are added and counted")
        words = ("bench.pipeline_demo_files", str(self._port), str(self._limit))
        subprocess.run([sys.executable, "-m", *words], cwd=ROOT, check=True)
        self._await_result(pipeline, expected)
        self._progress.step("run: it is told to end")
        pipeline.send_signal(signal.SIGTERM)
        finish(pipeline)

    def _archive_and_trim(self, files: int) -> Iterator[Fact]:
        """Archive twice. The first trim stops where a group has read half of the stream."""
        half = files // 2
        read_and_acknowledge(self.server, half)
        command = ("archive", STREAM, "--to", str(self._archive), "--trim")
        self._spark(*command)
        left = self.server.xlen(STREAM)
        yield Fact("entries that the auditor still needs", files - half, left)
        read_and_acknowledge(self.server, files - half)
        self._spark(*command)
        yield Fact("entries left when it has read them", 0, self.server.xlen(STREAM))

    def _restore(self, whole: str) -> Iterator[Fact]:
        """Restore the stream from the archive."""
        self._spark("restore", str(self._archive), "--stream", STREAM, "--into", RESTORED)
        yield Fact("digest of the restored stream", whole, digest(self.server, RESTORED))

    # ------------------------------------------------------------------ processes

    def _spark(self, *words: str) -> None:
        finish(self._start(*words))

    def _start(self, *words: str, step: str = "") -> subprocess.Popen[str]:
        """Start a command of the Spark side; its output is printed with an indent."""
        self._progress.step(step or words[0])
        print(f"$ python -m pyspark_penstock {shlex.join(words)}", flush=True)
        quick = () if words[0] == "health" else QUICK_START  # which is without Spark
        command = [sys.executable, "-m", "pyspark_penstock", *words, *quick]
        server = {"PENSTOCK_SERVERS": f"127.0.0.1:{self._port}"}
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | server, text=True, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        threading.Thread(target=pass_on, args=(process.stdout,), daemon=True).start()
        return process

    def _await_query(self) -> None:
        """Wait until Spark has started the query, that is until its checkpoint exists."""
        deadline = time.monotonic() + LIMIT_S
        while not (self._folder / "checkpoint" / "metadata").exists():
            if time.monotonic() > deadline:
                raise SystemExit("bench.pipeline_demo: Spark does not start")
            time.sleep(TICK_S)

    def _await_result(self, pipeline: subprocess.Popen[str], expected: Totals) -> None:
        """Wait until the aggregate has counted everything and its group has no lag."""
        deadline = time.monotonic() + LIMIT_S
        while lag_of(self.server) != 0 or aggregated(self.server) != expected:
            if pipeline.poll() is not None or time.monotonic() > deadline:
                pipeline.kill()
                raise SystemExit("bench.pipeline_demo: the live pipeline does not get on")
            time.sleep(TICK_S)


def pass_on(lines: IO[str]) -> None:
    """Print lines as they come."""
    for line in lines:
        print(f"  {line}", end="", flush=True)


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a command to end. Raises SystemExit if it has failed."""
    code = process.wait(LIMIT_S)
    print(flush=True)
    if code:
        raise SystemExit(f"bench.pipeline_demo: exit code {code}")


# ---------------------------------------------------------------------- the server


def lag_of(server: redis.Redis) -> int | None:
    """The lag of the pipeline's group; None if there is no such group yet."""
    groups: Any = server.xinfo_groups(STREAM)
    return next((group["lag"] for group in groups if group["name"] == GROUP.encode()), None)


def read_and_acknowledge(server: redis.Redis, count: int) -> None:
    """Let the auditor read and acknowledge *count* entries."""
    while count:
        answer: Any = server.xreadgroup(AUDITOR, "ann", {STREAM: ">"}, count=min(count, 1_000))
        ids = [entry for entry, _ in answer[0][1]]
        server.xack(STREAM, AUDITOR, *ids)
        count -= len(ids)


def totals_of(found: Iterator[dict[bytes, bytes]]) -> Totals:
    """The totals of records."""
    sizes = [int(record[b"size"]) for record in found]
    return Totals(len(sizes), sum(sizes))


def aggregated(server: redis.Redis) -> Totals:
    """The sums over all windows of the aggregate."""
    rows = [row for _, row in entries(server, RESULT)]
    return Totals(sum(int(row[b"files"]) for row in rows), sum(int(row[b"bytes"]) for row in rows))


def main() -> int:
    """Run the demo. Returns the exit status: 1 if a check fails."""
    parser = argparse.ArgumentParser(prog="python -m bench.pipeline_demo", description=__doc__)
    parser.add_argument("--port", type=int, help="use the server there (its files* keys go)")
    parser.add_argument("--command", default=os.environ.get("PENSTOCK_COMMAND", PENSTOCK))
    parser.add_argument("--files", type=int, default=FILES, help="at most")
    parser.add_argument("--keep", type=Path, help="an empty folder for archive and page")
    options = parser.parse_args()
    with ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory())
        port = options.port
        if port is None:
            port = stack.enter_context(Server("the server", options.command)).port
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        progress = stack.enter_context(Progress(STEPS))
        facts = list(Demo(port, folder, options.files, progress).run())
    for fact in facts:
        mark = "ok" if fact.holds else f"WRONG: {fact.found}"
        print(f"{fact.text:40}{fact.expected!s:>45}  {mark}")
    good = all(fact.holds for fact in facts)
    print("\nAll of it holds." if good else "\nSomething does not hold.")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ServerError, redis.ConnectionError) as error:
        sys.exit(f"bench.pipeline_demo: {error}")
