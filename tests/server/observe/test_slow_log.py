"""Which entries the slow log keeps, and what of them."""

from __future__ import annotations

from server.config.parameters import Config
from server.observe.slow_log import SlowLog


def slow_log(**parameters: int) -> SlowLog:
    config = Config()
    for name, value in parameters.items():
        setattr(config, name, value)
    made = SlowLog()
    made.configured(config)
    return made


def add(log: SlowLog, *words: bytes, us: int = 10_000) -> None:
    log.add_if_slow(1_700_000_000, us, words, "10.0.0.1:5000", b"me")


def test_the_newest_entry_comes_first_and_numbers_go_on_after_a_reset() -> None:
    log = slow_log()
    add(log, b"a")
    add(log, b"b", us=20_000)
    assert log.newest(1) == [(1, 1_700_000_000, 20_000, [b"b"], "10.0.0.1:5000", b"me", 1)]
    assert [entry.words for entry in log.newest(-1)] == [[b"b"], [b"a"]]
    log.clear()
    add(log, b"c")
    assert [entry.id for entry in log.newest(9)] == [2]


def test_a_fast_command_is_not_kept_and_none_is_while_the_log_is_off() -> None:
    log = slow_log(slowlog_log_slower_than=100)
    add(log, b"fast", us=99)
    add(log, b"slow", us=100)
    assert [entry.words for entry in log.newest(-1)] == [[b"slow"]]
    for log in (slow_log(slowlog_log_slower_than=-1), slow_log(slowlog_max_len=0)):
        add(log, b"slow")
        assert len(log) == 0


def test_the_oldest_entries_go_when_there_are_too_many() -> None:
    log = slow_log(slowlog_max_len=2)
    for word in (b"a", b"b", b"c"):
        add(log, word)
    assert [entry.words for entry in log.newest(-1)] == [[b"c"], [b"b"]]


def test_long_words_and_many_words_are_cut() -> None:
    log = slow_log(slowlog_entry_max_argc=3, slowlog_entry_max_string_len=4)
    add(log, b"1234", b"12345", b"x")
    add(log, b"1234", b"123456789", b"x", b"y")
    assert [entry.words for entry in log.newest(-1)] == [
        [b"1234", b"1234... (5 more bytes)", b"... (2 more arguments)"],
        [b"1234", b"1234... (1 more bytes)", b"x"],
    ]


def test_it_counts_what_was_slow_until_the_statistics_are_reset() -> None:
    log = slow_log(slowlog_log_slower_than=100)
    for us in (99, 2_500, 100, 1_700):
        add(log, b"a", us=us)
    log.clear()
    assert (log.slow, log.slow_us, log.slowest_us) == (3, 4_300, 2_500)
    log.statistics_reset()
    assert (log.slow, log.slow_us, log.slowest_us) == (0, 0, 0)
