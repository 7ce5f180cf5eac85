"""maxmemory: which keys go, when, and who is told."""

from __future__ import annotations

import gc

import pytest

from server.config.parameters import POLICIES
from server.parts.eviction.key_eviction import NO_TIME_LIMIT_NS, time_limit_ns
from server.process.timers import NoTimers

REFUSED = "-OOM command not allowed when used memory > 'maxmemory'."
VALUE = b"v" * 1000
EVICTING = [name for name in POLICIES if name != "noeviction"]
LOCAL = [name for name in EVICTING if name.startswith("volatile")]


@pytest.fixture
def server(make_server):
    """It evicts as much as it must at once, however long that takes."""
    gc.collect()  # what other tests have left would be freed during this one
    return make_server(maxmemory_eviction_tenacity=100)


def limit(server, room, policy="allkeys-lru", **parameters):
    """Leave *room* bytes for data, under *policy*."""
    words = ["maxmemory", server.state.memory.used() + room, "maxmemory-policy", policy]
    for name, value in parameters.items():
        words += [name.replace("_", "-"), value]
    assert server.send("CONFIG", "SET", *words) == b"OK"


def fill(server, keys, *options):
    """Make *keys* keys, named by their numbers."""
    for n in range(keys):
        assert server.send("SET", n, VALUE, *options) == b"OK"


def stats(server):
    lines = server.send("INFO", "stats").decode().split("\r\n")
    return dict(line.split(":") for line in lines if ":" in line)


def evicted(server):
    return int(stats(server)["evicted_keys"])


@pytest.mark.parametrize("policy", EVICTING)
def test_new_keys_drive_out_old_ones(server, policy):
    limit(server, 100_000, policy)
    fill(server, 500, "EX", 1000)
    assert 70 < server.send("DBSIZE") < 100
    assert evicted(server) == 500 - server.send("DBSIZE")
    assert not server.state.memory.used() > server.state.memory.limit + 2000


@pytest.mark.parametrize("policy", LOCAL)
def test_keys_without_expiry_are_spared(server, policy):
    limit(server, 100_000, policy)
    fill(server, 80)
    for n in range(100):
        assert server.send("SET", f"volatile:{n}", VALUE, "EX", 1000) == b"OK"
    assert server.send("EXISTS", *range(80)) == 80
    assert evicted(server) > 80


@pytest.mark.parametrize("policy", [*LOCAL, "noeviction"])
def test_without_a_key_that_may_go_writes_are_refused_and_reads_are_not(server, policy):
    fill(server, 50)
    limit(server, 500, policy)
    assert server.send("SET", "one", VALUE) == b"OK"
    assert server.send("SET", "two", VALUE) == REFUSED
    assert server.send("GET", "7") == VALUE
    assert server.send("DEL", "7") == 1
    assert server.send("SET", "two", VALUE) == b"OK"
    assert evicted(server) == 0


def test_under_lru_the_keys_that_were_used_stay(server):
    fill(server, 100)
    server.advance(60_000)
    for n in range(50):
        server.send("GET", n)
    server.advance(60_000)
    limit(server, -30_000, "allkeys-lru", maxmemory_samples=100)
    server.send("PING")
    assert server.send("EXISTS", *range(50)) == 50
    assert 15 < server.send("EXISTS", *range(50, 100)) < 30


def test_under_lfu_the_keys_that_are_used_often_stay(server):
    limit(server, 1_000_000, "allkeys-lfu", lfu_log_factor=0)
    fill(server, 100)
    for n in range(50):
        for _ in range(10):
            server.send("GET", n)
    limit(server, -30_000, "allkeys-lfu", maxmemory_samples=100)
    server.send("PING")
    assert server.send("EXISTS", *range(50)) == 50
    assert 15 < server.send("EXISTS", *range(50, 100)) < 30


def test_under_ttl_the_keys_that_expire_first_go(server):
    for n in range(100):
        server.send("SET", n, VALUE, "EX", 1000 + n)
    limit(server, -30_000, "volatile-ttl", maxmemory_samples=100)
    server.send("PING")
    left = [n for n in range(100) if server.send("EXISTS", n)]
    assert left == list(range(left[0], 100))
    assert 20 < left[0] < 35


def test_under_random_all_databases_lose_keys(server):
    for index in (0, 3):
        server.send("SELECT", index)
        fill(server, 50)
    limit(server, -60_000, "allkeys-random")
    server.send("PING")
    sizes = [len(server.state.databases[index]) for index in (0, 3)]
    assert all(10 < size < 35 for size in sizes)
    assert abs(sizes[0] - sizes[1]) <= 1


