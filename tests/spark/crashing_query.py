"""A streaming query in a process of its own, for a test that kills it, or its servers.

python -m tests.spark.crashing_query JSON, with the fields of ``Copy``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark_penstock.jobs.session import quick_checkpoint, session
from tests.spark.jvm import QUICK

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Copy:
    """A query that copies ``in`` to ``out``, in batches of *batch* entries, until nothing is left.

    With several *streams* it copies ``in:0``, ``in:1``, ... to ``out:0``, ``out:1``, ..., in some
    tasks a batch, each of which has rows for all of them.
    """

    at: dict[str, str]
    checkpoint: str
    batch: int
    mode: str
    streams: int = 1
    wait_replicas: int = 0

    def names(self, side: str) -> list[str]:
        """The streams of a side."""
        return [side] if self.streams == 1 else [f"{side}:{n}" for n in range(self.streams)]

    def start(self) -> subprocess.Popen[bytes]:
        """Start the query as the leader of a process group, which is killed as a whole."""
        command = [sys.executable, "-m", "tests.spark.crashing_query", json.dumps(asdict(self))]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=log)

    @property
    def log(self) -> Path:
        """What driver and tasks print."""
        return Path(f"{self.checkpoint}.log")

    @property
    def last_words(self) -> str:
        """The end of that, to be told if the query has failed."""
        return self.log.read_text("utf-8", errors="replace")[-5_000:]

    def run(self) -> None:
        """Run it in this process."""
        quick = {"spark.driver.defaultJavaOptions": QUICK}
        spark = session("crash", master="local[2]", settings=quick)
        quick_checkpoint(spark, self.checkpoint)  # as ``run`` and ``archive`` do
        reader = spark.readStream.format("penstock").options(**self.at)
        reader = reader.options(subscribe=",".join(self.names("in")), startingOffsets="earliest")
        reader = reader.options(maxOffsetsPerTrigger=str(self.batch))
        if self.streams > 1:
            reader = reader.option("maxRecordsPerPartition", str(self.batch // 3))
        rows = reader.options(group="workers", groupMode=self.mode).schema("i long").load()
        given = self.at | {"maxTransactionRows": "1000", "checkpointLocation": self.checkpoint}
        if self.wait_replicas:
            given["waitReplicas"] = str(self.wait_replicas)
        if self.streams == 1:
            given["stream"] = "out"
        else:
            rows = rows.selectExpr("i", f"concat('out:', i DIV 10 % {self.streams}) AS _stream")
        writer = rows.writeStream.format("penstock").options(**given)
        writer.trigger(availableNow=True).start().awaitTermination()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill driver, JVM and workers."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    Copy(**json.loads(sys.argv[1])).run()
