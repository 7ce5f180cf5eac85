"""The latency of an entry from its XADD, through a streaming query, to XADD into another stream.

A thread adds entries at a fixed rate, each with the time at which it was due, so that delays of the
producer count as latency. The query copies them with Spark's default trigger, exactly once. The id
of the copy says when the server has written it; both clocks are this machine's.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import redis
from pyspark.sql import SparkSession

IN, OUT = "latency:in", "latency:out"
WARM_UP_S = 15.0
BURST_S = 0.01


class Producer(threading.Thread):
    """Adds *per_second* entries a second until it is stopped."""

    def __init__(self, port: int, per_second: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._burst = int(per_second * BURST_S)
        self._stopped = threading.Event()

    def run(self) -> None:
        """Add a burst of entries every BURST_S seconds; a late burst is added at once."""
        due = time.time()
        with redis.Redis(port=self._port) as client:
            while not self._stopped.is_set():
                with client.pipeline(transaction=False) as pipeline:
                    for _ in range(self._burst):
                        pipeline.xadd(IN, {"due": int(due * 1_000)})
                    pipeline.execute()
                due += BURST_S
                time.sleep(max(0.0, due - time.time()))

    def stop(self) -> None:
        """Stop after the present burst."""
        self._stopped.set()
        self.join()


def latency_ms(
    spark: SparkSession, port: int, folder: Path, per_second: int, seconds: int
) -> tuple[float, float]:
    """The median and the 99th percentile of the latency over *seconds*, after a warm-up."""
    at = {"host": "127.0.0.1", "port": str(port)}
    reader = spark.readStream.format("penstock").options(**at, subscribe=IN).schema("due long")
    writer = reader.load().writeStream.format("penstock").options(**at, stream=OUT)
    query = writer.option("checkpointLocation", str(folder / "latency")).start()
    producer = Producer(port, per_second)
    producer.start()
    try:
        time.sleep(WARM_UP_S)
        begin = int(time.time() * 1_000)
        time.sleep(seconds)
    finally:
        producer.stop()
        query.stop()
    with redis.Redis(port=port) as client:
        copies = client.xrange(OUT, begin, "+")
        client.delete(IN, OUT)
    taken = sorted(int(i.split(b"-")[0]) - int(fields[b"due"]) for i, fields in copies)
    return taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
