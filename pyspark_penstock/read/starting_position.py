"""The position at which a new query starts: an id, and the count of entries up to it."""

from __future__ import annotations

from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.read import bounds
from pyspark_penstock.read.bounds import Groups
from pyspark_penstock.read.entry_count import count_entries
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import StreamOptions
from pyspark_penstock.read.walked import Walked


def head_of(state: StreamState) -> Position:
    """The end of a stream, after its last entry."""
    return Position(state.last_id, state.added)


def start_of(
    groups: Groups,
    stream: str,
    state: StreamState,
    options: StreamOptions,
    walked: Walked | None = None,
) -> Position:
    """The position that the options ask for. O(n) if it lies inside the stream.

    What is found on the way is left in *walked*. Raises OptionError.
    """
    after = bounds.resolve_start(groups, stream, state, options.starting)
    if after >= state.last_id:
        return head_of(state)
    if state.first_entry is None or after < state.first_entry:
        return Position(after, state.removed)
    walked = walked or Walked()
    pages: list[Cut] = []
    scan = Scan(
        options.server, stream, after, state.last_id, options.fetch_size,
        wait=options.fail_on_data_loss,
    )  # fmt: skip
    behind = count_entries(scan, pages)
    position = Position(after, state.added - behind)
    walked.learn(stream, position, pages, state.removed)
    return position
