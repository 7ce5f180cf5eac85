"""Where a new query starts in a stream, with the count of entries that belongs to the place."""

from __future__ import annotations

import redis

from pyspark_penstock import bounds
from pyspark_penstock.offsets import Position
from pyspark_penstock.source_options import StreamOptions
from pyspark_penstock.stream_info import StreamState
from pyspark_penstock.walk import count_entries


def head_of(state: StreamState) -> Position:
    """The end of a stream: nothing is behind it."""
    return Position(state.last_id, state.added)


def start_of(
    client: redis.Redis, stream: str, state: StreamState, options: StreamOptions
) -> Position:
    """The position that *options* say. O(n) where it lies between the ends. OptionError."""
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
