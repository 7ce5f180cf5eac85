"""When a job runs next: every so many ms, or when a cron expression says.

A job that should have run several times by now has missed runs: they count as one, and the next run
is the first that is still to come.

Cron expressions are those of cronsim, which does with daylight saving time what Debian's cron does:
see docs/queues.md. It is loaded when the first expression comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage.side_data.schedule import LATEST_MS, LONGEST_ZONE, NEVER, Job

if TYPE_CHECKING:
    from datetime import tzinfo

LONGEST = 256  # characters of an expression
LATEST_S = 250_000_000_000  # datetime ends with the year 9999
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

    Raises BadTime. It may take some ms for an expression that seldom holds.
    """
    from datetime import datetime  # noqa: PLC0415  (few servers need these)

    from cronsim import CronSim  # noqa: PLC0415

    if len(cron) > LONGEST or now_ms // 1000 > LATEST_S:
        raise BadTime("the cron expression means nothing")
    begin = datetime.fromtimestamp(now_ms // 1000, _zone(zone))
    try:
        found = next(CronSim(cron.decode("ascii"), begin))
    except StopIteration:
        return NEVER
    except MemoryError:
        raise
    except Exception:  # whatever it is, the expression is to blame
        raise BadTime("the cron expression means nothing") from None
    return int(found.timestamp()) * 1000


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
