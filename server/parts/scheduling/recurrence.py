"""When a job runs next: every so many ms, or when a cron expression says.

A job that should have run several times by now has missed runs: they count as one, and the next run
is the first that is still to come.

Cron expressions are those of cronsim, which does with daylight saving time what Debian's cron does:
see docs/queues.md. It is loaded when the first expression comes.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from storage.side_data.schedule import LATEST_MS, LONGEST_ZONE, NEVER, Job

if TYPE_CHECKING:
    from datetime import date, tzinfo

    from cronsim import CronSim

LONGEST = 256  # characters of an expression
LATEST_S = 250_000_000_000  # datetime ends with the year 9999
REMEMBERED = 256  # answers; jobs of one expression are often due at once
NO_ZONE = "there is no such time zone"


class BadTime(ValueError):
    """A cron expression, or the name of a zone, that means nothing."""


def next_run(job: Job, now_ms: int) -> int:
    """The first run of *job* after *now_ms*, in unix ms; NEVER if there is none.

    Of EVERY it is as far from its last run as runs are, whenever that was really carried out. A job
    whose cron expression or zone is not known here does not run any more.
    """
    if job.every_ms:
        missed = max(0, now_ms - job.next_ms) // job.every_ms
        next_ms = job.next_ms + (missed + 1) * job.every_ms
        return next_ms if next_ms <= LATEST_MS else NEVER
    try:
        return next_of_cron(job.cron, job.zone, now_ms)
    except BadTime:
        return NEVER


def next_of_cron(cron: bytes, zone: bytes, now_ms: int) -> int:
    """The first moment after *now_ms* of that expression; NEVER: there is none in 50 years.

    Raises BadTime. It may take some ms for an expression that holds on one day in many years.
    """
    now_s = now_ms // 1000
    if len(cron) > LONGEST or now_s > LATEST_S:
        raise BadTime("the cron expression means nothing")
    return _next_of_cron(cron, zone, now_s)


@lru_cache(REMEMBERED)
def _next_of_cron(cron: bytes, zone: bytes, now_s: int) -> int:
    from datetime import datetime  # noqa: PLC0415  (few servers need these)

    from cronsim import CronSim  # noqa: PLC0415

    begin = datetime.fromtimestamp(now_s, _zone(zone))
    try:
        times = CronSim(cron.decode("ascii"), begin)
        if not _has_days(times):
            return NEVER
        found = next(times)
        while found.timestamp() <= now_s:  # in an hour that comes twice it may mean the first one
            found = next(times)
    except StopIteration:
        return NEVER
    except MemoryError:
        raise
    except Exception:  # whatever it is, the expression is to blame
        raise BadTime("the cron expression means nothing") from None
    return int(found.timestamp()) * 1000


def _has_days(times: CronSim) -> bool:
    """Whether it holds on a day of any year. *times* would look at each day of 50 years.

    On which days of a month is a matter of its length and of its first day of the week alone.
    """
    lengths = {length for month, length in _LENGTHS if month in times.months}
    return any(
        times.match_day(first.replace(day=day))
        for first, length in _kinds_of_months()
        if length in lengths
        for day in range(1, length + 1)
    )


_LENGTHS = (
    (1, 31), (2, 28), (2, 29), (3, 31), (4, 30), (5, 31), (6, 30), (7, 31), (8, 31), (9, 30),
    (10, 31), (11, 30), (12, 31),
)  # fmt: skip


@cache
def _kinds_of_months() -> tuple[tuple[date, int], ...]:
    """The first day of a month of each kind, and its length."""
    from calendar import monthrange  # noqa: PLC0415  (few servers need these)
    from datetime import date  # noqa: PLC0415

    months = [(year, month) for year in range(2000, 2028) for month in range(1, 13)]
    kinds = {monthrange(year, month): date(year, month, 1) for year, month in months}
    return tuple((first, length) for (_, length), first in kinds.items())


def _zone(name: bytes) -> tzinfo:
    from datetime import UTC  # noqa: PLC0415  (few servers need these)
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    if len(name) > LONGEST_ZONE:
        raise BadTime(NO_ZONE)
    try:
        return ZoneInfo(name.decode("ascii")) if name else UTC
    except MemoryError:
        raise
    except Exception:  # unknown, no name at all, a folder, no zone's file
        raise BadTime(NO_ZONE) from None
