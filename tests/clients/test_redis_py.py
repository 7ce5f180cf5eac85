"""redis-py's synchronous client works with the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
import redis
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    DataError,
    ResponseError,
    WatchError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)
from redis.retry import Retry

from tests.compat.processes import ServerProcess

TIMEOUT_MS = 5000
ONCE = Retry(NoBackoff(), 0)


@pytest.fixture
def client(port: int, protocol: int) -> Iterator[Redis]:
    with Redis(port=port, protocol=protocol) as connected:
        yield connected


@pytest.fixture
def text(port: int, protocol: int) -> Iterator[Redis]:
    """A client that decodes replies to str."""
    with Redis(port=port, protocol=protocol, decode_responses=True) as connected:
        yield connected


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def blocked(pool: ThreadPoolExecutor, watcher: Redis, wait: Callable[[], object]) -> Future[object]:
    """Start *wait* in a thread, and return when the server counts one more blocked client."""
    before = watcher.info("clients")["blocked_clients"]
    future = pool.submit(wait)
    for _ in range(TIMEOUT_MS):
        if future.done() or watcher.info("clients")["blocked_clients"] > before:
            return future
        Event().wait(0.001)
    raise TimeoutError("neither answered nor counted as blocked")


# Connecting


def test_a_client_connects_with_name_library_and_database(port: int, protocol: int) -> None:
    with Redis(port=port, protocol=protocol, db=3, client_name="named") as client:
        info = client.client_info()
        assert (info["name"], info["db"], info["resp"]) == ("named", 3, str(protocol))


def test_newer_servers_know_the_library(server: ServerProcess, client: Redis) -> None:
    if server.is_7_0:
        pytest.skip("CLIENT SETINFO came with 7.2")
    info = client.client_info()
    assert info["lib-name"].startswith("redis-py")
    assert info["lib-ver"] == redis.__version__


def test_a_client_connects_with_a_url(port: int, protocol: int) -> None:
    with Redis.from_url(f"redis://127.0.0.1:{port}/2?protocol={protocol}") as client:
        assert client.ping()
        assert client.client_info()["db"] == 2


def test_a_password_is_required_and_accepted(port: int, protocol: int) -> None:
    with Redis(port=port, protocol=protocol) as admin:
        admin.config_set("requirepass", "secret")
        try:
            with (
                Redis(port=port, protocol=protocol, retry=ONCE) as stranger,
                pytest.raises(AuthenticationError),
            ):
                stranger.get("k")
            with (
                Redis(port=port, protocol=protocol, password="wrong", retry=ONCE) as wrong,
                pytest.raises(AuthenticationError),
            ):
                wrong.ping()
            with Redis(port=port, protocol=protocol, password="secret") as right:
                assert right.ping()
            with Redis(port=port, protocol=protocol, username="default", password="secret") as one:
                assert one.ping()
        finally:
            admin.config_set("requirepass", "")


def test_pooled_connections_pass_their_health_check(port: int, protocol: int) -> None:
    pool = redis.ConnectionPool(port=port, protocol=protocol, health_check_interval=1)
    with Redis(connection_pool=pool) as client:
        for connection in (pool.get_connection(), pool.get_connection()):
            connection.next_health_check = 1.0
            connection.check_health()
            pool.release(connection)
        assert client.ping()
    pool.disconnect()


def test_a_killed_connection_is_reopened(client: Redis) -> None:
    first = client.client_id()
    client.client_kill_filter(_id=first, skipme=False)
    assert client.client_id() != first


def test_monitoring_commands_return_the_fields_that_tools_read(client: Redis) -> None:
    info = client.info()
    assert info["redis_mode"] == "standalone"
    assert info["role"] == "master"
    assert {"redis_version", "tcp_port", "uptime_in_seconds", "connected_clients"} <= info.keys()
    client.set("k", "v", ex=100)
    keyspace = client.info("keyspace")["db0"]
    assert (keyspace["keys"], keyspace["expires"]) == (1, 1)
    seconds, micros = client.time()
    assert seconds > 1_600_000_000
    assert 0 <= micros < 1_000_000
    assert client.dbsize() == 1
    assert client.command_count() > 100
    assert client.config_get("maxmemory") == {"maxmemory": "0"}


# Values


def test_strings_numbers_and_expiry(client: Redis) -> None:
    assert client.set("k", "v", nx=True, px=100_000) is True
    assert client.set("k", "w", nx=True) is None
    assert client.set("k", "x", get=True, keepttl=True) == b"v"
    assert 0 < client.pttl("k") <= 100_000
    assert client.getex("k", persist=True) == b"x"
    assert client.ttl("k") == -1
    assert client.incrby("n", 5) == 5
    assert client.incrbyfloat("n", 0.5) == 5.5
    assert client.mget("k", "missing", "n") == [b"x", None, b"5.5"]
    assert client.getdel("k") == b"x"
    assert client.expire("n", 100, xx=True) is False
    assert client.delete("k", "n") == 1


def test_decoded_text(text: Redis) -> None:
    text.set("grüße", "näher ✓")
    assert text.get("grüße") == "näher ✓"
    text.rpush("l", "a", "b")
    assert text.lrange("l", 0, -1) == ["a", "b"]
    text.xadd("s", {"field": "wert"}, id="1-0")
    assert text.xrange("s") == [("1-0", {"field": "wert"})]


def test_large_and_binary_values(client: Redis) -> None:
    large = bytes(range(256)) * 40_000
    client.set("k", large)
    assert client.get("k") == large
    assert client.strlen("k") == len(large)
    client.rpush("l", large, b"", b"\r\n")
    assert client.lrange("l", 0, -1) == [large, b"", b"\r\n"]
    client.xadd("s", {b"\x00\xff": large}, id="1-0")
    assert client.xrange("s") == [(b"1-0", {b"\x00\xff": large})]


def test_lists(client: Redis) -> None:
    client.rpush("l", *range(10))
    assert client.lpop("l", 2) == [b"0", b"1"]
    assert client.lpos("l", "5", rank=1) == 3
    assert client.lmove("l", "m", "LEFT", "RIGHT") == b"2"
    assert client.lmpop(2, "none", "l", direction="RIGHT", count=2) == [b"l", [b"9", b"8"]]
    assert client.linsert("l", "before", "5", "x") == 6
    assert client.lrem("l", 0, "x") == 1
    assert client.llen("l") == 5
    assert client.ltrim("l", 0, 0)
    assert client.lrange("l", 0, -1) == [b"3"]


def test_wrong_type_is_an_exception(client: Redis) -> None:
    client.set("k", "v")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        client.lpush("k", "a")
    with pytest.raises(ResponseError, match="unknown command"):
        client.execute_command("NOSUCH")
    with pytest.raises(DataError):
        client.set("k", None)  # type: ignore[arg-type]


def test_scan_iter_finds_every_key_once(client: Redis) -> None:
    names = {b"key:%d" % number for number in range(500)}
    client.mset(dict.fromkeys(names, "v"))
    client.rpush("list", "a")
    assert set(client.scan_iter(match="key:*", count=7)) == names
    assert list(client.scan_iter(_type="list", count=100)) == [b"list"]
    assert len(set(client.scan_iter())) == 501


# Pipelines and transactions


def test_a_pipeline_returns_all_replies_in_order(client: Redis) -> None:
    pipe = client.pipeline(transaction=False)
    for number in range(2000):
        pipe.rpush("l", number)
    pipe.lrange("l", 0, -1)
    replies = pipe.execute()
    assert replies[:2000] == list(range(1, 2001))
    assert replies[2000] == [b"%d" % number for number in range(2000)]


def test_an_error_in_a_pipeline_stays_where_it_was(client: Redis) -> None:
    pipe = client.pipeline(transaction=True).set("k", "v").lpush("k", "x").get("k")
    replies = pipe.execute(raise_on_error=False)
    assert (replies[0], replies[2]) == (True, b"v")
    assert isinstance(replies[1], ResponseError)


def test_watch_makes_a_transaction_fail_when_the_key_changed(client: Redis) -> None:
    client.set("k", 1)
    with client.pipeline() as pipe:
        pipe.watch("k")
        client.set("k", 2)
        pipe.multi()
        pipe.set("k", 3)
        with pytest.raises(WatchError):
            pipe.execute()
    assert client.get("k") == b"2"


def test_transaction_retries_until_it_wins(client: Redis, threads: ThreadPoolExecutor) -> None:
    client.set("n", 0)

    def add(_: int) -> None:
        client.transaction(_increment, "n")

    list(threads.map(add, range(40)))
    assert client.get("n") == b"40"


def _increment(pipe: redis.client.Pipeline) -> None:
    value = int(pipe.get("n"))
    pipe.multi()
    pipe.set("n", value + 1)


def test_set_nx_px_works_as_a_lock(client: Redis) -> None:
    assert client.set("lock", "me", nx=True, px=30_000)
    assert not client.set("lock", "you", nx=True, px=30_000)
    with client.pipeline() as pipe:
        pipe.watch("lock")
        assert pipe.get("lock") == b"me"
        pipe.multi()
        pipe.delete("lock")
        assert pipe.execute() == [1]
    assert client.set("lock", "you", nx=True, px=30_000)


# Streams


def test_streams(client: Redis) -> None:
    ids = [client.xadd("s", {"n": number}, id=f"{number}-0") for number in range(1, 6)]
    assert ids == [b"%d-0" % number for number in range(1, 6)]
    assert client.xlen("s") == 5
    assert client.xrange("s", "2", "3") == [(b"2-0", {b"n": b"2"}), (b"3-0", {b"n": b"3"})]
    assert client.xrevrange("s", count=1) == [(b"5-0", {b"n": b"5"})]
    assert client.xdel("s", "5-0") == 1
    assert client.xtrim("s", maxlen=3, approximate=False) == 1
    assert client.xadd("s", {"n": 9}, maxlen=100, approximate=True, nomkstream=True)
    info = client.xinfo_stream("s")
    assert info["length"] == 4
    assert info["first-entry"] == (b"2-0", {b"n": b"2"})
    assert client.xinfo_stream("s", full=True)["length"] == 4


def test_reading_streams(client: Redis, protocol: int) -> None:
    client.xadd("s", {"a": 1}, id="1-0")
    client.xadd("t", {"b": 2}, id="2-0")
    got = client.xread({"s": 0, "t": 0, "missing": 0}, count=5)
    entries = dict(got)
    flat = {key: value[0] if protocol == 3 else value for key, value in entries.items()}
    assert flat == {b"s": [(b"1-0", {b"a": b"1"})], b"t": [(b"2-0", {b"b": b"2"})]}
    assert not client.xread({"s": "$"}, block=1)


def test_a_consumer_group_from_creation_to_acknowledgement(client: Redis) -> None:
    assert client.xgroup_create("s", "g", id="0", mkstream=True)
    with pytest.raises(ResponseError, match="BUSYGROUP"):
        client.xgroup_create("s", "g")
    for number in range(1, 5):
        client.xadd("s", {"n": number}, id=f"{number}-0")
    assert client.xreadgroup("g", "alice", {"s": ">"}, count=3)
    assert client.xreadgroup("g", "bob", {"s": ">"})
    pending = client.xpending("s", "g")
    assert pending["pending"] == 4
    assert pending["consumers"] == [
        {"name": b"alice", "pending": 3},
        {"name": b"bob", "pending": 1},
    ]
    rows = client.xpending_range("s", "g", "-", "+", 10, consumername="alice")
    assert [row["message_id"] for row in rows] == [b"1-0", b"2-0", b"3-0"]
    assert client.xack("s", "g", "1-0") == 1
    claimed = client.xclaim("s", "g", "bob", 0, ["2-0"])
    assert claimed == [(b"2-0", {b"n": b"2"})]
    cursor, entries, deleted = client.xautoclaim("s", "g", "bob", 0, "0-0", count=10)
    assert (cursor, len(entries), deleted) == (b"0-0", 3, [])
    groups = client.xinfo_groups("s")
    assert (groups[0]["name"], groups[0]["pending"], groups[0]["lag"]) == (b"g", 3, 0)
    consumers = {row["name"]: row["pending"] for row in client.xinfo_consumers("s", "g")}
    assert consumers == {b"alice": 0, b"bob": 3}
    assert client.xgroup_delconsumer("s", "g", "bob") == 3
    assert client.xgroup_destroy("s", "g") == 1


# Blocking


def test_a_blocked_pop_is_served_by_a_push(client: Redis, threads: ThreadPoolExecutor) -> None:
    waiting = blocked(threads, client, lambda: client.blpop(["a", "b"], timeout=10))
    client.rpush("b", "x")
    assert list(waiting.result(5)) == [b"b", b"x"]
    waiting = blocked(threads, client, lambda: client.blmove("src", "dst", 10))
    client.rpush("src", "y")
    assert waiting.result(5) == b"y"
    waiting = blocked(threads, client, lambda: client.blmpop(10, 1, "q", direction="LEFT", count=2))
    client.rpush("q", 1, 2, 3)
    assert waiting.result(5) == [b"q", [b"1", b"2"]]


def test_blocked_threads_share_the_elements(client: Redis, threads: ThreadPoolExecutor) -> None:
    def take(_: int) -> bytes:
        return client.blpop("work", timeout=10)[1]

    results = threads.map(take, range(200))
    client.rpush("work", *range(100))
    for number in range(100, 200):
        client.rpush("work", number)
    assert sorted(map(int, results)) == list(range(200))


def test_a_pop_times_out_with_none(client: Redis) -> None:
    assert client.blpop("nothing", timeout=0.01) is None
    assert client.blmove("nothing", "dst", 0.01) is None
    assert not client.xread({"nothing": "$"}, block=10)


def test_blocked_readers_of_a_stream_are_served(client: Redis, threads: ThreadPoolExecutor) -> None:
    client.xgroup_create("s", "g", mkstream=True)
    plain = blocked(threads, client, lambda: client.xread({"s": "$"}, block=10_000))
    group = blocked(threads, client, lambda: client.xreadgroup("g", "c", {"s": ">"}, block=10_000))
    client.xadd("s", {"f": "v"}, id="1-0")
    assert plain.result(5)
    assert group.result(5)
    assert client.xpending("s", "g")["pending"] == 1


def test_an_unblocked_client_gets_none_or_an_error(
    client: Redis, port: int, protocol: int, threads: ThreadPoolExecutor
) -> None:
    with Redis(port=port, protocol=protocol, single_connection_client=True) as other:
        number = other.client_id()
        waiting = blocked(threads, client, lambda: other.blpop("l", timeout=0))
        assert client.client_unblock(number)
        assert waiting.result(5) is None
        waiting = blocked(threads, client, lambda: other.blpop("l", timeout=0))
        assert client.client_unblock(number, error=True)
        with pytest.raises(ResponseError, match="UNBLOCKED"):
            waiting.result(5)


# Clients


def test_clients_are_listed_named_and_killed(client: Redis, port: int, protocol: int) -> None:
    other = Redis(port=port, protocol=protocol, client_name="victim", single_connection_client=True)
    number = other.client_id()
    rows = {row["name"]: row for row in client.client_list()}
    assert rows["victim"]["id"] == str(number)
    assert [row["name"] for row in client.client_list(client_id=[number])] == ["victim"]
    assert client.client_kill_filter(_id=number) == 1
    assert "victim" not in {row["name"] for row in client.client_list()}
    other.close()


def test_a_killed_blocked_client_gets_a_connection_error(
    client: Redis, port: int, protocol: int, threads: ThreadPoolExecutor
) -> None:
    other = Redis(port=port, protocol=protocol, single_connection_client=True, retry=ONCE)
    number = other.client_id()
    waiting = blocked(threads, client, lambda: other.blpop("l", timeout=0))
    client.client_kill_filter(_id=number)
    with pytest.raises(RedisConnectionError):
        waiting.result(5)
    other.close()
    client.rpush("l", "kept")
    assert client.lrange("l", 0, -1) == [b"kept"]


def test_a_pause_holds_writes_and_lets_reads_pass(
    client: Redis, threads: ThreadPoolExecutor
) -> None:
    client.client_pause(60_000, all=False)
    try:
        writing = blocked(threads, client, lambda: client.set("k", "v"))
        assert client.get("k") is None
    finally:
        client.client_unpause()
    assert writing.result(5) is True
    assert client.get("k") == b"v"