def test_a_value_larger_than_maxmemory_is_stored_and_evicted_by_the_next_command(server):
    fill(server, 10)
    limit(server, 50_000)
    assert server.send("SET", "huge", b"v" * 200_000) == b"OK"
    assert server.send("EXISTS", "huge") == 0
    assert server.send("SET", "small", VALUE) == b"OK"
    assert 0 < evicted(server) <= 11


def test_a_read_makes_room_too(server):
    fill(server, 20)
    limit(server, -5000)
    assert server.send("EXISTS", "none") == 0
    assert evicted(server) >= 5


def test_each_evicted_key_is_logged_by_itself_and_before_the_command(server):
    fill(server, 10)
    server.transactions()
    limit(server, -1500)
    server.send("SET", "new", "v")
    *evictions, last = server.transactions()
    assert last == [b"SET new v"]
    assert evictions
    assert all(len(unit) == 1 and unit[0].startswith(b"DEL ") for unit in evictions)
    assert len(evictions) == evicted(server)


def test_lazy_eviction_is_logged_as_unlink(server):
    fill(server, 10)
    server.transactions()
    limit(server, -1500, lazyfree_lazy_eviction="yes")
    server.send("PING")
    assert all(line.startswith(b"UNLINK ") for line in server.logged())
    assert evicted(server) > 0


def test_an_eviction_is_notified_and_is_no_change_to_save(server):
    fill(server, 10)
    server.send("CONFIG", "SET", "notify-keyspace-events", "Ee")
    listener = server.client()
    listener.send("SUBSCRIBE", "__keyevent@0__:evicted")
    changes = server.state.events.changes
    limit(server, -1500)
    server.send("PING")
    kind, channel, key = listener.reply()
    assert (kind, channel) == (b"message", b"__keyevent@0__:evicted")
    assert server.send("EXISTS", key) == 0
    assert server.state.events.changes == changes


def test_an_eviction_fails_the_transactions_that_watch_the_key(server):
    server.send("SET", "k", VALUE)
    watcher = server.client()
    watcher.send_line("WATCH k")
    watcher.send_line("MULTI")
    watcher.send_line("PING")
    limit(server, -500)
    assert server.send("EXISTS", "k") == 0
    assert watcher.send_line("EXEC") is None


def test_the_keys_of_a_transaction_are_not_evicted_amid_it(server):
    limit(server, 20_000)
    server.send("MULTI")
    for n in range(60):
        assert server.send("SET", n, VALUE) == b"QUEUED"
    assert server.send("EXEC") == [b"OK"] * 60
    assert server.send("DBSIZE") <= 20  # this command has made room first
    assert evicted(server) >= 40


def test_a_command_is_queued_while_room_can_be_made(server):
    fill(server, 10)
    limit(server, -1)
    server.send("MULTI")
    assert server.send("SET", "k", "v") == b"QUEUED"
    assert server.send("EXEC") == [b"OK"]


def test_exec_is_refused_before_it_runs_when_no_room_can_be_made(server):
    fill(server, 10)
    server.send("MULTI")
    server.send("SET", "k", "v")
    limiter = server.client()
    limiter.send("CONFIG", "SET", "maxmemory", 1)
    assert server.send("EXEC") == (
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory >"
        " 'maxmemory'."
    )
    assert server.send("DISCARD") == "-ERR DISCARD without MULTI"


def test_clients_that_wait_for_an_evicted_stream_are_told(server):
    server.send("XADD", "s", "*", "f", VALUE)
    server.send("XGROUP", "CREATE", "s", "g", "$")
    reader = server.client()
    reader.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
    assert reader.waits
    limit(server, -500)
    server.send("PING")
    assert reader.reply() == (
        "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option"
    )


def test_those_who_wait_are_told_even_if_the_command_that_evicts_is_refused(server):
    """Nothing but the stream may go, and it is not enough."""
    server.send("XADD", "s", "*", "f", VALUE)
    server.send("XGROUP", "CREATE", "s", "g", "$")
    reader = server.client()
    reader.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
    server.send("CONFIG", "SET", "maxmemory", 1, "maxmemory-policy", "allkeys-lru")
    assert server.send("SET", "k", "v") == REFUSED
    assert reader.reply().startswith("-NOGROUP")


def test_a_woken_client_is_refused_if_there_is_no_room(server):
    waiter = server.client()
    waiter.send_line("BLMOVE a b LEFT LEFT 0")
    limit(server, 500, "noeviction")
    server.send("RPUSH", "a", VALUE)
    assert waiter.reply() == REFUSED


