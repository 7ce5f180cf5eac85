"""Replies of clients with CLIENT ACKS, over sockets; a replica is played by hand."""

from __future__ import annotations

import asyncio
import time

import pytest

from server.process.server_clock import HAS_BOOT_TIME
from tests.server.by_hand import HandReplica, Peer, offset_of, until_held
from tests.server.running import Running, on_each_loop, running

LATE = "-NOTCONFIRMED Executed here, but not confirmed by 1 replica within 60000 ms."


def is_held(server: Running) -> bool:
    return server.server.state.replication.confirmations.held_clients > 0


def late(ms: int) -> str:
    return LATE.replace("60000", str(ms))


@on_each_loop
async def test_a_reply_leaves_when_the_replica_has_the_change() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("SET k 1", "INCR k")
        await until_held(server)
        assert writer.has_nothing()
        replica.ack(offset_of(server))
        assert await writer.read_all(2) == [b"OK", 2]
        assert (await replica.reader.read(1000)).count(b"GETACK") == 1


@on_each_loop
async def test_what_stands_before_the_first_change_leaves_at_once() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("PING", "ECHO a", "SET k 1", "PING")
        assert await writer.read_all(2) == [b"PONG", b"a"]
        await until_held(server)
        assert writer.has_nothing()


@on_each_loop
async def test_when_time_is_up_only_the_replies_to_changes_are_errors() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 20")
        writer.send("PING", "SET k 1", "ECHO between", "INCR k", "ECHO behind")
        found = await writer.read_all(5)
        assert found == [b"PONG", late(20), b"between", late(20), b"behind"]
        assert await writer.ask("CLIENT ACKS OFF") == b"OK"
        assert await writer.ask("GET k") == b"2"  # they were executed
        assert server.server.state.replication.confirmations.timeouts == 2


@on_each_loop
async def test_what_is_confirmed_by_then_is_no_error_when_time_is_up() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        other = await Peer.connect(server)
        for timeout_ms in (100, 1000, 10_000):  # a busy machine may need longer than that
            writer = await Peer.connect(server, f"CLIENT ACKS 1 TIMEOUT {timeout_ms}")
            writer.send("SET a 1")
            while not is_held(server) and writer.has_nothing():
                await asyncio.sleep(0)
            between = (await other.ask("CLIENT OFFSET"))[1]
            writer.send("SET b 1")
            while offset_of(server) <= between:
                await asyncio.sleep(0)
            replica.ack(between)
            first, second = await writer.read_all(2)
            assert second == late(timeout_ms)
            if first == b"OK":
                return
            replica.ack(offset_of(server))
        pytest.fail("even what was confirmed in time was an error")


@on_each_loop
async def test_without_any_replica_changes_are_not_confirmed() -> None:
    async with running() as server:
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 20")
        assert await writer.ask("SET k 1") == late(20)
        assert await writer.ask("PING") == b"PONG"


@on_each_loop
async def test_two_replicas_are_asked_for() -> None:
    async with running() as server:
        one, other = await HandReplica.follow(server), await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 2")
        writer.send("SET k 1")
        await until_held(server)
        end = offset_of(server)
        one.ack(end)
        replica = server.server.state.replication.replicas.all[0]
        await server.until(lambda: replica.acked >= end)
        assert writer.has_nothing()
        other.ack(offset_of(server))
        assert await writer.read() == b"OK"


@on_each_loop
async def test_with_fsync_it_has_to_be_on_the_replicas_disk() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 FSYNC")
        writer.send("SET k 1")
        await until_held(server)
        end = offset_of(server)
        replica.ack(end, 0)
        seen = server.server.state.replication.replicas.all[0]
        await server.until(lambda: seen.acked >= end)
        assert writer.has_nothing()
        replica.ack(end, end)
        assert await writer.read() == b"OK"


