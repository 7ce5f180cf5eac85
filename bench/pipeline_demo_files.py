"""python -m bench.pipeline_demo_files PORT LIMIT: an entry for each file under /usr, as found.

An entry has the file's path, kind (the suffix of its name), size and modification time. One more
entry, of kind ``end``, follows a window later.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePath
from typing import Any

import redis

ROOT = "/usr"
STREAM = "files"
BATCH = 100
PAGE = 1_000
PAUSE_S = 0.02
LAST_WINDOW_S = 1.1
Record = dict[bytes, bytes]
END: Record = {b"kind": b"end", b"size": b"0"}


def records(limit: int) -> Iterator[Record]:
    """At most *limit* regular files. If the files do not change, neither does their order."""
    return islice(_all_records(), limit)


def _all_records() -> Iterator[Record]:
    for folder, subfolders, names in os.walk(ROOT):
        subfolders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            found = os.stat(path)
            yield {
                b"path": os.fsencode(path),
                b"kind": os.fsencode(PurePath(name).suffix or "none"),
                b"size": b"%d" % found.st_size,
                b"modified": b"%d" % found.st_mtime_ns,
            }


def produce(port: int, limit: int) -> None:
    """XADD every record, BATCH commands at a time, with pauses as in a real source."""
    remaining = records(limit)
    with redis.Redis(port=port) as server:
        while batch := list(islice(remaining, BATCH)):
            pipe = server.pipeline(transaction=False)
            for record in batch:
                pipe.xadd(STREAM, {**record})
            pipe.execute()
            time.sleep(PAUSE_S)
        time.sleep(LAST_WINDOW_S)  # the windows of the demo are in real time
        server.xadd(STREAM, {**END})


def entries(server: redis.Redis, stream: str) -> Iterator[tuple[bytes, Record]]:
    """All entries of a stream."""
    start = b"-"
    while page := _page(server, stream, start):
        yield from page
        start = b"(" + page[-1][0]


def _page(server: redis.Redis, stream: str, start: bytes) -> list[tuple[bytes, Record]]:
    answer: Any = server.xrange(stream, start.decode(), "+", PAGE)
    return list(answer)


def digest(server: redis.Redis, stream: str) -> str:
    """The digest of a whole stream: of its ids, fields and values, in order."""
    whole = hashlib.sha256()
    for entry, fields in entries(server, stream):
        for part in (entry, *(part for pair in fields.items() for part in pair)):
            whole.update(b"%d:%b" % (len(part), part))
    return whole.hexdigest()[:16]


if __name__ == "__main__":
    produce(int(sys.argv[1]), int(sys.argv[2]))