def test_a_pause_of_writes_keeps_keys_from_being_evicted(server):
    fill(server, 10)
    limit(server, -1500)
    server.send_line("CLIENT PAUSE 1000 WRITE")
    assert server.send("DBSIZE") == 10 - evicted(server)
    before = evicted(server)
    limit(server, -1500)
    server.send("GET", "1")
    assert evicted(server) == before
    server.send_line("CLIENT UNPAUSE")
    server.send("GET", "1")
    assert evicted(server) > before


def test_nothing_is_evicted_while_data_are_loaded(server):
    fill(server, 10)
    server.state.restrictions.set_phase(loading=True)
    limit(server, -1500)
    server.send("INFO")
    assert len(server.state.databases[0]) == 10


def test_what_was_logged_runs_whatever_maxmemory_says(server):
    server.send("CONFIG", "SET", "maxmemory", 1)
    replay = server.dispatcher.replaying.begin()
    assert replay([b"SET", b"k", b"v"]) == ""
    assert len(server.state.databases[0]) == 1


def test_with_little_tenacity_16_keys_go_at_once_and_the_rest_later(server):
    later = []

    class Later(NoTimers):
        def evict_soon(self):
            later.append(1)

    server.state.key_eviction.timers = Later()
    fill(server, 100)
    limit(server, -60_000, maxmemory_eviction_tenacity=0)
    assert later == [1]
    assert evicted(server) == 16  # INFO has evicted some
    assert server.send("SET", "new", "v") == b"OK"
    assert evicted(server) == 48
    server.turn(server.state.key_eviction.resume)
    assert evicted(server) > 48
    assert later == [1]


def test_with_all_tenacity_everything_goes_at_once(server):
    fill(server, 300)
    limit(server, -200_000)
    server.send("PING")
    assert not server.state.memory.exceeded()


def test_tenacity_is_a_time_limit():
    assert [time_limit_ns(n) for n in (0, 1, 10)] == [0, 50_000, 500_000]
    assert time_limit_ns(11) == 575_000
    assert 120e9 < time_limit_ns(99) < 150e9
    assert time_limit_ns(100) == NO_TIME_LIMIT_NS


def test_the_time_over_maxmemory_is_counted(server):
    server.send("SET", "k", VALUE)
    server.send("CONFIG", "SET", "maxmemory", 1)
    assert server.send("SET", "k", "v") == REFUSED
    while int(stats(server)["current_eviction_exceeded_time"]) == 0:
        assert server.send("SET", "k", "v") == REFUSED
    assert int(stats(server)["total_eviction_exceeded_time"]) > 0
    server.send("CONFIG", "SET", "maxmemory", 0)
    server.send("PING")
    counted = stats(server)
    assert counted["current_eviction_exceeded_time"] == "0"
    assert int(counted["total_eviction_exceeded_time"]) > 0
    server.send("CONFIG", "RESETSTAT")
    assert stats(server)["total_eviction_exceeded_time"] == "0"


def test_what_clients_hold_drives_out_keys_and_makes_room_when_it_goes(server):
    fill(server, 50)
    limit(server, 1000)
    holder = server.client()
    holder.send("WATCH", b"w" * 30_000)
    server.send("PING")
    left = 50 - evicted(server)
    assert 10 < left < 25
    holder.leave()
    fill(server, 20)
    assert evicted(server) == 50 - left


def test_keys_are_evicted_while_the_log_cannot_be_written(server):
    """The AOF's buffer is not compared with maxmemory: else each eviction would cause the next."""
    fill(server, 30)
    server.transactions()
    server.log.kept = False
    limit(server, -5000)
    server.state.memory.log = 1_000_000
    server.send("PING")
    assert 5 <= evicted(server) < 10
    assert len(server.transactions()) == evicted(server)


def test_a_read_during_a_background_save_is_no_use(server):
    server.send("SET", "k", "v")
    server.advance(60_000)
    server.state.events.lookup.spares_pages = True
    server.send("GET", "k")
    assert server.send("OBJECT", "IDLETIME", "k") == 60
    server.state.events.lookup.spares_pages = False
    server.send("GET", "k")
    assert server.send("OBJECT", "IDLETIME", "k") == 0


def test_flushall_and_swapdb_empty_the_pool(server):
    for line in ("FLUSHALL", "SWAPDB 0 1"):
        fill(server, 10)
        limit(server, -500)
        server.send("PING")
        assert len(server.state.key_eviction.pool)
        server.send_line(line)
        server.send("CONFIG", "SET", "maxmemory", 0)
        assert len(server.state.key_eviction.pool) == 0


def test_a_lower_maxmemory_is_warned_of(server, caplog):
    fill(server, 10)
    limit(server, -5000)
    assert "smaller than the memory in use" in caplog.text
