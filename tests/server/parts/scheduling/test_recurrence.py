"""When a job runs next."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from server.parts.scheduling.recurrence import BadTime, next_of_cron, next_run
from storage.side_data.schedule import NEVER, Job

NOW = 1_700_000_000_000  # in November 2023


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
        next_of_cron(b"1 * * * *", b"Europe/Rome", NOW)
    monkeypatch.setattr("cronsim.CronSim", fail)
    with pytest.raises(BadTime):
        next_of_cron(b"1 * * * *", b"", NOW)


def test_a_job_whose_zone_is_not_known_here_does_not_run_any_more() -> None:
    assert next_run(Job(b"j", 0, b"* * * * *", b"No/Where", NOW, b""), NOW) == NEVER


@pytest.fixture
def days(monkeypatch: pytest.MonkeyPatch) -> list[date]:
    """The days that were looked at."""
    looked_at: list[date] = []
    matches = CronSim.match_day

    def match_day(times: CronSim, day: date) -> bool:
        looked_at.append(day)
        return matches(times, day)

    monkeypatch.setattr(CronSim, "match_day", match_day)
    return looked_at


@pytest.mark.parametrize("cron", [b"31 */7 * */59 * 5#5", b"0 0 */40 * 5L", b"0 0 */30 2 5L"])
def test_what_never_comes_true_is_known_without_looking_at_fifty_years(
    days: list[date], cron: bytes
) -> None:
    """Once, some hundred such XSCHEDULE, of 25 to 42 ms each, held all others up for seconds."""
    assert next_of_cron(cron, b"", NOW) == NEVER
    assert len(days) < 1000


@pytest.mark.parametrize(
    ("cron", "when"),
    [
        (b"0 0 29 2 */7", "2032-02-29 00:00"),
        (b"0 0 */28 2 1#5", "2044-02-29 00:00"),
        (b"0 0 31 2 1", "2024-02-05 00:00"),  # either of them is enough
        (b"0 0 L 2 *", "2024-02-29 00:00"),
        (b"0 0 LW */12 *", "2024-01-31 00:00"),
        (b"30 2 * 3 7L", "2024-03-31 02:30"),
    ],
)
def test_what_seldom_comes_true_does(cron: bytes, when: str) -> None:
    expected = datetime.fromisoformat(f"{when}+00:00")
    assert next_of_cron(cron, b"", NOW) == expected.timestamp() * 1000


def test_what_was_asked_before_in_that_second_is_remembered(days: list[date]) -> None:
    found = next_of_cron(b"7 3 * * MON", b"Asia/Tokyo", NOW)
    days.clear()
    assert next_of_cron(b"7 3 * * MON", b"Asia/Tokyo", NOW + 999) == found
    assert days == []
    assert next_of_cron(b"7 3 * * MON", b"Asia/Tokyo", NOW + 1000) == found
    assert next_of_cron(b"7 3 * * MON", b"Europe/Rome", NOW) != found


@pytest.mark.parametrize("cron", [b"30 2 * * *", b"5,35 2 * * *", b"*/10 2 * * *", b"*/10 * * * *"])
@pytest.mark.parametrize("minutes", range(0, 180, 10))
def test_in_an_hour_that_comes_twice_the_next_run_is_still_to_come(
    cron: bytes, minutes: int
) -> None:
    """Once a job of the first such hour ran again and again in the second one."""
    begin = datetime(2026, 10, 25, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    now_ms = int(begin.timestamp() + minutes * 60) * 1000
    assert next_of_cron(cron, b"Europe/Berlin", now_ms) > now_ms


def test_one_of_a_time_that_comes_twice_runs_at_the_first() -> None:
    runs, now_ms = [], int(datetime(2026, 10, 24, 20, tzinfo=UTC).timestamp()) * 1000
    for _ in range(3):
        now_ms = next_of_cron(b"30 2 * * *", b"Europe/Berlin", now_ms)
        runs.append(datetime.fromtimestamp(now_ms // 1000, UTC))
    assert [f"{run:%d %H:%M}" for run in runs] == ["25 00:30", "26 01:30", "27 01:30"]


@pytest.mark.parametrize(
    ("month", "day", "runs"),
    [
        (3, 28, ["2026-03-30 00:30", "2026-03-31 00:30"]),
        (10, 24, ["2026-10-25 00:30", "2026-10-25 01:30"]),
    ],
)
def test_one_of_six_fields_goes_by_the_time_that_passes(
    month: int, day: int, runs: list[str]
) -> None:
    """Of 02:30 in Berlin: the day after the first one has none, that after the second has two."""
    now_ms, found = int(datetime(2026, month, day, 12, tzinfo=UTC).timestamp()) * 1000, []
    for _ in runs:
        now_ms = next_of_cron(b"0 30 2 * * *", b"Europe/Berlin", now_ms)
        found.append(f"{datetime.fromtimestamp(now_ms / 1000, UTC):%Y-%m-%d %H:%M}")
    assert found == runs
