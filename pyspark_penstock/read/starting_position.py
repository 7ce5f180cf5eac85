"""The position at which a new query starts: an id, and the count of entries up to it."""

from __future__ import annotations

import redis

from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.read import bounds
from pyspark_penstock.read.entry_count import count_entries
from pyspark_penstock.read.positions import Position
from pyspark_penstock.read.source_options import StreamOptions


def head_of(state: StreamState) -> Position:
    """The end of a stream, after its last entry."""
    return Position(state.last_id, state.added)


def start_of(
    client: redis.Redis, stream: str, state: StreamState, options: StreamOptions
) -> Position:
    """The position that the options ask for. O(n) if it lies inside the stream.

    Raises OptionError.
    """
    after = bounds.resolve_start(client, stream, state, options.starting)
    if after >= state.last_id:
        return head_of(state)
    if state.first_entry is None or after < state.first_entry:
        return Position(after, state.removed)
    behind = count_entries(
        options.server, stream, after, state.last_id, options.fetch_size,
        wait=options.fail_on_data_loss,
    )  # fmt: skip
    return Position(after, state.added - behind)