@on_each_loop
async def test_with_fsync_it_has_to_be_on_the_primarys_own_disk_too() -> None:
    """It may lose power, and be back before anybody has replaced it."""
    async with running(appendonly=True, appendfsync="no") as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 FSYNC")
        writer.send("SET k 1")
        await until_held(server)
        end = offset_of(server)
        replica.ack(end, end)
        seen = server.server.state.replication.replicas.all[0]
        await server.until(lambda: seen.fsynced >= end)
        assert writer.has_nothing()
        other = await Peer.connect(server)
        assert await other.ask("CONFIG SET appendfsync always") == b"OK"
        assert await other.ask("SET another 1") == b"OK"
        assert await writer.read() == b"OK"


@on_each_loop
async def test_a_read_waits_for_the_last_change_of_its_keys_whoever_made_it() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        other, reader = await Peer.connect(server), await Peer.connect(server, "CLIENT ACKS 1")
        await other.ask("SET quiet 1")
        await acked(server, replica)
        assert await other.ask("SET k 1") == b"OK"  # it has no ACKS
        assert await reader.ask("GET quiet") == b"1"
        assert await reader.ask("PING") == b"PONG"
        for line in ("GET k", "MGET quiet k", "DBSIZE", "EVAL 'return 1' 0"):
            reader.send(line)
        await until_held(server)
        assert reader.has_nothing()
        replica.ack(offset_of(server))
        assert await reader.read_all(4) == [b"1", [b"1", b"1"], 2, 1]


LIBRARY = "#!lua name=lib\\nredis.register_function('f', function() return 1 end)"

# What is there and confirmed, what is then changed, and what must not be answered before that is
# confirmed, with its answer. "db1:" is another database.
BEYOND_THE_KEYS = [
    ("SET a 1", "COPY a b DB 1", "db1:GET b", b"1"),
    ("SET m 1", "MOVE m 1", "db1:GET m", b"1"),
    ("SET m 1", "MOVE m 1", "EXISTS m", 0),
    ("SET m 1", "db1:SET m 2", "MOVE m 1", 0),
    ("SET m 1", "db1:SET n 2", "COPY m n DB 1", 0),
    ("RPUSH l 1", "SET o_1 NEW", "SORT l GET o_*", [b"NEW"]),
    ("RPUSH l 1 2", "MSET w_1 2 w_2 1", "SORT_RO l BY w_*", [b"2", b"1"]),
    ("RPUSH l 1", "SET o_1 NEW", "SORT_RO l BY nosort GET o_*", [b"NEW"]),
    ("PING", f'FUNCTION LOAD "{LIBRARY}"', "FUNCTION LIST LIBRARYNAME none", []),
    ("DEL k", "SET k 1", "DEBUG DIGEST-VALUE other", [b"0" * 40]),
    ("DEL k", "XADD k 1-1 f v", "XREAD MATCH k* 0", [[b"k", [[b"1-1", [b"f", b"v"]]]]]),
    ("XADD k 1-1 f v", "DEL k", "XINFO STREAMS 0", [b"0", []]),
    ("DEL k", "SET k 1", "RANDOMKEY", b"k"),
    ("DEL k", "SET k 1", "SCAN 0", [b"0", [b"k"]]),
    ("DEL k", "SET k 1", "EVAL \"return redis.call('GET', 'k')\" 0", b"1"),
    ("DEL k", "db1:SET k 1", "SWAPDB 0 99", "-ERR DB index is out of range"),
]


async def said_by(server: Running, line: str, *first: str) -> Peer:
    """Send *line* on a connection of its own, which says *first* before."""
    select = ["SELECT 1"] if line.startswith("db1:") else []
    peer = await Peer.connect(server, *select, *first)
    peer.send(line.removeprefix("db1:"))
    return peer


@pytest.mark.parametrize(("given", "change", "read", "answer"), BEYOND_THE_KEYS)
@on_each_loop
async def test_reads_of_what_no_key_names_wait_too(
    given: str, change: str, read: str, answer: object
) -> None:
    async with running(enable_debug_command="yes") as server:
        replica = await HandReplica.follow(server)
        await Peer.connect(server, "CLIENT ACKS 1")
        await (await said_by(server, given)).read()
        await acked(server, replica)
        await (await said_by(server, change)).read()
        reader = await said_by(server, read, "CLIENT ACKS 1")
        await until_held(server)
        assert reader.has_nothing()
        replica.ack(offset_of(server))
        assert await reader.read() == answer


