"""Targets: to which server and stream each row goes.

The stream is the option ``stream``, or the row's ``_stream``. In a fleet the server is the row's
``_server``, or follows from the column of ``partitionBy``: the CRC-32 of the value as text, modulo
the number of servers, counts through the servers' names in order. So the order in which the option
``servers`` names them does not matter, and the same value always goes to the same server.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.schema import Meaning
from pyspark_penstock.write.sink_options import SinkOptions
from pyspark_penstock.write.value_texts import text_of

WHICH_SERVER = (
    "which server? Give 'partitionBy', the column whose hash says so, or a column '_server'"
)


class Part(NamedTuple):
    """Neighbouring rows for one stream of one server. *first_row* is where the first was before."""

    server: str
    stream: str
    start: int
    rows: int
    first_row: int


class Divided(NamedTuple):
    """Rows in the order of their parts."""

    batch: Any
    parts: list[Part]


class Targets:
    """Divides rows by server and stream. Raises OptionError if something does not say where to."""

    def __init__(
        self, options: SinkOptions, by_meaning: Mapping[Meaning, str], columns: set[str]
    ) -> None:
        self._stream = options.stream
        self._stream_column = None if options.stream else by_meaning.get(Meaning.STREAM)
        self._servers = sorted(options.fleet.names)
        self._hashed = options.partition_by
        self._server_column = by_meaning.get(Meaning.SERVER)
        if not (options.stream or self._stream_column):
            raise OptionError("which stream? Give the option 'stream' or a column '_stream'")
        if options.fleet.is_single:
            self._server_column = None
        elif self._hashed and self._server_column:
            raise OptionError("'partitionBy' and the column '_server' contradict each other")
        elif self._hashed and self._hashed not in columns:
            raise OptionError(f"partitionBy={self._hashed!r}: there is no such column")
        elif len(self._servers) > 1 and not (self._hashed or self._server_column):
            raise OptionError(WHICH_SERVER)

    def divide(self, rows: Any) -> Divided:
        """The rows by server and stream; each part has them in their order. Raises SinkError."""
        streams, stream_codes = self._streams(rows)
        servers, server_codes = self._of_servers(rows)
        if len(streams) == len(servers) == 1:
            return Divided(rows, [Part(servers[0], streams[0], 0, rows.num_rows, 0)])
        codes = np.broadcast_to(server_codes * len(streams) + stream_codes, rows.num_rows)
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.concatenate([[0], np.flatnonzero(codes[1:] != codes[:-1]) + 1])
        ends = np.append(starts[1:], len(codes))
        if len(starts) > 1:
            rows = rows.take(pa.array(order))
        parts = []
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            server, stream = divmod(int(codes[start]), len(streams))
            place = servers[server], streams[stream]
            parts.append(Part(*place, start, end - start, int(order[start])))
        return Divided(rows, parts)

    def _streams(self, rows: Any) -> tuple[list[str], Any]:
        """The streams, and the number of each row's."""
        if self._stream_column is None:
            return [self._stream], 0
        names, codes = distinct(rows.column(self._stream_column))
        if not all(names):
            raise SinkError(f"a row has no stream in its column {self._stream_column!r}")
        return names, codes

    def _of_servers(self, rows: Any) -> tuple[list[str], Any]:
        """The servers, and the number of each row's."""
        if self._server_column is not None:
            names, codes = distinct(rows.column(self._server_column))
            for name in names:
                if name not in self._servers:
                    raise SinkError(
                        f"a row is for the server {name!r}, which is not in the option 'servers'"
                    )
            return names, codes
        if not self._hashed:
            return [self._servers[0]], 0
        values, codes = distinct(text_of(rows.column(self._hashed)))
        servers = np.array([server_of(value, len(self._servers)) for value in values])
        return self._servers, servers[codes]


def server_of(value: bytes | None, servers: int) -> int:
    """The number of the server for a value as text; null counts as empty."""
    return zlib.crc32(value or b"") % servers


def distinct(column: Any) -> tuple[list[Any], Any]:
    """The different values of a column, and the number of each row's."""
    encoded = column.dictionary_encode(null_encoding="encode")
    values = encoded.dictionary
    return values.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
