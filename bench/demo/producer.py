"""python -m bench.demo.producer PORT SOURCE LIMIT: adds a source's records to the stream."""

from __future__ import annotations

import sys
from itertools import islice

from bench.demo.dataset import records
from bench.demo.names import STREAM, connect

BATCH = 200


def produce(port: int, source: str, limit: int) -> None:
    """XADD every record, BATCH commands at a time."""
    remaining = records(source, limit)
    with connect(port) as server:
        while batch := list(islice(remaining, BATCH)):
            pipe = server.pipeline(transaction=False)
            for record in batch:
                pipe.xadd(STREAM, {**record})
            pipe.execute()


if __name__ == "__main__":
    produce(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
