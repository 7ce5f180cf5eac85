"""Figures of real servers: Penstock's by one command, others' by what they can say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from penstock.testing import PenstockServer
from penstock.top import redis_source
from penstock.top.feed import Feed
from penstock.top.penstock_source import PenstockSource
from penstock.top.redis_source import RedisSource
from tests.package.top.conftest import address, feeding, running
from tests.ports import free_port

pytestmark = pytest.mark.asyncio


@pytest.fixture
def client(any_port: int) -> Iterator[redis.Redis]:
    """Of a server with a stream that one group reads, and another has read."""
    with redis.Redis(port=any_port, decode_responses=True) as client:
        for number in range(10):
            client.xadd("orders", {"n": number})
        client.xgroup_create("orders", "ship", "0")
        client.xgroup_create("orders", "audit", "$")
        client.xreadgroup("ship", "w1", {"orders": ">"}, count=3)
        client.set("text", "no stream")
        client.xadd(b"\xff\n", {"a": 1})
        yield client


async def test_all_servers_say_the_same(client: redis.Redis, any_port: int) -> None:
    async with feeding(any_port) as feed:
        rows = {row.name: row for row in feed.board.streams()}
        assert set(rows) == {"orders", "\\xff\\n"}
        orders = rows["orders"]
        assert (orders.stream.length, orders.stream.entries_added) == (10, 10)
        assert (orders.lag, orders.pending, orders.consumers) == (7, 3, 1)
        assert orders.stream.octets is not None
        groups = {row.group_name: row for row in feed.board.groups(b"orders")}
        assert [groups[name].lag for name in ("audit", "ship")] == [0, 7]
        assert groups["audit"].oldest_ms is None
        assert groups["ship"].oldest_ms is not None
        assert rows["\\xff\\n"].stream.groups == ()
        assert feed.denials == []
        assert feed.figures.facts is not None
        assert feed.figures.facts.role == "primary"


async def test_only_penstock_knows_of_dead_letters_and_schedules(
    client: redis.Redis, any_port: int
) -> None:
    async with feeding(any_port) as feed:
        row = feed.board.stream(b"orders")
        assert row is not None
        is_penstock = feed.figures.facts is not None and feed.figures.facts.is_penstock
        assert row.stream.scheduled == (0 if is_penstock else None)
        assert row.has_dead is not is_penstock
        assert row.dead is None


async def test_a_stream_that_goes_leaves_the_board(client: redis.Redis, any_port: int) -> None:
    async with feeding(any_port) as feed:
        client.delete("orders")
        await feed.look()
        assert [row.name for row in feed.board.streams()] == ["\\xff\\n"]


async def test_a_pattern_is_looked_for_by_the_server(client: redis.Redis, any_port: int) -> None:
    feed = Feed(address(any_port), 0, match="ord*")
    await feed.look()
    assert [row.name for row in feed.board.streams()] == ["orders"]
    await feed.close()


async def test_another_database(client: redis.Redis, any_port: int) -> None:
    async with feeding(any_port) as feed:
        await feed.change_db(3)
        await feed.look()
        assert len(feed.board) == 0


async def test_penstock_is_asked_by_its_own_command(server: PenstockServer) -> None:
    with server.client() as client:
        client.xadd("s", {"a": 1})
        async with feeding(server.port) as feed:
            assert isinstance(feed._source, PenstockSource)
            await feed.look()
        stats = client.info("commandstats")
    assert "cmdstat_scan" not in stats


async def test_the_policy_and_the_dead_letters_of_a_penstock(server: PenstockServer) -> None:
    server.call("XGROUP", "CREATE", "jobs", "g", "0", "MKSTREAM")
    words = "VISIBILITY 1000 MAXDELIVERIES 1 DEADLETTER jobs:dead MKSTREAM"
    server.call("XGROUP", "CFGSET", "jobs", "g", *words.split())
    server.call("XADD", "jobs", "1-0", "a", "b")
    server.call("XADD", "jobs", "DELAY", "100000", "*", "a", "b")
    server.call("XREADGROUP", "GROUP", "g", "c", "STREAMS", "jobs", ">")
    server.call("XNACK", "jobs", "g", "FATAL", "IDS", "1", "1-0")
    server.call("XGROUP", "PAUSE", "jobs", "g")
    async with feeding(server.port) as feed:
        await feed.look()
        row = feed.board.group(b"jobs", b"g")
        assert row is not None
        assert row.group is not None
        assert row.group.dead_letter == b"jobs:dead"
        assert row.group.dead_lettered == row.dead == 1
        assert "VISIBILITY" in row.group.policy
        assert row.stream.scheduled == 1
        assert row.trouble.words == ("paused", "dead letters")


# ---------------------------------------------------------------------- users with few rights

FEW = ("on", "nopass", "~*", "+scan", "+xinfo", "+type", "+ping", "+select", "+client")


async def test_what_a_user_may_not_is_said_once(redis_port: int) -> None:
    with redis.Redis(port=redis_port) as client:
        client.execute_command("ACL", "SETUSER", "few", "reset", *FEW)
        for key in ("a", "b"):
            client.xadd(key, {"n": 1})
            client.xgroup_create(key, "g", "0")
            client.xreadgroup("g", "c", {key: ">"})
    async with feeding(redis_port, username="few", password="any") as feed:
        await feed.look()
        said = feed.denials
        assert len(said) == 3
        for command in ("info", "xpending", "memory"):
            assert sum(command in each.lower() for each in said) == 1
        row = feed.board.stream(b"a")
        assert row is not None
        assert (row.stream.length, row.stream.octets, row.oldest_ms) == (1, None, None)


async def test_keys_that_a_user_may_not_read(any_port: int) -> None:
    """Penstock does not tell of them; elsewhere their figures are not known."""
    with redis.Redis(port=any_port) as client:
        rules = ("reset", "on", "nopass", "~mine*", "+@all")
        client.execute_command("ACL", "SETUSER", "half", *rules)
        client.xadd("mine", {"n": 1})
        client.xadd("yours", {"n": 1})
    async with feeding(any_port, username="half", password="any") as feed:
        rows = {row.name: row.stream.length for row in feed.board.streams()}
    assert rows in ({"mine": 1}, {"mine": 1, "yours": None})


# ---------------------------------------------------------------------- a bounded amount of work


@pytest.fixture
def many(redis_port: int) -> int:
    """The port of a server with 700 streams."""
    with redis.Redis(port=redis_port) as client:
        pipeline = client.pipeline(transaction=False)
        for number in range(700):
            pipeline.xadd(f"s:{number:03}", {"n": 1})
        pipeline.execute()
    return redis_port


async def test_one_look_asks_for_a_bounded_number_of_streams(many: int) -> None:
    feed = Feed(address(many), 0)
    await feed.look()
    assert len(feed.board) == redis_source.ASKED
    assert not feed.has_all
    await feed.look()
    assert len(feed.board) == 700
    assert feed.has_all
    await feed.close()


async def test_what_people_see_is_asked_for_at_each_look(many: int) -> None:
    async with feeding(many) as feed:
        seen = [b"s:001", b"s:650"]
        for _ in range(3):
            before = {row.stream.key: row.seen_s for row in feed.board.streams()}
            await feed.look(seen)
            for key in seen:
                row = feed.board.stream(key)
                assert row is not None
                assert row.seen_s > before[key]


async def test_a_server_without_scan_by_type(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Redis 5 refuses it."""
    async with feeding(many) as feed:
        server = feed.server
        call = server.call

        async def old(*words: object) -> object:
            if words[-1] == "stream":
                raise redis.ResponseError("syntax error")
            return await call(*words)

        monkeypatch.setattr(server, "call", old)
        source = RedisSource(server)
        found = {key async for look in source.look(()) for key in look.all_keys or ()}
        assert len(found) == 700


