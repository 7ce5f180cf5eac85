"""Sorted set commands: protocols, scans, waits, and what must not change.

The replies are in tests/compat.
"""

from __future__ import annotations

import pytest

from storage import allocation
from storage.sorted_sets.leaf import LONGEST_MEMBER
from tests.server.given_back import is_given_back
from tests.used_memory import used_at_start


def test_scores_are_doubles_in_resp3_and_pairs_are_nested(server):
    server.send_line("ZADD z 1 a 2.5 b")
    assert server.send_line("ZRANGE z 0 -1 WITHSCORES") == [b"a", b"1", b"b", b"2.5"]
    assert server.send_line("ZSCORE z b") == b"2.5"
    server.send_line("HELLO 3")
    assert server.send_line("ZRANGE z 0 -1 WITHSCORES") == [[b"a", 1.0], [b"b", 2.5]]
    assert server.send_line("ZSCORE z b") == 2.5
    assert server.send_line("ZUNION 1 z WITHSCORES") == [[b"a", 1.0], [b"b", 2.5]]
    assert server.send_line("ZPOPMIN z") == [b"a", 1.0]
    assert server.send_line("ZPOPMIN z 1") == [[b"b", 2.5]]


@pytest.mark.parametrize(
    "line",
    [
        "ZADD z 1", "ZADD z 5 a x b", "ZADD z NX XX 5 a", "ZADD z NX GT 5 a", "ZADD z INCR 1 a 1 b",
        "ZADD z INCR -inf i", "ZINCRBY z nan a", "ZINCRBY z -inf i", "ZADD new INCR x a",
        "ZRANGESTORE z z 0 x", "ZUNIONSTORE z 2 z s", "ZUNIONSTORE z 1 z WEIGHTS x",
        "ZINTERSTORE z 0 z", "ZREMRANGEBYSCORE z 0 x", "ZREMRANGEBYLEX z a b", "ZPOPMIN z -1",
        "ZMPOP 1 z MIN COUNT 0", "BZPOPMIN z -1", "BZMPOP 0 1 z BOTH",
    ],
)  # fmt: skip
def test_a_refused_command_changes_nothing(server, line):
    server.send_line("ZADD z 1 a inf i")
    server.send_line("SET s v")
    server.logged()
    assert server.send_line(line).startswith("-")
    assert server.send_line("ZRANGE z 0 -1 WITHSCORES") == [b"a", b"1", b"i", b"inf"]
    assert server.send_line("EXISTS new") == 0
    assert server.logged() == []


def test_with_a_member_that_is_too_long_none_is_added(server):
    server.send_line("ZADD z 1 a")
    server.logged()
    words = ("ZADD", "z", "2", "b", "3", bytes(LONGEST_MEMBER + 1))
    assert server.send(*words) == "-ERR Elements are too large to be stored"
    assert server.send_line("ZRANGE z 0 -1") == [b"a"]
    assert server.logged() == []


def test_a_sorted_set_whose_last_member_goes_is_deleted(server):
    for line in ("ZREM z a b", "ZPOPMAX z 5", "ZREMRANGEBYRANK z 0 -1", "ZREMRANGEBYSCORE z 0 9"):
        server.send_line("ZADD z 1 a 2 b")
        server.send_line("EXPIRE z 100")
        server.send_line(line)
        assert server.send_line("EXISTS z") == 0
        server.send_line("ZADD z 1 a")
        assert server.send_line("TTL z") == -1
        server.send_line("DEL z")


def test_the_limits_of_a_listpack_follow_config_set(server):
    server.send_line("CONFIG SET zset-max-ziplist-entries 2 zset-max-listpack-value 5")
    server.send_line("ZADD z 1 a 2 12345")
    assert server.send_line("OBJECT ENCODING z") == b"listpack"
    payload = server.send_line("DUMP z")
    server.send_line("ZADD z 3 c")
    assert server.send_line("OBJECT ENCODING z") == b"skiplist"
    server.send_line("CONFIG SET zset-max-listpack-entries 1")
    server.send("RESTORE", "z2", 0, payload)
    assert server.send_line("OBJECT ENCODING z2") == b"skiplist"
    assert server.send_line("ZRANGE z2 0 -1") == [b"a", b"12345"]


@pytest.mark.parametrize("members", [3, 2000])
def test_a_sorted_set_is_scanned_with_all_its_members(server, members):
    server.send("ZADD", "z", *(word for n in range(members) for word in (n / 2, f"m{n}")))
    found: dict[bytes, bytes] = {}
    cursor = b"0"
    while True:
        cursor, page = server.send("ZSCAN", "z", cursor, "COUNT", 100)
        found |= dict(zip(page[::2], page[1::2], strict=True))
        if cursor == b"0":
            break
    assert found == {b"m%d" % n: b"%g" % (n / 2) for n in range(members)}


