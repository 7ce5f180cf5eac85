"""AGGREGATE COUNT, as redis 8.8 has it: no server that is compared knows it."""

from __future__ import annotations

import pytest


@pytest.fixture
def filled(server):
    server.send_line("ZADD z1 5 a 10 b inf c")
    server.send_line("ZADD z2 7 b -3 c 1 d")
    server.send_line("SADD s b d e")
    return server


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("ZUNION 2 z1 z2 AGGREGATE COUNT WITHSCORES", "a 1 d 1 b 2 c 2"),
        ("ZUNION 3 z1 z2 s AGGREGATE COUNT WITHSCORES", "a 1 e 1 c 2 d 2 b 3"),
        ("ZUNION 2 z1 z2 WEIGHTS 2 0.5 AGGREGATE count WITHSCORES", "d 0.5 a 2 b 2.5 c 2.5"),
        ("ZUNION 2 z1 z2 AGGREGATE COUNT WEIGHTS -1 3 WITHSCORES", "a -1 b 2 c 2 d 3"),
        ("ZUNION 2 z1 z2 WEIGHTS inf -inf AGGREGATE COUNT WITHSCORES", "d -inf b 0 c 0 a inf"),
        ("ZUNION 1 no AGGREGATE COUNT", ""),
        ("ZINTER 2 z1 z2 AGGREGATE COUNT WITHSCORES", "b 2 c 2"),
        ("ZINTER 3 z1 z2 s AGGREGATE COUNT WITHSCORES", "b 3"),
        ("ZINTER 2 z1 z2 WEIGHTS 2 0.5 AGGREGATE COUNT WITHSCORES", "b 2.5 c 2.5"),
        ("ZINTER 2 z1 no AGGREGATE COUNT WITHSCORES", ""),
        ("ZINTER 1 z1 AGGREGATE COUNT WITHSCORES", "a 1 b 1 c 1"),
        ("ZUNION 2 z1 z2 AGGREGATE COUNT AGGREGATE MIN WITHSCORES", "c -3 d 1 a 5 b 7"),
    ],
)
def test_scores_say_how_many_sources_have_a_member(filled, line, answer):
    assert filled.send_line(line) == [word.encode() for word in answer.split()]


def test_stored(filled):
    assert filled.send_line("ZUNIONSTORE d 2 z1 z2 AGGREGATE COUNT") == 4
    assert filled.send_line("ZSCORE d b") == b"2"
    assert filled.send_line("ZINTERSTORE d 2 z1 z2 WEIGHTS 3 4 AGGREGATE COUNT") == 2
    assert filled.send_line("ZSCORE d c") == b"7"
    assert filled.send_line("ZRANGE d 0 -1 WITHSCORES") == [b"b", b"7", b"c", b"7"]


@pytest.mark.parametrize("line", ["AGGREGATE", "AGGREGATE COUNTS", "COUNT", "AGGREGATE COUNT 1"])
def test_other_words_are_refused(filled, line):
    assert filled.send_line(f"ZUNION 2 z1 z2 {line}") == "-ERR syntax error"
