"""INFO keysizes and types: the lengths of values by powers of two, the memory of each type."""

from __future__ import annotations

from server.observe.key_sizes import AT_ONCE, MEASURED_AT_ONCE, PAUSE_MS


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
    keys = AT_ONCE + 3000
    server.send("MSET", *[word for i in range(keys) for word in (f"k{i}", "xyz")])
    tick_often(server, 0)
    assert told(server) == {}  # nobody had asked
    tick_often(server, 0)
    assert told(server) == {"db0_distrib_strings_sizes": {"2": keys}}
    server.send_line("SET another x")
    tick_often(server, PAUSE_MS - 1)
    assert told(server) == {"db0_distrib_strings_sizes": {"2": keys}}  # it rests
    tick_often(server, PAUSE_MS)
    assert told(server) == {"db0_distrib_strings_sizes": {"1": 1, "2": keys}}


def tick_often(server, now_ms: int) -> None:
    """Enough ticks for a walk over some thousands of keys, on a slow machine too."""
    for _ in range(2000):
        server.state.key_sizes.tick(now_ms)


def test_after_a_long_walk_it_rests_as_long(server):
    keys = AT_ONCE + 1
    server.send("MSET", *[word for i in range(keys) for word in (f"k{i}", "x")])
    told(server)
    sizes, now_ms = server.state.key_sizes, 0
    sizes._monotonic_s = iter(range(10**9)).__next__  # each slice is over after one step
    while told(server) == {}:
        sizes.tick(now_ms)
        now_ms += PAUSE_MS
    server.send_line("SET another xyz")
    before, ended_ms = told(server), now_ms - PAUSE_MS
    while told(server) == before:
        now_ms += PAUSE_MS
        sizes.tick(now_ms)
    assert now_ms >= 2 * ended_ms


def test_what_a_walk_has_counted_is_forgotten_with_the_keys(server):
    server.send("MSET", *[word for i in range(AT_ONCE + 1) for word in (f"k{i}", "x")])
    told(server)
    server.state.key_sizes.tick(0)
    server.send_line("FLUSHALL")
    server.send("MSET", *[word for i in range(AT_ONCE + 1) for word in (f"k{i}", "x")])
    assert told(server) == {}


# ---------------------------------------------------------------------- by type


def by_type(server) -> dict[str, tuple[int, ...]]:
    """Keys and bytes of each type, as INFO types has them."""
    lines = server.send("INFO", "types").decode().splitlines()[1:]
    named = dict(line.removeprefix("penstock_type_").split(":") for line in lines)
    return {
        name: tuple(int(word.partition("=")[2]) for word in text.split(","))
        for name, text in named.items()
    }


def test_the_memory_of_a_type_is_the_sum_of_what_memory_usage_says(server):
    for line in ("SET a hello", "SET b 12345", "RPUSH list a b c", "XADD stream * a b"):
        server.send_line(line)
    usage = {name: server.send("MEMORY", "USAGE", name) for name in ("a", "b", "list", "stream")}
    assert by_type(server) == {
        "string": (2, usage["a"] + usage["b"]),
        "list": (1, usage["list"]),
        "stream": (1, usage["stream"]),
    }
    server.send_line("SELECT 3")
    server.send_line("SET c hello")
    assert by_type(server)["string"] == (3, 2 * usage["a"] + usage["b"])


def test_of_many_keys_memory_is_measured_by_ticks_if_somebody_asks_for_it(server):
    keys = MEASURED_AT_ONCE + 500
    server.send("MSET", *[word for i in range(keys) for word in (f"key:{i:04}", "xyz")])
    told(server)
    tick_often(server, 0)
    assert by_type(server) == {}  # only lengths had been asked for
    tick_often(server, PAUSE_MS)
    assert by_type(server) == {"string": (keys, keys * server.send("MEMORY", "USAGE", "key:0001"))}
    server.send_line("FLUSHALL")
    assert by_type(server) == {}


def test_a_key_that_goes_during_a_walk_is_no_harm(server):
    keys = MEASURED_AT_ONCE + 500
    server.send("MSET", *[word for i in range(keys) for word in (f"key:{i:04}", "xyz")])
    by_type(server)
    sizes = server.state.key_sizes
    sizes._monotonic_s = iter(range(10**9)).__next__  # each slice is over after one step
    for i in range(keys):
        sizes.tick(0)
        server.send("DEL", f"key:{i:04}")
    tick_often(server, 0)
    assert set(by_type(server)) <= {"string"}


def test_who_asks_for_lengths_does_not_end_the_walk_that_measures(server):
    keys = MEASURED_AT_ONCE + 100
    server.send("MSET", *[word for i in range(keys) for word in (f"key:{i:04}", "xyz")])
    by_type(server)
    server.state.key_sizes._monotonic_s = iter(range(10**9)).__next__  # slices of one step
    for _ in range(2 * keys):
        server.state.key_sizes.tick(0)
        told(server)
    assert by_type(server)["string"][0] == keys