def test_a_scan_finds_members_whose_scores_change_meanwhile(server):
    server.send("ZADD", "z", *(word for n in range(1000) for word in (n, f"m{n}")))
    found = set()
    cursor = b"0"
    while True:
        cursor, page = server.send("ZSCAN", "z", cursor, "COUNT", 50)
        found.update(page[::2])
        for n in range(0, 1000, 7):
            server.send("ZINCRBY", "z", 333, f"m{n}")
        if cursor == b"0":
            break
    assert found == {b"m%d" % n for n in range(1000)}


def test_zrandmember_with_a_negative_count_repeats_members(server):
    server.send("ZADD", "z", 1, "a", 2, "x" * 100)
    found = server.send_line("ZRANDMEMBER z -50 WITHSCORES")
    assert set(zip(found[::2], found[1::2], strict=True)) == {(b"a", b"1"), (b"x" * 100, b"2")}
    assert len(found) == 100


def test_zrandmember_stops_at_the_limit_of_a_clients_replies(server):
    server.send_line("ZADD z 1 a")
    client = server.client()
    client.client.out.limit = 100_000
    client.send("ZRANDMEMBER", "z", -(2**40))
    assert client.client.out.overflown


def test_waiters_are_served_oldest_first_each_with_the_member_that_is_next(server):
    first, second, third = server.client(), server.client(), server.client()
    first.send_line("BZPOPMIN z 0")
    second.send_line("BZPOPMAX y z 0")
    third.send_line("BZMPOP 0 2 y z MIN COUNT 5")
    assert first.waits
    assert second.waits
    assert third.waits
    server.send_line("ZADD z 1 a 2 b 3 c 4 d")
    assert first.reply() == [b"z", b"a", b"1"]
    assert second.reply() == [b"z", b"d", b"4"]
    assert third.reply() == [b"z", [[b"b", b"2"], [b"c", b"3"]]]
    assert server.send_line("EXISTS z") == 0


def test_a_wait_for_a_member_ends_in_time(server):
    client = server.client()
    client.send_line("BZPOPMIN z 0.5")
    server.advance(499)
    assert client.waits
    server.advance(2)
    assert not client.waits
    assert client.reply() is None


def test_memory_is_given_back_when_a_sorted_set_is_deleted(server):
    at_start = used_at_start()
    for n in range(3000):
        server.send_line(f"ZADD z {n % 50} member-{n}")
    assert allocation.used_bytes() - at_start > 50_000
    server.send_line("DEL z")
    assert is_given_back(at_start)


@pytest.mark.parametrize("size", [1, 90, 200, 5000])
@pytest.mark.parametrize("scores", [False, True])
def test_a_range_goes_through_all_leaves_in_either_direction(server, size, scores):
    """Those with much data too, for which room is made otherwise."""
    members = [b"%04d" % n + b"m" * (size - 1) for n in range(400)]
    for n, member in enumerate(members):
        server.send(b"ZADD", b"z", b"%d" % (n // 2), member)
    words = [b"WITHSCORES"] if scores else []
    for first, last in [(0, 399), (0, 0), (399, 399), (17, 250), (63, 64), (127, 129)]:
        found = members[first : last + 1]
        expected = [
            word
            for member in found
            for word in ([member, b"%d" % (int(member[:4]) // 2)] if scores else [member])
        ]
        back = [
            word
            for member in reversed(found)
            for word in ([member, b"%d" % (int(member[:4]) // 2)] if scores else [member])
        ]
        assert server.send(b"ZRANGE", b"z", b"%d" % first, b"%d" % last, *words) == expected
        ends = [b"%d" % (399 - last), b"%d" % (399 - first)]
        assert server.send(b"ZREVRANGE", b"z", *ends, *words) == back


def test_members_in_several_large_and_small_sets_are_found(server):
    """In listpacks, too, whose members are put into a table first if there are many."""
    server.send_line("ZADD big " + " ".join(f"{n} m{n}" for n in range(300)))
    server.send_line("ZADD small " + " ".join(f"1.5 m{n}" for n in range(0, 200, 2)))
    server.send_line("SADD set " + " ".join(f"m{n}" for n in range(0, 120, 3)))
    both = [f"m{n}".encode() for n in range(0, 120, 6)]
    assert server.send_line("ZINTER 3 big small set") == both
    assert server.send_line("ZINTERCARD 3 big small set") == len(both)
    assert server.send_line("ZINTERCARD 3 big small set LIMIT 7") == 7
    assert len(server.send_line("ZUNION 3 big small set")) == 300
    assert len(server.send_line("ZDIFF 2 small set")) == 80