async def acked(server: Running, replica: HandReplica) -> None:
    """Have *replica* confirm all that is there."""
    end = offset_of(server)  # a PING may come after it at any time
    replica.ack(end)
    await server.until(lambda: server.server.state.replication.confirmations.confirmed >= end)


@on_each_loop
async def test_a_replica_does_not_tell_its_functions_to_who_wants_what_is_confirmed() -> None:
    async with running() as server:
        reader = await Peer.connect(server, "CLIENT ACKS 1")
        await (await Peer.connect(server)).ask("REPLICAOF 127.0.0.1 1")
        for line in ("FUNCTION LIST", "FUNCTION DUMP", "FUNCTION STATS"):
            assert (await reader.ask(line)).startswith("-NOQUORUM A replica confirms nothing")


@pytest.mark.parametrize(
    "wait", ["BLPOP list 0.01", "BZPOPMIN list 0.01", "XREAD BLOCK 10 STREAMS list 0-0"]
)
@on_each_loop
async def test_that_a_key_is_still_empty_when_time_is_up_waits_as_a_read_does(wait: str) -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        other, reader = await Peer.connect(server), await Peer.connect(server, "CLIENT ACKS 1")
        await other.ask("RPUSH list x")
        await acked(server, replica)
        await other.ask("DEL list")
        reader.send(wait)
        await until_held(server)
        assert reader.has_nothing()
        replica.ack(offset_of(server))
        assert await reader.read() is None


@on_each_loop
async def test_what_was_there_before_anybody_asked_counts_as_unconfirmed() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        other = await Peer.connect(server)
        await other.ask("SET k 1")
        reader = await Peer.connect(server, "CLIENT ACKS 1")
        reader.send("GET k")
        await until_held(server)
        replica.ack(offset_of(server))
        assert await reader.read() == b"1"


@on_each_loop
async def test_transactions_scripts_deliveries_and_wakes_wait_as_writes_do() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        other = await Peer.connect(server)
        await other.ask("XADD s 1-1 f v")
        await other.ask("XGROUP CREATE s g 0")
        blocked = await Peer.connect(server, "CLIENT ACKS 1")
        blocked.send("BLPOP list 0")
        await server.until(lambda: server.waiting == 1)
        peers = []
        for lines in (
            ("MULTI", "SET t 1", "EXEC"),
            ("EVAL \"return redis.call('INCR', 'n')\" 0",),
            ("XREADGROUP GROUP g c STREAMS s >",),
        ):
            peer = await Peer.connect(server, "CLIENT ACKS 1")
            peer.send(*lines)
            peers.append(peer)
        await other.ask("LPUSH list x")
        await until_held(server, 4)
        assert blocked.has_nothing()
        replica.ack(offset_of(server))
        assert await blocked.read() == [b"list", b"x"]
        assert await peers[0].read_all(3) == [b"OK", b"QUEUED", [b"OK"]]
        assert await peers[1].read() == 1
        assert await peers[2].read() == [[b"s", [[b"1-1", [b"f", b"v"]]]]]


@on_each_loop
async def test_a_client_that_sends_no_more_is_answered_and_closed() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer, quits = [await Peer.connect(server, "CLIENT ACKS 1") for _ in range(2)]
        writer.send("SET k 1")
        writer.writer.write_eof()
        quits.send("SET q 1", "QUIT")
        await until_held(server, 2)
        replica.ack(offset_of(server))
        assert await writer.read() == b"OK"
        assert await quits.read_all(2) == [b"OK", b"OK"]
        for peer in (writer, quits):
            with pytest.raises(EOFError):
                await peer.read()
        assert not server.server.state.replication.confirmations.is_used


@on_each_loop
async def test_a_client_that_goes_leaves_nothing_behind() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1 TIMEOUT 300")
        writer.send("SET k 1")
        await until_held(server)
        writer.writer.transport.abort()
        confirmations = server.server.state.replication.confirmations
        await server.until(lambda: not confirmations.is_used)
        assert confirmations.held_clients == 0
        assert len(confirmations.keys) == 0


