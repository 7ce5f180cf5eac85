"""The counters of a LatencyHistogram: the plain versions of the C functions.

*counts* holds one number of 64 bits for each bucket; server/table/latency_histogram.py draws them.
Compiled, no function checks bounds: callers do.
"""

from __future__ import annotations

from storage import octets

COUNT = 8  # bytes


def bucket_of(ns: int) -> int:
    """The number of the bucket that *ns* (1 or more) falls into."""
    shift = max(ns.bit_length() - 8, 0)
    return (shift << 7) + (ns >> shift)


def count_at(counts: bytearray, bucket: int) -> int:
    """How many were counted in that bucket."""
    return octets.i64(counts, bucket * COUNT)


def count_one(counts: bytearray, bucket: int) -> int:
    """Count one more in that bucket."""
    return octets.put_i64(counts, bucket * COUNT, count_at(counts, bucket) + 1)
