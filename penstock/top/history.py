"""What is remembered of a stream from one look to the next: its rate, and what grows."""

from __future__ import annotations

from collections import deque

from penstock.top.figures import Group, Number, Stream
from penstock.top.trouble import STEADY, Trend

WINDOW_S = 60.0  # in which something grows, or not
APART_S = 5.0  # between two samples that are kept: with 10,000 groups they are 12 each, not 60
GROWS_AFTER_S = 10.0  # a lag that has been watched for less may be a burst
RATES = 30  # that a sparkline may show


class GroupHistory:
    """Samples of one group within the window: (when, lag, dead letters so far)."""

    __slots__ = ("_samples",)

    def __init__(self) -> None:
        self._samples: deque[tuple[float, Number, Number]] = deque()

    def look(self, group: Group, now_s: float) -> Trend:
        """What has become of it since the window began; *group* is the next sample."""
        samples = self._samples
        while samples and samples[0][0] < now_s - WINDOW_S:
            samples.popleft()
        if samples and _is_less(group.dead_lettered, samples[-1][2]):  # the server was restarted
            samples.clear()
        trend = self._trend(group, now_s)
        if not samples or now_s - samples[-1][0] >= APART_S:
            samples.append((now_s, group.lag, group.dead_lettered))
        return trend

    def _trend(self, group: Group, now_s: float) -> Trend:
        if not self._samples:
            return STEADY
        began_s, lag, dead = self._samples[0]
        if lag == group.lag and dead == group.dead_lettered:
            return STEADY
        never_less = not any(_is_less(sample[1], lag) for sample in self._samples)
        watched = now_s - began_s >= GROWS_AFTER_S
        return Trend(
            dead_letters_grow=_is_less(dead, group.dead_lettered),
            lag_grows=watched and never_less and _is_less(lag, group.lag),
        )


class StreamHistory:
    """The rate at which entries come, and the histories of the groups."""

    __slots__ = ("_added", "_at_s", "_groups", "rate", "rates", "trends")

    def __init__(self) -> None:
        self._added: Number = None
        self._at_s = 0.0
        self._groups: dict[bytes, GroupHistory] = {}
        self.rate: float | None = None  # entries a second, between the last two looks
        self.rates: deque[float | None] = deque(maxlen=RATES)
        self.trends: dict[bytes, Trend] = {}

    def look(self, stream: Stream, now_s: float) -> None:
        """Take *stream* as the next sample."""
        self._look_at_rate(stream.entries_added, now_s)
        known, groups = self._groups, stream.groups or ()
        if groups or known:
            self._groups = {group.name: known.get(group.name) or GroupHistory() for group in groups}
            self.trends = {
                group.name: self._groups[group.name].look(group, now_s) for group in groups
            }

    def _look_at_rate(self, added: Number, now_s: float) -> None:
        before, passed_s = self._added, now_s - self._at_s
        if added is not None and before is not None and passed_s <= 0:
            return
        has_two = added is not None and before is not None and added >= before
        self.rate = (added - before) / passed_s if has_two else None  # type: ignore[operator]  # both are there
        if before is not None:
            self.rates.append(self.rate)
        self._added, self._at_s = added, now_s


def _is_less(one: Number, other: Number) -> bool:
    return one is not None and other is not None and one < other
