"""The producers of a stream in an RDB; storage/stream/rdb_stream.py has the rest of it.

    limits      seconds  ids
    {producer   name
                {name of an entry  id}}     the oldest first
    counts      added  duplicates

Numbers and counts are RDB lengths, names are RDB strings, and an id is two lengths, ms and seq.
Braces stand for a count, followed by that many of what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import stream_id
from storage.stream.producers import MOST_IDS, MOST_SECONDS, Limits, Producers

I64_MAX = 2**63 - 1
LEAST_PRODUCER = 2  # bytes
LEAST_NAME = 3


def write_producers(writer: RdbWriter, producers: Producers) -> Iterator[None]:
    """Write all of them; at each step the caller may take what has been written."""
    writer.length(producers.seconds)
    writer.length(producers.ids)
    writer.length(producers.count())
    for producer, names in producers.sorted_producers():
        writer.string(producer)
        writer.length(len(names))
        for name, entry_id in names:
            writer.string(name)
            writer.length(entry_id.ms)
            writer.length(entry_id.seq)
        yield
    writer.length(producers.added)
    writer.length(producers.duplicates)


def read(reader: RdbReader) -> Producers:
    """Read all of them. Raises Corrupt."""
    seconds, ids = reader.length(), reader.length()
    if not (1 <= seconds <= MOST_SECONDS and 1 <= ids <= MOST_IDS):
        raise Corrupt("limits of producers that are out of range")
    producers = Producers(Limits(seconds, ids))
    for _ in range(reader.count(LEAST_PRODUCER)):
        _read_producer(reader, producers)
    producers.added = min(reader.length(), I64_MAX)
    producers.duplicates = min(reader.length(), I64_MAX)
    return producers


def _read_producer(reader: RdbReader, producers: Producers) -> None:
    producer = reader.string()
    for _ in range(reader.count(LEAST_NAME)):
        name = reader.string()
        if producers.knows(producer, name):
            raise Corrupt(f"two entries of one producer have one name: {name!r}")
        ms = reader.length()
        producers.restore(producer, name, stream_id.make_id(ms, reader.length()))
