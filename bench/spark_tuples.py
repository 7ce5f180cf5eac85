"""The yardstick: a data source that yields a Python tuple for each row, as most sources do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import redis
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from pyspark_penstock.read.batch_reader import PenstockReader
from pyspark_penstock.read.plan import Bundle
from pyspark_penstock.read.source_options import BatchOptions, batch_options

PAGE = 1_000
READERS: dict[str, Callable[[str], Any]] = {
    "string": lambda value: value,
    "double": float,
    "bigint": int,
    "boolean": lambda value: value == "true",
}


class TupleSource(DataSource):
    """Reads the same entries as ``penstock``, in the same tasks."""

    @classmethod
    def name(cls) -> str:
        return "penstock_tuples"

    def reader(self, schema: StructType) -> DataSourceReader:
        return TupleReader(batch_options(self.options), schema)


class TupleReader(PenstockReader):
    """Reads with redis-py and makes a tuple of each entry."""

    def __init__(self, options: BatchOptions, schema: StructType) -> None:
        super().__init__(options, schema)
        self._types = [(field.name, field.dataType.simpleString()) for field in schema]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        bundle: Bundle = partition.value
        columns = [(name, READERS[kind]) for name, kind in self._types]
        host, port = self._options.server.addresses[0]
        with redis.Redis(host, port, decode_responses=True) as client:
            for task in bundle.ranges:
                start = f"({task.after}"
                while page := client.xrange(task.stream, start, str(task.upto), PAGE):
                    for _, entry in page:
                        yield tuple(read(entry[name]) for name, read in columns)
                    start = f"({page[-1][0]}"