@on_each_loop
async def test_off_lets_go_of_what_is_held_in_its_order() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("SET k 1", "CLIENT ACKS OFF", "SET k 2")
        await until_held(server)
        writer.send("GET k")
        replica.ack(offset_of(server))
        assert await writer.read_all(4) == [b"OK", b"OK", b"OK", b"2"]
        assert await writer.ask("SET k 3") == b"OK"  # nobody has to say anything
        assert not server.server.state.replication.confirmations.is_used


@on_each_loop
async def test_a_primary_that_becomes_a_replica_has_not_confirmed_what_it_holds() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("SET k 1", "PING")
        await until_held(server)
        other = await Peer.connect(server)
        await other.ask("REPLICAOF 127.0.0.1 1")
        error = "-NOTCONFIRMED Executed here, but not confirmed before this server has changed its"
        error += " role."
        assert await writer.read_all(2) == [error, b"PONG"]
        assert (await writer.ask("GET k")).startswith("-NOQUORUM A replica confirms nothing")
        assert await writer.ask("CLIENT ACKS OFF") == b"OK"
        assert await writer.ask("GET k") == b"1"


@on_each_loop
async def test_what_is_held_counts_as_output() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        other = await Peer.connect(
            server, "CONFIG SET client-output-buffer-limit 'normal 20000 0 0'"
        )
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("SETRANGE big 5000 x")
        await until_held(server)
        line = next(s for s in (await other.ask("CLIENT LIST")).splitlines() if b"acks=" in s)
        assert b" acks=1,5000" in line
        fields = dict(word.split(b"=", 1) for word in line.split())
        assert int(fields[b"omem"]) > 300
        assert int(fields[b"oll"]) == 1
        for _ in range(5):
            writer.send("GET big")
        with pytest.raises((EOFError, ConnectionError)):
            await writer.read()


@on_each_loop
async def test_replies_that_are_switched_off_hold_nothing() -> None:
    async with running() as server:
        await HandReplica.follow(server)
        writer = await Peer.connect(server, "CLIENT ACKS 1")
        writer.send("CLIENT REPLY OFF", "SET k 1", "CLIENT REPLY ON", "PING")
        assert await writer.read_all(2) == [b"OK", b"PONG"]


@on_each_loop
async def test_the_parameter_holds_for_those_who_connect_later_and_reset_brings_it_back() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        before = await Peer.connect(server, "CONFIG SET client-acks '1 timeout 20'")
        assert await before.ask("SET k 1") == b"OK"
        after = await Peer.connect(server)
        assert await after.ask("SET k 2") == late(20)
        assert await after.ask("CLIENT ACKS OFF") == b"OK"
        assert await after.ask("SET k 3") == b"OK"
        assert await after.ask("RESET") == b"RESET"
        assert await after.ask("SET k 4") == late(20)
        replica.ack(offset_of(server))
        assert await before.ask("CONFIG GET client-acks") == [b"client-acks", b"1 timeout 20"]


GET_ACK = b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"


@on_each_loop
async def test_what_a_replica_told_before_it_was_asked_renews_no_lease() -> None:
    """It may have been on its way since before a cut, and the replica may be a primary by now."""
    async with running(replica_quorum_lease=60_000) as server:
        told = (await (await Peer.connect(server)).ask("CLIENT OFFSET"))[1]
        replica = await HandReplica.follow(server)
        confirmations = server.server.state.replication.confirmations
        [seen] = server.server.state.replication.replicas.all
        told += len(await replica.reader.readuntil(GET_ACK))
        between_ms = confirmations.lease_now_ms()
        question = await replica.reader.readuntil(GET_ACK)
        replica.ack(told)
        await server.until(lambda: seen.acked == told)
        assert seen.heard_ms <= between_ms
        while seen.heard_ms <= between_ms:  # that question, too, came before, if all was held up
            replica.ack(told + len(question) - len(GET_ACK))  # as Redis answers
            told += len(question)
            question = await replica.reader.readuntil(GET_ACK)


