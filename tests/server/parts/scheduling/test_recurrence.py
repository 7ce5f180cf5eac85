"""When a job runs next."""

from __future__ import annotations

import pytest

from server.parts.scheduling.recurrence import BadTime, next_of_cron, next_run
from storage.side_data.schedule import NEVER, Job

NOW = 1_700_000_000_000


@pytest.mark.parametrize("zone", [b"Europe/" + b"x/" * 2000 + b"a", b"x/" * 33, b"\0", b"a\xff"])
def test_a_name_that_no_zone_has_means_nothing_however_long_it_is(zone: bytes) -> None:
    """Once, one of thousands of parts was a RecursionError."""
    with pytest.raises(BadTime):
        next_of_cron(b"* * * * *", zone, NOW)


def test_so_does_what_neither_cronsim_nor_zoneinfo_are_known_to_raise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("zoneinfo.ZoneInfo", fail)
    with pytest.raises(BadTime):
        next_of_cron(b"* * * * *", b"Europe/Rome", NOW)
    monkeypatch.setattr("cronsim.CronSim", fail)
    with pytest.raises(BadTime):
        next_of_cron(b"* * * * *", b"", NOW)


def test_a_job_whose_zone_is_not_known_here_does_not_run_any_more() -> None:
    assert next_run(Job(b"j", 0, b"* * * * *", b"No/Where", NOW, b""), NOW) == NEVER
