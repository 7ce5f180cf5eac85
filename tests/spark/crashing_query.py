"""A streaming query in a process of its own, for a test that kills it.

python -m tests.spark.crashing_query PORT CHECKPOINT BATCH GROUPMODE
"""

from __future__ import annotations

import sys

from pyspark_penstock.jobs.session import session
from tests.spark.jvm import QUICK


def main() -> None:
    """Copy the stream ``in`` to ``out`` until nothing is left; print a line after each batch."""
    port, checkpoint, batch, mode = sys.argv[1:]
    at = {"host": "127.0.0.1", "port": port}
    quick = {"spark.driver.defaultJavaOptions": QUICK}
    spark = session("crash", master="local[2]", settings=quick)
    reader = spark.readStream.format("penstock").options(**at, subscribe="in")
    reader = reader.options(startingOffsets="earliest", maxOffsetsPerTrigger=batch)
    reader = reader.options(group="workers", groupMode=mode)
    writer = reader.schema("i long").load().writeStream.format("penstock")
    writer = writer.options(**at, stream="out", maxTransactionRows="1000")
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination()


if __name__ == "__main__":
    main()
