"""CLIENT ACKS that is changed, ends of waits and of roles, and histories without a change."""

from __future__ import annotations

from errno import ENOSPC

import pytest

from server.parts.persistence.stored_history import StoredHistory
from server.parts.replication.confirmations import MOST_FORMER
from tests.server.by_hand import HandReplica, Peer, offset_of, until_held
from tests.server.running import on_each_loop, running

ID = "a" * 40


def late(replicas: str = "1 replica") -> str:
    return f"-NOTCONFIRMED Executed here, but not confirmed by {replicas} within 20 ms."


@on_each_loop
async def test_a_backlog_begun_while_data_are_loaded_begins_anew_with_their_history() -> None:
    """CLIENT OFFSET or ACKS had begun it at 0: replicas were sent bytes of other places."""
    async with running() as server:
        await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 20")
        replication = server.server.state.replication
        replication.resume(StoredHistory(ID, 3003, 0))
        backlog = replication.history.backlog
        assert backlog is not None
        assert (backlog.first, len(backlog)) == (3004, 0)
        assert replication.confirmations.keys.last == 3003
        other = await Peer.connect(server)
        # What is in the memory of other tests' servers would have it refused as an older Redis.
        replica = await Peer.connect(server, "CONFIG SET repl-oldest-replica 8.8")
        replica.send(f"PSYNC {ID} 3004")
        assert (await replica.reader.readline()).startswith(b"+CONTINUE")
        await other.ask("SET k 1")
        found = await replica.reader.readuntil(b"$1\r\nk\r\n$1\r\n1\r\n")
        assert found.startswith((b"*2\r\n$6\r\nSELECT", b"*1\r\n$4\r\nPING"))


@on_each_loop
async def test_without_a_replica_nothing_is_confirmed_however_short_the_history_is() -> None:
    async with running() as server:
        await (await Peer.connect(server)).ask("SET k 1")
        reader = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 20")
        assert await reader.ask("GET k") == late()
        assert await reader.ask("DBSIZE") == late()


@on_each_loop
async def test_who_asks_for_more_later_waits_for_what_others_had_confirmed() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("SET k 1")
        await until_held(server)
        replica.ack(offset_of(server))
        assert await writer.read() == b"OK"
        reader = await Peer.connect(server, "CLIENT ACKS 2 TIMEOUT 20")
        assert await reader.ask("GET k") == late("2 replicas")


@on_each_loop
async def test_two_links_of_one_replica_are_one_replica() -> None:
    """Its link was cut, and the primary does not know yet: both told of the write, for two."""
    async with running() as server:
        links = [await HandReplica.follow(server, port=7001) for _ in range(2)]
        writer = await Peer.connect(server, "CLIENT ACKS 2 TIMEOUT 100")
        writer.send("SET k 1")
        await until_held(server)
        for link in links:
            link.ack(offset_of(server))
        assert await writer.read() == late("2 replicas").replace(" 20 ms", " 100 ms")
        other = await HandReplica.follow(server, port=7002)
        writer.send("CLIENT ACKS 2", "SET k 2")
        await until_held(server)
        for link in (links[1], other):
            link.ack(offset_of(server))
        assert await writer.read_all(2) == [b"OK", b"OK"]


@on_each_loop
async def test_who_asks_for_less_still_gets_what_was_asked_for_before() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 2 TIMEOUT 20")
        writer.send("SET k 1", "CLIENT ACKS 1", "GET k")
        await until_held(server)
        replica.ack(offset_of(server))
        assert await writer.read_all(3) == [late("2 replicas"), b"OK", b"1"]
        assert server.server.state.replication.confirmations.users == 1


