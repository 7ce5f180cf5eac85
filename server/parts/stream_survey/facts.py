"""Facts of all streams together: INFO streams.

Their names begin with penstock_, so that a field of Redis's may come to this section.
"""

from __future__ import annotations

from typing import NamedTuple

from server.observe.fact import BYTES, COUNT, MILLISECONDS, SECONDS, Facts, gauge
from server.parts.stream_survey.survey import Sums, Survey


class Surveyed(NamedTuple):
    """The sums, and how old they are."""

    sums: Sums
    age_s: int


def surveyed(survey: Survey) -> Surveyed | None:
    """None until all streams have been looked at once."""
    sums = survey.sums()
    return None if sums is None else Surveyed(sums, survey.age_s(sums))


STREAMS = Facts[Surveyed](
    gauge("penstock_streams", COUNT, lambda all_: all_.sums.streams, "Streams"),
    gauge("penstock_streams_counted_ago", SECONDS, lambda all_: all_.age_s,
          "How old the figures of streams are: of many keys they are made in the background"),
    gauge("penstock_stream_entries", COUNT, lambda all_: all_.sums.entries,
          "Entries of streams"),
    gauge("penstock_stream_bytes", BYTES, lambda all_: all_.sums.bytes,
          "What the nodes take that have the entries of streams"),
    gauge("penstock_stream_scheduled", COUNT, lambda all_: all_.sums.scheduled,
          "Entries of streams that are added later"),
    gauge("penstock_stream_groups", COUNT, lambda all_: all_.sums.groups, "Consumer groups"),
    gauge("penstock_stream_consumers", COUNT, lambda all_: all_.sums.consumers, "Consumers"),
    gauge("penstock_stream_pending", COUNT, lambda all_: all_.sums.pending,
          "Entries that were delivered and not acknowledged, once for each group"),
    gauge("penstock_stream_largest_lag", COUNT, lambda all_: all_.sums.lag,
          "The most entries that a group has still to read, of the groups of which that is known"),
    gauge("penstock_stream_unknown_lags", COUNT, lambda all_: all_.sums.unknown_lags,
          "Groups of which the lag is not known; XINFO GROUPS EXACT counts"),
    gauge("penstock_stream_oldest_pending_ms", MILLISECONDS,
          lambda all_: all_.sums.oldest_pending_ms,
          "How long ago the oldest delivery was that is not acknowledged; 0: there is none"),
    gauge("penstock_stream_redelivered", COUNT, lambda all_: all_.sums.redelivered,
          "Deliveries of entries that had been delivered before, by the groups that there are"),
    gauge("penstock_stream_dead_lettered", COUNT, lambda all_: all_.sums.dead_lettered,
          "Entries that have become dead letters of the groups that there are"),
    when="As soon as the streams have been looked at",
)  # fmt: skip
