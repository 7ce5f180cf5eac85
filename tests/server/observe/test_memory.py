"""Used memory: stored data is counted, and maxmemory accepts writes again when data is deleted."""

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
    """Set maxmemory so that it leaves *room* bytes for data."""
    house.send("CONFIG", "SET", "maxmemory", house.state.memory.used() + room)


def fill(house: House, *words: object) -> int:
    """Send a command until it is refused. Returns how often it was accepted."""
    done = 0
    while house.send(*words) != REFUSED:
        done += 1
    return done


def test_a_server_without_data_is_far_below_32_mb(house):
    gc.collect()  # garbage of other tests
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
def test_writes_are_accepted_again_when_data_is_deleted(house, words, size):
    """Resident memory would not shrink: if it were compared, every later write would be refused."""
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
    gc.collect()  # garbage of other tests must not be freed meanwhile
    before = allocation.used_bytes()
    for n in range(1000):
        house.send("SET", n, b"x" * n)
    house.send_line("XADD s * a 1")
    house.send_line("XGROUP CREATE s g 0")
    house.send_line("XREADGROUP GROUP g c STREAMS s >")
    house.send_line(line)
    assert allocation.used_bytes() == before


def test_memory_that_one_command_takes_is_seen_by_the_next(house):
    """Cron would see it 100 ms later, and a gigabyte may come until then."""
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


def test_commands_inside_exec_are_not_refused(house):
    """As in Redis: maxmemory is compared when EXEC begins, for the transaction as a whole."""
    limited(house, 1_000_000)
    for words in (["MULTI"], ["SET", "a", b"x" * 2_000_000], ["SET", "b", "1"]):
        house.send(*words)
    assert house.send_line("EXEC") == [b"OK", b"OK"]


def test_a_woken_command_that_needs_memory_is_refused(house):
    limited(house, 1_000_000)
    waiter = house.client()
    waiter.send_line("BLMOVE from to LEFT LEFT 0")
    house.send("MULTI")
    house.send("RPUSH", "from", "a")
    house.send("SET", "big", b"x" * 2_000_000)
    house.send("EXEC")
    assert waiter.reply() == REFUSED


def test_values_that_grow_in_place_are_counted(house):
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


def test_a_limit_that_is_not_reached_guards_but_does_not_restrict(house):
    limited(house, 1_000_000)
    assert not house.state.restrictions.in_force
    assert house.state.restrictions.must_check


# ---------------------------------------------------------------------- compared with tracemalloc


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
def test_used_memory_follows_what_tracemalloc_counts(house, work):
    """Sizes in tracemalloc are not rounded up to blocks of 16 bytes: up to a tenth less here."""
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
