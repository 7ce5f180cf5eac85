"""The RDB types of a stream: its form in five versions."""

from __future__ import annotations

STREAM_1 = 15  # Redis 5.0
STREAM_2 = 19  # Redis 7.0
STREAM_3 = 21  # Redis 7.2
STREAM_4 = 26  # Redis 8.6
STREAM_5 = 27  # Redis 8.8

# The RDB version; those before are in version 10, too.
SINCE = {STREAM_3: 11, STREAM_4: 13, STREAM_5: 14}
STREAMS = frozenset({STREAM_1, STREAM_2, STREAM_3, STREAM_4, STREAM_5})
