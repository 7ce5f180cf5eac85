"""LRM policies: a key is used when it is changed, and not when it is read."""

from __future__ import annotations

import gc
from typing import Any

import pytest

KEYS = ("a", "list", "hash", "set", "zset", "stream")


@pytest.fixture
def old(make_server: Any) -> Any:
    """A server with keys that were made an hour ago. All are looked at before one is evicted."""
    server = make_server(maxmemory_policy="allkeys-lrm", maxmemory_samples=64)
    for line in ("SET a 1", "RPUSH list a", "HSET hash f v", "SADD set a", "ZADD zset 1 a",
                 "XADD stream 1-1 f v", "XGROUP CREATE stream g 0"):  # fmt: skip
        server.send_line(line)
    server.now_ms += 3_600_000
    return server


def idle(server: Any, key: str) -> int:
    return int(server.send("OBJECT", "IDLETIME", key))


@pytest.mark.parametrize(
    "line",
    ["GET a", "TOUCH a", "EXISTS a", "SETNX a 2", "LRANGE list 0 -1", "HGETALL hash",
     "HSETNX hash f 2", "SADD set a", "SUNIONSTORE other set", "ZSCORE zset a",
     "XREAD STREAMS stream 0",
     "XACK stream g 1-1", "DUMP a", "COPY a b", "SORT list"],
)  # fmt: skip
def test_what_changes_nothing_is_no_use(old: Any, line: str) -> None:
    old.send_line(line)
    assert [idle(old, key) for key in KEYS] == [3600] * len(KEYS)


@pytest.mark.parametrize(
    ("line", "key"),
    [("APPEND a x", "a"), ("INCR a", "a"), ("SET a 1", "a"), ("EXPIRE a 9999", "a"),
     ("LPUSH list b", "list"), ("HSET hash f w", "hash"), ("SADD set b", "set"),
     ("ZINCRBY zset 1 a", "zset"),
     ("XADD stream * f v", "stream"), ("XREADGROUP GROUP g c STREAMS stream >", "stream"),
     ("RENAME list other", "other"), ("EVAL return\tredis.call('APPEND',KEYS[1],'x') 1 a", "a")],
)  # fmt: skip
def test_a_change_is_a_use(old: Any, line: str, key: str) -> None:
    old.send(*[word.replace("\t", " ") for word in line.split(" ")])
    assert idle(old, key) == 0


def test_what_has_not_changed_for_longest_goes_first(old: Any) -> None:
    old.now_ms += 1000
    for key in KEYS[1:]:
        old.send("EXPIRE", key, 99_999)
    old.now_ms += 1000
    for _ in range(10):
        old.send_line("GET a")
    gc.collect()
    gone: list[str] = []
    while not gone:  # what other tests have left counts as used, and may be freed meanwhile
        old.state.config.maxmemory = old.state.memory.used() - 10
        old.state.follow_config()
        old.send_line("SET new 1")
        gone = [key for key in KEYS if not old.send("EXISTS", key)]
    assert "a" in gone


def test_under_another_policy_a_read_is_a_use_again(old: Any) -> None:
    old.send_line("CONFIG SET maxmemory-policy allkeys-lru")
    old.send_line("GET a")
    assert idle(old, "a") == 0
