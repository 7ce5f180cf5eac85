"""Used memory: what is stored is counted, and what maxmemory refuses it takes again."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from server.process import build
from storage import allocation
from tests.server.conftest import House

REFUSED = "-OOM command not allowed when used memory > 'maxmemory'."
ENTRY = ("name", b"v" * 1000)


def limited(house: House, room: int) -> None:
    """Let maxmemory leave *room* bytes for data."""
    house.send("CONFIG", "SET", "maxmemory", house.state.memory.used() + room)


def fill(house: House, *words: object) -> int:
    """Send a command until it is refused; how often it was not."""
    done = 0
    while house.send(*words) != REFUSED:
        done += 1
    return done


def test_a_server_without_data_is_far_below_32_mb(house):
    gc.collect()  # what other tests have left
    house.send_line("CONFIG SET maxmemory 32mb")
    assert house.send_line("SET key value") == b"OK"


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (("XADD", "key", "*", *ENTRY), 1000),
        (("RPUSH", "key", b"v" * 1000), 1000),
        (("RPUSH", "key", b"v" * 10_000), 10_000),
        (("APPEND", "key", b"v" * 1000), 1000),
    ],
)
def test_writes_are_taken_again_when_data_are_deleted(house, words, size):
    """Resident memory would stay where it was, and everything be refused for good."""
    limited(house, 1_000_000)
    for _ in range(3):
        taken = fill(house, *words) * size
        assert 700_000 < taken < 1_100_000
        assert house.send(*words) == REFUSED
        assert house.send_line("EXISTS key") == 1
        house.send_line("UNLINK key")
    assert house.send(*words) != REFUSED


def test_trimming_a_stream_makes_room_at_once(house):
    limited(house, 1_000_000)
    fill(house, "XADD", "s", "*", *ENTRY)
    house.send_line("XTRIM s MAXLEN 10")
    assert fill(house, "XADD", "s", "*", *ENTRY) > 700


@pytest.mark.parametrize("line", ["FLUSHALL", "FLUSHDB ASYNC"])
def test_emptying_makes_room_at_once(house, line):
    gc.collect()  # what other tests have left must not go meanwhile
    before = allocation.used_bytes()
    for n in range(1000):
        house.send("SET", n, b"x" * n)
    house.send_line("XADD s * a 1")
    house.send_line("XGROUP CREATE s g 0")
    house.send_line("XREADGROUP GROUP g c STREAMS s >")
    house.send_line(line)
    assert allocation.used_bytes() == before


def test_what_one_command_takes_is_seen_by_the_next(house):
    """Cron would see it a tenth of a second later, and a gigabyte may come until then."""
    limited(house, 1_000_000)
    assert house.send("SET", "a", b"x" * 5_000_000) == b"OK"
    assert house.send_line("SET b 1") == REFUSED
    assert house.send_line("DEL a") == 1
    assert house.send_line("SET b 1") == b"OK"


def test_a_transaction_that_adds_is_refused_as_a_whole(house):
    limited(house, 1_000_000)
    writer = house.client()
    assert [writer.send_line(line) for line in ("MULTI", "SET a 1")] == [b"OK", b"QUEUED"]
    house.send("SET", "big", b"x" * 2_000_000)
    assert writer.send_line("EXEC") == (
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory >"
        " 'maxmemory'."
    )
    assert house.send_line("EXISTS a") == 0


def test_a_transaction_that_deletes_runs(house):
    limited(house, 1_000_000)
    deleter = house.client()
    deleter.send_line("MULTI")
    deleter.send_line("DEL big")
    house.send("SET", "big", b"x" * 2_000_000)
    assert deleter.send_line("EXEC") == [1]


def test_within_a_transaction_nothing_more_is_refused(house):
    """As in redis: it was let in as a whole."""
    limited(house, 1_000_000)
    for words in (["MULTI"], ["SET", "a", b"x" * 2_000_000], ["SET", "b", "1"]):
        house.send(*words)
    assert house.send_line("EXEC") == [b"OK", b"OK"]


def test_a_wait_that_would_add_is_refused_when_it_is_woken(house):
    limited(house, 1_000_000)
    waiter = house.client()
    waiter.send_line("BLMOVE from to LEFT LEFT 0")
    house.send("MULTI")
    house.send("RPUSH", "from", "a")
    house.send("SET", "big", b"x" * 2_000_000)
    house.send("EXEC")
    assert waiter.reply() == REFUSED


def test_what_grows_in_place_is_counted(house):
    before = allocation.used_bytes()
    house.send("SET", "key", b"x" * 100)
    house.send("APPEND", "key", b"y" * 100_000)
    house.send("APPEND", "key", b"z" * 100_000)
    house.send_line("SETRANGE key 500000 end")
    assert 500_000 < allocation.used_bytes() - before < 600_000
    house.send_line("INCR n")
    house.send_line("RENAME key other")
    house.send_line("COPY other third")
    assert 1_000_000 < allocation.used_bytes() - before < 1_200_000
    house.send_line("DEL other third n")
    assert allocation.used_bytes() == before


def test_bulk_loads_go_on_in_one_piece_under_a_limit_that_is_not_reached(house):
    limited(house, 1_000_000)
    assert not house.state.restrictions.in_force
    assert house.state.restrictions.must_check


# ---------------------------------------------------------------------- against real growth


def small_strings(house):
    for n in range(20_000):
        house.send("SET", b"key:%d" % n, b"value of %d" % n)


def expiring_strings(house):
    for n in range(10_000):
        house.send("SET", b"key:%d" % n, b"value of %d" % n)
        house.send("EXPIRE", b"key:%d" % n, 1000 + n)


def short_streams(house):
    for n in range(3000):
        house.send("XADD", b"stream:%d" % n, "*", "a", "1", "b", n)


def a_long_stream(house):
    for n in range(20_000):
        house.now_ms += n % 3
        house.send("XADD", "s", "*", "sensor", n, "temperature", f"{n / 7:.2f}", "unit", "C")


def pending_entries(house):
    for n in range(10_000):
        house.send("XADD", "s", f"{n * 11}-0", "a", n)
    house.send_line("XGROUP CREATE s g 0")
    for n in range(10):
        house.send("XREADGROUP", "GROUP", "g", f"c{n}", "COUNT", 1000, "STREAMS", "s", ">")


def groups_and_consumers(house):
    house.send_line("XADD s * a 1")
    for n in range(300):
        house.send("XGROUP", "CREATE", "s", f"group:{n}", 0)
        for m in range(10):
            house.send("XGROUP", "CREATECONSUMER", "s", f"group:{n}", f"consumer:{m}")


def short_lists(house):
    for n in range(3000):
        house.send("RPUSH", b"list:%d" % n, "a", n)


def a_long_list(house):
    for n in range(30_000):
        house.send("RPUSH", "l", b"an element %d" % n)


def large_elements(house):
    for n in range(300):
        house.send("RPUSH", "l", bytes([n % 256]) * 20_000)


@pytest.mark.skipif(not build.compiled(), reason="sizes are those of the compiled objects")
@pytest.mark.parametrize(
    "work",
    [
        small_strings, expiring_strings, short_streams, a_long_stream, pending_entries,
        groups_and_consumers, short_lists, a_long_list, large_elements,
    ],
    ids=lambda work: work.__name__,
)  # fmt: skip
def test_the_count_follows_what_is_allocated(house, work):
    """What is traced has not been rounded up to blocks of 16 bytes, up to a tenth of it here."""
    house.send_line("PING")
    house.log.units.clear()
    tracemalloc.start()
    try:
        gc.collect()
        counted, real = allocation.used_bytes(), tracemalloc.get_traced_memory()[0]
        work(house)
        house.log.units.clear()
        house.send_line("PING")
        gc.collect()
        counted = allocation.used_bytes() - counted
        real = tracemalloc.get_traced_memory()[0] - real
    finally:
        tracemalloc.stop()
    assert real * 0.9 < counted < real * 1.2