@on_each_loop
async def test_a_read_after_the_lease_waits_for_an_answer_to_a_question_after_it() -> None:
    """Between two ticks it may be over, and reads are not refused yet."""
    async with running(replica_quorum_lease=60_000) as server:
        replica = await HandReplica.follow(server)
        state = server.server.state
        confirmations = state.replication.confirmations
        [seen] = state.replication.replicas.all
        reader = await Peer.connect(server, "CLIENT ACKS 1")

        before = 0

        def is_renewed() -> bool:
            nonlocal before
            if before != offset_of(server):
                before = offset_of(server)
                replica.ack(before)
            return state.restrictions.confirms_nothing is None and seen.acked == before

        while not confirmations.held_clients:  # a tick may come between: once more
            await server.until(is_renewed)
            seen.heard_ms = 0
            reader.send("GET k")
            await server.until(lambda: bool(confirmations.held_clients) or not reader.has_nothing())
            if not confirmations.held_clients:
                await reader.read()
        replica.ack(before)
        await server.until(lambda: seen.heard_ms > 0)
        assert confirmations.held_clients
        replica.ack(offset_of(server))
        assert await reader.read() is None


@on_each_loop
async def test_a_machine_that_was_suspended_has_no_lease_when_it_wakes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its monotonic clock stood still meanwhile."""
    if not HAS_BOOT_TIME:
        pytest.skip("no clock here runs on while the machine is suspended")
    async with running(replica_quorum_lease=60_000) as server:
        replica = await HandReplica.follow(server)
        confirmations = server.server.state.replication.confirmations

        def has_answered() -> bool:
            replica.ack(offset_of(server))
            return confirmations.has_lease

        await server.until(has_answered)
        awake_ns = time.clock_gettime_ns
        monkeypatch.setattr(time, "clock_gettime_ns", lambda clock: awake_ns(clock) + 70 * 10**9)
        assert not confirmations.has_lease
        await server.until(has_answered)


@on_each_loop
async def test_without_a_lease_an_answer_that_was_late_confirms_nothing_to_a_quorum() -> None:
    """It may have been sent before another replica was promoted, and nobody waits for that now."""
    async with running(replica_quorum_lease=60_000) as server:
        replica = await HandReplica.follow(server)
        confirmations = server.server.state.replication.confirmations
        [seen] = server.server.state.replication.replicas.all

        def is_renewed() -> bool:
            replica.ack(offset_of(server))
            return confirmations.has_lease

        await server.until(is_renewed)
        seen.counts_from_ms = 0
        writer = await Peer.connect(server, "CLIENT ACKS QUORUM")
        await server.until(lambda: server.server.state.restrictions.confirms_nothing is None)
        writer.send("SET k 1")
        await until_held(server)
        written = offset_of(server)
        confirmations.quorum._asks.clear()
        seen.heard_ms = 0
        replica.ack(written)
        await server.until(lambda: seen.acked == written)
        assert confirmations.held_clients
        await server.until(is_renewed)
        assert await writer.read() == b"OK"


@on_each_loop
async def test_messages_stay_behind_the_replies_they_came_after() -> None:
    async with running() as server:
        replica = await HandReplica.follow(server)
        writer = await Peer.connect(server)
        await writer.ask("HELLO 3")
        assert await writer.ask("CLIENT ACKS 1") == b"OK"
        await writer.ask("SUBSCRIBE news")
        writer.send("SET k 1")
        await until_held(server)
        assert await (await Peer.connect(server)).ask("PUBLISH news x") == 1
        replica.ack(offset_of(server))
        assert await writer.read() == b"OK"
        assert await writer.read() == [b"message", b"news", b"x"]


@on_each_loop
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("0", "a number of replicas must be between 1 and 1000"),
        ("1001", "a number of replicas must be between 1 and 1000"),
        ("1 TIMEOUT 0", "a time in ms must be between 1 and 2147483647"),
        ("1 FSYNC FSYNC", "after the number there may be FSYNC, and TIMEOUT with ms"),
        ("1 TIMEOUT", "after the number there may be FSYNC, and TIMEOUT with ms"),
        ("OFF FSYNC", "a number of replicas must be between 1 and 1000"),
    ],
)
async def test_wrong_words_are_refused(words: str, error: str) -> None:
    async with running() as server:
        assert await (await Peer.connect(server)).ask(f"CLIENT ACKS {words}") == f"-ERR {error}"
