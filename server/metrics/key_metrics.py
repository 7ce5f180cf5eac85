"""Metrics of single keys (metrics-keys), and how many keys match patterns (metrics-key-groups).

    metrics-keys jobs:open db3=counter       of each key its length, its memory, a number that it is
    metrics-key-groups session:* job:*       of each database, how many keys match each pattern

Both are off unless they are set. To count keys all of them are looked at, KEYS_A_STEP in a step.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from server.metrics.exposition import label_of, labels_text
from server.metrics.family import Readings, Row, Table, column
from server.parts.state import ServerState
from storage import glob, types
from storage.keyspace.keyspace import Keyspace
from storage.stream.stream import Stream
from storage.strings.value_type import STRING, text_of

KEYS_A_STEP = 200
MOST_ELEMENTS = 1000  # of a value whose memory is counted: counting copies it
SAMPLES = 5  # as MEMORY USAGE

_NAMED = re.compile(r"db([0-9]{1,6})=(.+)", re.DOTALL)
_DECIMAL = re.compile(rb"[-+]?[0-9]{1,40}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,3})?")


class KeyRow(NamedTuple):
    """What is told of a key."""

    size: int
    memory: int | None
    value: float | None


def keys(state: ServerState) -> Iterator[Row[KeyRow]]:
    """The keys of metrics-keys that are there."""
    for word in state.config.metrics_keys:
        found = _NAMED.fullmatch(word)
        index, text = (int(found[1]), found[2]) if found else (0, word)
        key = text.encode("utf-8", "surrogateescape")
        if index < len(state.databases):
            db = state.databases[index]
            row = _key_row(db, key)
            if row is not None:
                yield Row((f"db{index}", label_of(key)), row)


def _key_row(db: Keyspace, key: bytes) -> KeyRow | None:
    """None if there is no such key."""
    value = db.table.look(key)
    if value is None:
        return None
    row = types.of(value)
    size = len(text_of(value)) if row is STRING else row.length(value)
    if isinstance(value, Stream):
        memory: int | None = value.node_bytes()
    else:
        memory = db.bytes_of(key, SAMPLES) if row is STRING or size <= MOST_ELEMENTS else None
    number = _DECIMAL.fullmatch(text_of(value)) if row is STRING and size < 100 else None
    return KeyRow(size, memory, None if number is None else float(number[0]))


LABELS = ("db", "key")
KEYS = Table(
    [
        column("redis_key_size", "number", "Bytes of a string, elements of another value, of the"
               " keys that metrics-keys names", lambda row: row.size, LABELS),
        column("redis_key_memory_usage_bytes", "bytes",
               "What the key takes with its value; of a large value it is not counted, and of a"
               " stream its nodes are", lambda row: row.memory, LABELS),
        column("redis_key_value", "number", "The value, if it is a number",
               lambda row: row.value, LABELS),
    ],
    keys,
)  # fmt: skip


class KeyGroups:
    """How many keys match the patterns of metrics-key-groups; of several, the first counts."""

    def __init__(self, patterns: list[str]) -> None:
        self._patterns = [
            (pattern.encode("utf-8", "surrogateescape"), pattern) for pattern in patterns
        ]
        self._counts: Counter[tuple[int, bytes]] = Counter()

    def collect(self, state: ServerState) -> Iterator[None]:
        """Look at all keys, in steps."""
        if not self._patterns:
            return
        for db in state.databases:
            cursor = 0
            while len(db):
                cursor, page = db.scan(cursor, KEYS_A_STEP)
                for key in page:
                    for pattern, _ in self._patterns:
                        if glob.match(pattern, key):
                            self._counts[db.index, pattern] += 1
                            break
                yield
                if not cursor:
                    break

    def readings(self) -> Readings[int]:
        """A row for each database that has keys of the group."""
        found = Readings(GROUP_COLUMNS)
        for (index, pattern), count in sorted(self._counts.items()):
            found.add(labels_text((f"db{index}", label_of(pattern))), count)
        return found


GROUP_COLUMNS = (
    column("redis_key_group_count", "number",
           "Keys that match a pattern of metrics-key-groups, and none before it",
           lambda count: count, ("db", "key_group")),
)  # fmt: skip
