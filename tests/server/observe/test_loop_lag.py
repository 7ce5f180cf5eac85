"""How late cron's ticks come."""

from __future__ import annotations

from server.observe.loop_lag import PEAK_MS, LoopLag
from tests.server.running import on_each_loop, running


def test_lags_are_summed_and_the_peak_is_of_late():
    lag = LoopLag()
    for late_s in (0.25, 0.5, 0.125):
        lag.note(late_s)
    assert (lag.count, lag.sum_s, lag.last_s, lag.peak_s) == (3, 0.875, 0.125, 0.5)
    lag.tick(PEAK_MS)
    assert lag.peak_s == 0.5, "a minute is not over at once"
    lag.note(0.0625)
    lag.tick(2 * PEAK_MS)
    assert lag.peak_s == 0.0625
    lag.tick(3 * PEAK_MS)
    assert lag.peak_s == 0.0


def test_a_tick_that_comes_early_is_in_time():
    lag = LoopLag()
    lag.note(-0.001)
    assert (lag.count, lag.sum_s) == (1, 0.0)


def test_resetstat_forgets_them():
    lag = LoopLag()
    lag.note(0.5)
    lag.statistics_reset()
    assert (lag.count, lag.sum_s, lag.peak_s) == (0, 0.0, 0.0)


@on_each_loop
async def test_cron_notes_each_tick():
    async with running(hz=100) as instance:
        lag = instance.server.state.loop_lag
        await instance.until(lambda: lag.count > 3)
