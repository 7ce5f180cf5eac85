"""How long the calls of a command took: counts in buckets from 1 ns to 1 s.

It is an HDR histogram with two significant digits, as Redis keeps one for each command. Each power
of two above 256 has 128 buckets of one width, so that a bucket is at most 1/128 of its time wide:

    ns       1 2 3 .. 255 | 256 258 .. 510 | 512 516 .. 1020 | ..          | .. 2**30 - 1
    bucket   1 2 3 .. 255 | 256 257 .. 383 | 384 385 ..  511 | ..          | .. 3071
    width        1        |       2        |        4        | 8, 16, ..   |

Source: http://hdrhistogram.org
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from storage import octets

LONGEST_NS = 1_000_000_000  # a longer call counts as one that took 1 s
BUCKETS = 3072
COUNT = 8  # bytes: a bucket's number of calls
FIRST_STEP_NS = 1024  # the steps of LATENCY HISTOGRAM: each is twice the one before


class LatencyHistogram:
    """Takes no memory before its first call (24 KB from then on). *calls* is how many it counts."""

    __slots__ = ("_counts", "calls")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all calls."""
        self.calls = 0
        self._counts: bytearray | None = None

    def record(self, ns: int) -> None:
        """Count a call that took *ns*. O(1)."""
        if self._counts is None:
            self._counts = bytearray(BUCKETS * COUNT)
        self.calls += 1
        counts, at = self._counts, bucket_of(min(max(ns, 1), LONGEST_NS)) * COUNT
        octets.put_i64(counts, at, octets.i64(counts, at) + 1)

    def percentiles(self, percents: Sequence[float]) -> list[int]:
        """The longest that the fastest part of the calls took, in ns, for each of *percents*.

        Zeros if there was no call. O(buckets), whatever the number of percents.
        """
        found = [0] * len(percents)
        counts = self._counts
        if counts is None:
            return found
        wanted = [max(int(percent / 100 * self.calls + 0.5), 1) for percent in percents]
        bucket, counted = -1, 0
        for place in sorted(range(len(wanted)), key=wanted.__getitem__):
            rank = wanted[place]
            while counted < rank and bucket + 1 < BUCKETS:
                bucket += 1
                counted += octets.i64(counts, bucket * COUNT)
            found[place] = longest_in(bucket)
        return found

    def cumulative(self) -> Iterator[tuple[int, int]]:
        """Steps of time in us, and how many calls took no longer. O(buckets).

        Steps that no call was added in are left out.
        """
        counts = self._counts
        step, bucket, counted, told = FIRST_STEP_NS, -1, 0, 0
        while counts is not None and told < self.calls:
            last = min(bucket_of(step), BUCKETS - 1)
            for each in range(bucket + 1, last + 1):
                counted += octets.i64(counts, each * COUNT)
            if counted > told:
                yield longest_in(last) // 1000, counted
            bucket, told, step = last, counted, 2 * step


def bucket_of(ns: int) -> int:
    """The number of the bucket that *ns* (1 or more) falls into."""
    shift = max(octets.bit_length(ns) - 8, 0)
    return (shift << 7) + (ns >> shift)


def longest_in(bucket: int) -> int:
    """The longest time in ns that falls into that bucket."""
    shift = max((bucket >> 7) - 1, 0)
    return ((bucket - (shift << 7) + 1) << shift) - 1
