"""Used memory: stored data is counted, and maxmemory accepts writes again when data is deleted."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from server.process import build
from server.table.command import TABLE
from storage import allocation
from tests.server.conftest import SocketlessServer
from tests.server.given_back import is_given_back
from tests.used_memory import used_at_start

REFUSED = "-OOM command not allowed when used memory > 'maxmemory'."
ENTRY = ("name", b"v" * 1000)


def limited(server: SocketlessServer, room: int) -> None:
    """Set maxmemory so that it leaves *room* bytes for data."""
    gc.collect()  # garbage of other tests would make more room when it goes
    server.send("CONFIG", "SET", "maxmemory", server.state.memory.used() + room)


def fill(server: SocketlessServer, *words: object) -> int:
    """Send a command until it is refused. Returns how often it was accepted."""
    done = 0
    while server.send(*words) != REFUSED:
        done += 1
    return done


def test_a_server_without_data_is_far_below_32_mb(server):
    gc.collect()  # garbage of other tests
    server.send_line("CONFIG SET maxmemory 32mb")
    assert server.send_line("SET key value") == b"OK"


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (("XADD", "key", "*", *ENTRY), 1000),
        (("RPUSH", "key", b"v" * 1000), 1000),
        (("RPUSH", "key", b"v" * 10_000), 10_000),
        (("APPEND", "key", b"v" * 1000), 1000),
    ],
)
def test_writes_are_accepted_again_when_data_is_deleted(server, words, size):
    """Resident memory would not shrink: if it were compared, every later write would be refused."""
    limited(server, 1_000_000)
    for _ in range(3):
        taken = fill(server, *words) * size
        assert 700_000 < taken < 1_100_000
        assert server.send(*words) == REFUSED
        assert server.send_line("EXISTS key") == 1
        server.send_line("UNLINK key")
    assert server.send(*words) != REFUSED


def test_trimming_a_stream_makes_room_at_once(server):
    limited(server, 1_000_000)
    fill(server, "XADD", "s", "*", *ENTRY)
    server.send_line("XTRIM s MAXLEN 10")
    assert fill(server, "XADD", "s", "*", *ENTRY) > 700


@pytest.mark.parametrize("line", ["FLUSHALL", "FLUSHDB ASYNC"])
def test_emptying_makes_room_at_once(server, line):
    before = used_at_start()
    for n in range(1000):
        server.send("SET", n, b"x" * n)
    server.send_line("XADD s * a 1")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g c STREAMS s >")
    server.send_line(line)
    assert allocation.used_bytes() == before


def test_memory_that_one_command_takes_is_seen_by_the_next(server):
    """Cron would see it 100 ms later, and a gigabyte may come until then."""
    limited(server, 1_000_000)
    assert server.send("SET", "a", b"x" * 5_000_000) == b"OK"
    assert server.send_line("SET b 1") == REFUSED
    assert server.send_line("DEL a") == 1
    assert server.send_line("SET b 1") == b"OK"


def test_a_transaction_that_adds_is_refused_as_a_whole(server):
    limited(server, 1_000_000)
    writer = server.client()
    assert [writer.send_line(line) for line in ("MULTI", "SET a 1")] == [b"OK", b"QUEUED"]
    server.send("SET", "big", b"x" * 2_000_000)
    assert writer.send_line("EXEC") == (
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory >"
        " 'maxmemory'."
    )
    assert server.send_line("EXISTS a") == 0


def test_a_transaction_that_deletes_runs(server):
    limited(server, 1_000_000)
    deleter = server.client()
    deleter.send_line("MULTI")
    deleter.send_line("DEL big")
    server.send("SET", "big", b"x" * 2_000_000)
    assert deleter.send_line("EXEC") == [1]


def test_commands_inside_exec_are_not_refused(server):
    """As in Redis: maxmemory is compared when EXEC begins, for the transaction as a whole."""
    limited(server, 1_000_000)
    for words in (["MULTI"], ["SET", "a", b"x" * 2_000_000], ["SET", "b", "1"]):
        server.send(*words)
    assert server.send_line("EXEC") == [b"OK", b"OK"]


def test_a_woken_command_that_needs_memory_is_refused(server):
    limited(server, 1_000_000)
    waiter = server.client()
    waiter.send_line("BLMOVE from to LEFT LEFT 0")
    server.send("MULTI")
    server.send("RPUSH", "from", "a")
    server.send("SET", "big", b"x" * 2_000_000)
    server.send("EXEC")
    assert waiter.reply() == REFUSED


def test_values_that_grow_in_place_are_counted(server):
    before = used_at_start()
    server.send("SET", "key", b"x" * 100)
    server.send("APPEND", "key", b"y" * 100_000)
    server.send("APPEND", "key", b"z" * 100_000)
    server.send_line("SETRANGE key 500000 end")
    assert 500_000 < allocation.used_bytes() - before < 600_000
    server.send_line("INCR n")
    server.send_line("RENAME key other")
    server.send_line("COPY other third")
    assert 1_000_000 < allocation.used_bytes() - before < 1_200_000
    server.send_line("DEL other third n")
    assert is_given_back(before)


def test_a_limit_that_is_not_reached_guards_but_does_not_restrict(server):
    limited(server, 1_000_000)
    assert not server.state.restrictions.in_force
    assert server.state.restrictions.must_check


# ---------------------------------------------------------------------- compared with tracemalloc


def small_strings(server):
    for n in range(20_000):
        server.send("SET", b"key:%d" % n, b"value of %d" % n)


def expiring_strings(server):
    for n in range(10_000):
        server.send("SET", b"key:%d" % n, b"value of %d" % n)
        server.send("EXPIRE", b"key:%d" % n, 1000 + n)


def short_streams(server):
    for n in range(3000):
        server.send("XADD", b"stream:%d" % n, "*", "a", "1", "b", n)


def a_long_stream(server):
    for n in range(20_000):
        server.now_ms += n % 3
        server.send("XADD", "s", "*", "sensor", n, "temperature", f"{n / 7:.2f}", "unit", "C")


def pending_entries(server):
    for n in range(10_000):
        server.send("XADD", "s", f"{n * 11}-0", "a", n)
    server.send_line("XGROUP CREATE s g 0")
    for n in range(10):
        server.send("XREADGROUP", "GROUP", "g", f"c{n}", "COUNT", 1000, "STREAMS", "s", ">")


def groups_and_consumers(server):
    server.send_line("XADD s * a 1")
    for n in range(300):
        server.send("XGROUP", "CREATE", "s", f"group:{n}", 0)
        for m in range(10):
            server.send("XGROUP", "CREATECONSUMER", "s", f"group:{n}", f"consumer:{m}")


def short_lists(server):
    for n in range(3000):
        server.send("RPUSH", b"list:%d" % n, "a", n)


def a_long_list(server):
    for n in range(30_000):
        server.send("RPUSH", "l", b"an element %d" % n)


def large_elements(server):
    for n in range(300):
        server.send("RPUSH", "l", bytes([n % 256]) * 20_000)


@pytest.mark.skipif(not build.compiled(), reason="sizes are those of the compiled objects")
@pytest.mark.parametrize(
    "work",
    [
        small_strings, expiring_strings, short_streams, a_long_stream, pending_entries,
        groups_and_consumers, short_lists, a_long_list, large_elements,
    ],
    ids=lambda work: work.__name__,
)  # fmt: skip
def test_used_memory_follows_what_tracemalloc_counts(server, work):
    """Sizes in tracemalloc are not rounded up to blocks of 16 bytes: up to a tenth less here."""
    server.send_line("CONFIG SET latency-tracking no")  # what is counted of commands is no data
    for command in TABLE.all_rows():
        server.state.command_stats.of(command)
    server.log.units.clear()
    tracemalloc.start()
    try:
        counted, real = used_at_start(), tracemalloc.get_traced_memory()[0]
        work(server)
        server.log.units.clear()
        server.send_line("PING")
        gc.collect()
        counted = allocation.used_bytes() - counted
        real = tracemalloc.get_traced_memory()[0] - real
    finally:
        tracemalloc.stop()
    assert real * 0.9 < counted < real * 1.2
