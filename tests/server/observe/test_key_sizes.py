"""INFO keysizes: the lengths of values, by powers of two."""

from __future__ import annotations

from server.observe.key_sizes import A_TICK, AT_ONCE, PAUSE_MS


def told(server):
    """Its lines: name -> {least length: count}."""
    lines = server.send("INFO", "keysizes").decode().splitlines()[1:]
    named = dict(line.partition(":")[::2] for line in lines)
    return {
        name: {least: int(count) for least, count in (pair.split("=") for pair in text.split(","))}
        for name, text in named.items()
    }


def test_each_type_has_a_line_of_the_lengths_of_its_values(server):
    for line in (
        "SET empty ''", "SET text hello", "SET number 12345", "APPEND grown abcdefghijklmnop",
        "RPUSH list a b c", "HSET hash a 1", "SADD set 1 2 3 4", "XADD stream * a b",
    ):  # fmt: skip
        server.send_line(line)
    server.send("SET", "empty", "")
    server.send("SET", "large", b"x" * 3000)
    server.send_line("SELECT 2")
    server.send_line("ZADD zset 1 a 2 b")
    assert told(server) == {
        "db0_distrib_strings_sizes": {"0": 1, "4": 2, "16": 1, "2K": 1},
        "db0_distrib_lists_items": {"2": 1},
        "db0_distrib_hashes_items": {"1": 1},
        "db0_distrib_sets_items": {"4": 1},
        "db0_distrib_streams_items": {"1": 1},
        "db2_distrib_zsets_items": {"2": 1},
    }


def test_a_key_that_has_expired_or_gone_is_not_counted(server):
    server.send_line("SET gone x PX 10")
    server.send_line("SET left x")
    server.advance(11)
    assert told(server) == {"db0_distrib_strings_sizes": {"1": 1}}
    server.send_line("FLUSHALL")
    assert told(server) == {}


def test_many_keys_are_counted_by_ticks_once_somebody_asks(server):
    keys = AT_ONCE + 3 * A_TICK
    server.send("MSET", *[word for i in range(keys) for word in (f"k{i}", "xyz")])
    sizes, now_ms = server.state.key_sizes, 0
    for _ in range(50):
        sizes.tick(now_ms)
    assert told(server) == {}  # nobody had asked
    for _ in range(50):
        sizes.tick(now_ms)
    assert told(server) == {"db0_distrib_strings_sizes": {"2": keys}}
    server.send_line("SET another x")
    for _ in range(50):
        sizes.tick(now_ms + PAUSE_MS - 1)
    assert told(server) == {"db0_distrib_strings_sizes": {"2": keys}}  # it rests
    for _ in range(50):
        sizes.tick(now_ms + PAUSE_MS)
    assert told(server) == {"db0_distrib_strings_sizes": {"1": 1, "2": keys}}


def test_what_a_walk_has_counted_is_forgotten_with_the_keys(server):
    server.send("MSET", *[word for i in range(AT_ONCE + 1) for word in (f"k{i}", "x")])
    told(server)
    server.state.key_sizes.tick(0)
    server.send_line("FLUSHALL")
    server.send("MSET", *[word for i in range(AT_ONCE + 1) for word in (f"k{i}", "x")])
    assert told(server) == {}