async def test_an_old_redis_has_no_lag_unless_everything_was_delivered() -> None:
    fields = {"name": b"g", "last-delivered-id": b"5-0", "pending": 0, "consumers": 1}
    assert redis_source._group(fields, "5-0", None).lag == 0
    assert redis_source._group(fields, "6-0", None).lag is None


# ---------------------------------------------------------------------- a server that goes


async def test_a_server_that_is_away_is_said_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    feed = Feed(address(port), 0)
    with running(port, tmp_path) as client:
        client.xadd("s", {"a": "b"})
        assert await feed.try_to_look()
    assert not await feed.try_to_look()
    assert feed.figures.problem.startswith("no server: ")
    assert len(feed.board) == 1  # what was known stays
    with running(port, tmp_path) as client:
        client.xadd("t", {"a": "b"})
        assert await feed.try_to_look()
        assert feed.figures.problem == ""
        assert [row.name for row in feed.board.streams()] == ["t"]
    await feed.close()


async def test_a_wrong_password_is_said(redis_port: int) -> None:
    with redis.Redis(port=redis_port) as client:
        client.execute_command("ACL", "SETUSER", "ann", "reset", "on", ">secret", "+@all", "~*")
    feed = Feed(address(redis_port, username="ann", password="guess"), 0)
    assert not await feed.try_to_look()
    assert "WRONGPASS" in feed.figures.problem or "invalid username" in feed.figures.problem
    await feed.close()
