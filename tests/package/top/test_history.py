"""What is remembered between looks: rates, and little of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.top.figures import Group, Stream
from penstock.top.history import APART_S, RATES, WINDOW_S, GroupHistory, StreamHistory


def stream(added: int | None, *groups: Group) -> Stream:
    return Stream(b"s", entries_added=added, groups=groups)


def test_a_rate_needs_two_looks() -> None:
    history = StreamHistory()
    history.look(stream(10), 100.0)
    assert history.rate is None
    assert list(history.rates) == []
    history.look(stream(30), 104.0)
    assert history.rate == 5.0
    assert list(history.rates) == [5.0]


def test_a_rate_that_cannot_be_known_is_none_and_not_0() -> None:
    history = StreamHistory()
    history.look(stream(None), 1.0)
    history.look(stream(None), 2.0)
    assert history.rate is None
    history.look(stream(10), 3.0)
    history.look(stream(4), 4.0)  # deleted, and made anew
    assert history.rate is None
    history.look(stream(6), 5.0)
    assert history.rate == 2.0


def test_two_looks_at_one_moment_are_one() -> None:
    history = StreamHistory()
    history.look(stream(1), 1.0)
    history.look(stream(9), 1.0)
    history.look(stream(11), 2.0)
    assert history.rate == 10.0


def test_old_rates_are_forgotten() -> None:
    history = StreamHistory()
    for at in range(RATES * 3):
        history.look(stream(at), float(at))
    assert len(history.rates) == RATES


def test_the_trends_of_groups_that_have_gone_are_forgotten() -> None:
    history = StreamHistory()
    history.look(stream(1, Group(b"a"), Group(b"b")), 1.0)
    assert set(history.trends) == {b"a", b"b"}
    history.look(stream(1, Group(b"b")), 2.0)
    assert set(history.trends) == {b"b"}


def test_a_group_keeps_few_samples_however_often_it_is_looked_at() -> None:
    history = GroupHistory()
    for tick in range(5000):
        history.look(Group(b"g", lag=tick), tick * 0.1)
    assert len(history._samples) <= WINDOW_S / APART_S + 1


@given(st.lists(st.integers(0, 100), min_size=1, max_size=40))
def test_a_lag_that_was_0_at_the_beginning_of_each_window_and_is_0_now_never_grows(
    lags: list[int],
) -> None:
    history = GroupHistory()
    for at, lag in enumerate([*lags, 0]):
        trend = history.look(Group(b"g", lag=lag), at * 6.0)
    assert not trend.lag_grows
    assert not trend.dead_letters_grow