@pytest.mark.parametrize(
    "lines",
    [
        ("SET k 1", "CLIENT ACKS 1", "CLIENT ACKS 1"),
        ("SET k 1", "CLIENT ACKS 1", "SET k 2", "CLIENT ACKS 2"),
        ("CLIENT ACKS 1", "SET k 1", "CLIENT ACKS 2"),
    ],
)
@on_each_loop
async def test_nothing_leaves_before_the_log_is_written_when_it_is_sent_again(
    lines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, an OK left during the turn: the disk was full, and the change was gone."""
    async with running(appendonly=True, appendfsync="always") as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server)
        monkeypatch.setattr(server.server.state.persistence.files, "write", on_full_disk)
        writer.send(*lines)
        assert str(await writer.read()).startswith("-MISCONF Errors writing to the AOF file")
        replica.ack(offset_of(server))
        with pytest.raises(EOFError):
            await writer.read()


def on_full_disk(fd: int, data: bytes) -> int:
    raise OSError(ENOSPC, "No space left on device")


@on_each_loop
async def test_what_stands_before_the_first_change_leaves_at_once_when_it_is_sent_again() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server)
        writer.send("PING", "CLIENT ACKS 1", "SET k 1", "CLIENT ACKS 1 TIMEOUT 60000", "GET k")
        assert await writer.read_all(2) == [b"PONG", b"OK"]
        await until_held(server)
        assert writer.has_nothing()
        replica.ack(offset_of(server))
        assert await writer.read_all(3) == [b"OK", b"OK", b"1"]


@on_each_loop
async def test_a_client_that_changes_it_without_end_holds_few_levels() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        changes = [f"CLIENT ACKS {number}" for number in range(2, 3 * MOST_FORMER)]
        lines = [line for change in changes for line in ("SET k 1", change)]
        writer.send(*lines)
        found = await writer.read_all(2 * MOST_FORMER)
        assert found[0].startswith("-NOTCONFIRMED Executed here, but not confirmed before CLIENT")
        confirmations = server.server.state.replication.confirmations
        assert confirmations.users <= MOST_FORMER + 1


@on_each_loop
async def test_who_asks_again_for_the_same_loses_nothing_that_waits() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send(*["SET k 1", "CLIENT ACKS 1"] * (2 * MOST_FORMER))
        await until_held(server)
        assert server.server.state.replication.confirmations.users == 1
        replica.ack(offset_of(server))
        assert await writer.read_all(4 * MOST_FORMER) == [b"OK"] * (4 * MOST_FORMER)


@on_each_loop
async def test_a_client_that_is_cut_off_while_it_changes_it_leaves_nothing_behind() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        other = await Peer.connect(server)
        assert await other.ask("CONFIG SET client-output-buffer-limit 'normal 1mb 0 0'") == b"OK"
        assert await other.ask("SETRANGE large 299999 x") == 300_000
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        confirmations = server.server.state.replication.confirmations
        writer.send(*["GET large", "CLIENT ACKS 2", "GET large", "CLIENT ACKS 1"] * 5)
        await server.until(lambda: not confirmations.is_used)
        assert (confirmations.users, confirmations.held_clients) == (0, 0)


@on_each_loop
async def test_off_in_a_transaction_holds_for_what_comes_after_it() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 20")
        writer.send("MULTI", "SET k 1", "CLIENT ACKS OFF", "EXEC", "SET k 2")
        assert await writer.read_all(5) == [b"OK", b"QUEUED", b"QUEUED", late(), b"OK"]
        confirmations = server.server.state.replication.confirmations
        await server.until(lambda: not confirmations.is_used)


@on_each_loop
async def test_a_wait_that_ends_by_time_tells_of_what_is_confirmed() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        other = await Peer.connect(server)
        await other.ask("XGROUP CREATE s g 0 MKSTREAM")
        reader, taker = [await Peer.connect(server, "CLIENT ACKS 1") for _ in range(2)]
        confirmations = server.server.state.replication.confirmations
        end = offset_of(server)
        replica.ack(end)
        await server.until(lambda: confirmations.confirmed >= end)
        await other.ask("RPUSH q 1")
        await other.ask("DEL q")
        reader.send("BLPOP q 0.01")
        taker.send("XREADGROUP GROUP g new BLOCK 10 STREAMS s >")  # which makes a consumer
        await until_held(server, 2)
        assert reader.has_nothing()
        replica.ack(offset_of(server))
        assert [await reader.read(), await taker.read()] == [None, None]


@on_each_loop
async def test_a_transaction_that_touches_no_data_waits_for_nothing() -> None:
    """Sentinel promotes by one."""
    async with running() as server:
        await HandReplica.follow(server)
        await (await Peer.connect(server)).ask("SET k 1")
        peer = await Peer.connect(server, "CLIENT ACKS 1")
        peer.send("MULTI", "PING", "CLIENT ID", "EXEC", "ECHO a")
        found = await peer.read_all(5)
        assert found[3][0] == b"PONG"
        peer.send("MULTI", "GET k", "EXEC")
        assert await peer.read_all(2) == [b"OK", b"QUEUED"]
        await until_held(server)


@on_each_loop
async def test_a_transaction_that_makes_the_server_a_replica_confirms_nothing() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 60000")
        writer.send("MULTI", "SET k 1", "REPLICAOF 127.0.0.1 1", "EXEC", "PING")
        found = await writer.read_all(5)
        assert str(found[3]).startswith("-NOTCONFIRMED Executed here, but not confirmed before")
        assert found[4] == b"PONG"


@on_each_loop
async def test_a_transaction_that_a_replica_refuses_is_discarded() -> None:
    """It was told once that it had been executed."""
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 60000")
        await writer.ask("REPLICAOF 127.0.0.1 1")
        writer.send("MULTI", "GET k", "EXEC", "MULTI", "EXEC")
        found = await writer.read_all(5)
        assert found[1].startswith("-NOQUORUM")
        assert found[2].startswith("-EXECABORT")
        assert found[4] == []


@on_each_loop
async def test_what_waits_when_the_role_changes_in_the_same_turn_is_an_error_at_once() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 60000")
        writer.send("SET k 1", "REPLICAOF 127.0.0.1 1", "PING")
        found = await writer.read_all(3)
        assert found[0].startswith("-NOTCONFIRMED Executed here, but not confirmed before this")
        assert found[1:] == [b"OK", b"PONG"]
