"""Connections over real sockets on loopback, on uvloop and on plain asyncio."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from server.config.parameter import OutputLimit
from server.network.connection import Connection
from server.parts.propagation.propagation import Durability
from tests.server.running import Running, ask, on_each_loop, running


@on_each_loop
async def test_pipelined_commands_are_answered_in_order() -> None:
    async with running() as instance:
        streams = await instance.connect()
        request = b"PING\r\nSET k v\r\nGET k\r\nECHO hi\r\n"
        answer = b"+PONG\r\n+OK\r\n$1\r\nv\r\n$2\r\nhi\r\n"
        assert await ask(streams, request, len(answer)) == answer


@on_each_loop
async def test_a_command_may_come_byte_by_byte() -> None:
    async with running() as instance:
        reader, writer = await instance.connect()
        for byte in b"*2\r\n$4\r\nECHO\r\n$5\r\nhe\r\no\r\n":
            writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert await reader.readexactly(11) == b"$5\r\nhe\r\no\r\n"


@on_each_loop
async def test_commands_pipelined_after_a_blocking_one_run_when_it_has_ended() -> None:
    async with running() as instance:
        waiting, other = await instance.connect(), await instance.connect()
        waiting[1].write(b"BLPOP l 0\r\nECHO later\r\n")
        await instance.until(lambda: instance.waiting == 1)
        assert await ask(other, b"RPUSH l a\r\n", 4) == b":1\r\n"
        expected = b"*2\r\n$1\r\nl\r\n$1\r\na\r\n$5\r\nlater\r\n"
        assert await waiting[0].readexactly(len(expected)) == expected


@on_each_loop
async def test_who_was_woken_holds_no_request_any_more() -> None:
    """Once, what had been taken was kept until the client sent something again."""
    async with running() as instance:
        waiting, other = await instance.connect(), await instance.connect()
        waiting[1].write(b"BLPOP %b l 0\r\n" % (b"k" * 50_000))
        await instance.until(lambda: instance.waiting == 1)
        assert await ask(other, b"RPUSH l a\r\n", 4) == b":1\r\n"
        await waiting[0].readexactly(len(b"*2\r\n$1\r\nl\r\n$1\r\na\r\n"))
        clients = instance.server.state.clients.values()
        assert max(client.endpoint.buffers().requests for client in clients) < 100


@on_each_loop
async def test_a_script_that_was_left_is_not_run_again_when_its_client_takes_more() -> None:
    """The socket was full of earlier replies when the script was suspended, and has room now."""
    async with running(busy_reply_threshold=1) as instance:
        streams, state = await instance.connect(), instance.server.state
        script = b"for i = 1, 20000000 do end return redis.call('INCR', 'n')"
        streams[1].write(b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n" % (len(script), script))
        streams[1].write(b"$1\r\n0\r\nPING\r\n")
        await instance.until(lambda: state.restrictions.busy is not None)
        (client,) = state.clients.values()
        client.endpoint.resume()
        assert await streams[0].readexactly(11) == b":1\r\n+PONG\r\n"


@on_each_loop
async def test_a_blocked_client_times_out() -> None:
    async with running() as instance:
        assert await ask(await instance.connect(), b"BLPOP l 0.02\r\n", 5) == b"*-1\r\n"
        assert instance.waiting == 0


@on_each_loop
async def test_a_shorter_timeout_that_began_later_ends_first() -> None:
    async with running() as instance:
        long, short = await instance.connect(), await instance.connect()
        long[1].write(b"BLPOP l 60\r\n")
        await instance.until(lambda: instance.waiting == 1)
        assert await ask(short, b"BLPOP l 0.02\r\n", 5) == b"*-1\r\n"
        assert instance.waiting == 1


@on_each_loop
async def test_a_blocked_client_that_disconnects_leaves_nothing_behind() -> None:
    async with running() as instance:
        before = set(instance.server.state.clients)
        streams = await instance.connect()
        streams[1].write(b"BLPOP a b c 30\r\n")
        await instance.until(lambda: instance.waiting == 1)
        streams[1].close()
        await instance.until(lambda: instance.waiting == 0)
        assert instance.server.state.blocking.queues == {}
        await instance.until(lambda: set(instance.server.state.clients) == before)


@on_each_loop
async def test_a_closed_connection_is_freed_without_the_garbage_collector() -> None:
    """Connection and client refer to each other. Once, each disconnect left a kilobyte behind."""

    def connections() -> int:
        return sum(type(thing) is Connection for thing in gc.get_objects())

    gc.disable()
    try:
        async with running() as instance:
            gc.collect()
            before = connections()
            streams = await instance.connect()
            await ask(streams, b"PING\r\n", 7)
            assert connections() == before + 1
            streams[1].transport.abort()
            await instance.until(lambda: not instance.server.state.clients)
            for _ in range(5):
                await asyncio.sleep(0)
            assert connections() == before
    finally:
        gc.enable()


@on_each_loop
async def test_after_a_protocol_error_the_connection_is_closed() -> None:
    async with running() as instance:
        reader, writer = await instance.connect()
        writer.write(b"PING\r\n*1\r\n!\r\nPING\r\n")
        answer = await reader.read()
        assert answer == b"+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n"


@on_each_loop
async def test_a_client_that_ends_its_input_still_gets_its_replies() -> None:
    """As when commands are piped in from a shell."""
    async with running() as instance:
        reader, writer = await instance.connect()
        writer.write(b"SET k v\r\nGET k\r\n")
        writer.write_eof()
        assert await reader.read() == b"+OK\r\n$1\r\nv\r\n"


@on_each_loop
async def test_a_client_that_stopped_sending_is_listed_until_it_has_its_replies() -> None:
    """It held a socket and a long reply that no limit, no CLIENT KILL and no timeout could end."""
    async with running() as instance:
        waiting, other = await instance.connect(), await instance.connect()
        waiting[1].transport.pause_reading()  # type: ignore[attr-defined]
        waiting[1].write(b"BLPOP l 0\r\n")
        await instance.until(lambda: instance.waiting == 1)
        (client,) = (c for c in instance.server.state.clients.values() if c.waiter is not None)
        size = 20_000_000
        other[1].write(b"*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$%d\r\n" % size + bytes(size))
        await instance.until(lambda: instance.server.state.memory.clients > size)
        other[1].write(b"\r\n")
        waiting[1].write_eof()  # is read in the turn in which the element is handed over
        assert await other[0].readexactly(4) == b":1\r\n"
        assert (len(client.out) + client.endpoint.unsent()) > 1_000_000
        assert await ask(other, b"CLIENT KILL ID %d\r\n" % client.id, 4) == b":1\r\n"
        assert client.id not in instance.server.state.clients


@on_each_loop
async def test_quit_answers_and_closes() -> None:
    async with running() as instance:
        reader, writer = await instance.connect()
        writer.write(b"QUIT\r\nPING\r\n")
        assert await reader.read() == b"+OK\r\n"


@on_each_loop
async def test_a_client_may_write_all_its_requests_before_it_reads_a_reply() -> None:
    """As redis-py does with a pipeline. Both sides waited for ever once: for the other to read."""
    async with running() as instance:
        reader, writer = await instance.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        value, count = b"v" * 5000, 10_000
        writer.write(b"SET k %b\r\n" % value + b"GET k\r\n" * count + b"INCR done\r\n")
        (client,) = instance.server.state.clients.values()
        await instance.until(lambda: client.commands == count + 2)
        waiting = len(client.out) + client.endpoint.unsent()
        assert instance.server.state.memory.clients >= waiting > 30_000_000
        assert await ask(await instance.connect(), b"PING\r\n", 7) == b"+PONG\r\n"
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        expected = b"+OK\r\n" + b"$5000\r\n%b\r\n" % value * count + b":1\r\n"
        assert await reader.readexactly(len(expected)) == expected
        await instance.until(lambda: not (len(client.out) + client.endpoint.unsent()))


@on_each_loop
async def test_replies_that_wait_keep_their_order_with_transactions_waits_and_messages() -> None:
    async with running() as instance:
        (reader, writer), other = await instance.connect(), await instance.connect()
        await ask(other, b"SETRANGE big 9999999 x\r\n", len(b":10000000\r\n"))
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET big\r\nMULTI\r\nINCR n\r\nGET big\r\nEXEC\r\n")
        writer.write(b"BLPOP l 0\r\nECHO behind\r\n")
        await instance.until(lambda: instance.waiting == 1)
        assert await ask(other, b"RPUSH l a\r\n", 4) == b":1\r\n"
        writer.write(b"SUBSCRIBE c\r\n")
        await instance.until(lambda: instance.server.state.pubsub.clients == 1)
        assert await ask(other, b"PUBLISH c m\r\n", 4) == b":1\r\n"
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        big = b"$10000000\r\n%bx\r\n" % bytes(9_999_999)
        expected = big + b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n" + big
        expected += b"*2\r\n$1\r\nl\r\n$1\r\na\r\n$6\r\nbehind\r\n"
        expected += b"*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
        expected += b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n"
        assert await reader.readexactly(len(expected)) == expected


@on_each_loop
async def test_a_client_that_stops_sending_gets_all_that_waits_for_it() -> None:
    """Redis reads on to the end of a pipeline, too, and sends what the socket takes then."""
    async with running() as instance:
        reader, writer = await instance.connect()
        big = 3_000_000
        await ask((reader, writer), b"SETRANGE big %d x\r\n" % (big - 1), len(b":%d\r\n" % big))
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET big\r\n" * 10 + b"INCR done\r\n")
        writer.write_eof()
        (client,) = instance.server.state.clients.values()
        await instance.until(lambda: client.has_left)
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        answer = await reader.read()
        assert len(answer) == 10 * (big + len(b"$3000000\r\n\r\n")) + 4
        assert answer.endswith(b"x\r\n:1\r\n")
        await instance.until(lambda: not instance.server.state.clients)


@on_each_loop
async def test_cve_2025_21605_a_stranger_who_reads_nothing_is_disconnected() -> None:
    """One without a password sent commands without end, and -NOAUTH piled up in the server."""
    async with running(requirepass="secret") as instance:
        _, writer = await instance.connect()
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        (client,) = instance.server.state.clients.values()
        while client.id in instance.server.state.clients:
            if not writer.transport.get_write_buffer_size():
                writer.write(b"GET k\r\n" * 20_000)
            await asyncio.sleep(0)
            assert (len(client.out) + client.endpoint.unsent()) < 1 << 20
        assert instance.server.state.stats.output_limit_disconnections == 1
        assert instance.server.state.memory.clients == 0


@on_each_loop
async def test_a_client_over_its_hard_output_limit_is_disconnected() -> None:
    limits = {"normal": OutputLimit(1 << 21, 0, 0)}
    async with running(client_output_buffer_limit=limits) as instance:
        streams = await instance.connect()
        size = 1 << 24
        await ask(streams, b"SETRANGE big %d x\r\n" % (size - 1), len(b":%d\r\n" % size))
        streams[1].transport.pause_reading()  # type: ignore[attr-defined]
        streams[1].write(b"GET big\r\n")
        await instance.until(lambda: not instance.server.state.clients)
        assert instance.server.state.stats.output_limit_disconnections == 1


@pytest.mark.parametrize("limit", [OutputLimit(1 << 23, 0, 0), OutputLimit(0, 1 << 23, 0)])
@on_each_loop
async def test_a_pipeline_whose_replies_are_not_read_ends_at_the_output_limit(
    limit: OutputLimit,
) -> None:
    """A hard limit: within what one read has brought, and before cron ticks."""
    limits = {"normal": limit}
    async with running(client_output_buffer_limit=limits) as instance:
        streams, state = await instance.connect(), instance.server.state
        size = 1 << 20
        await ask(streams, b"SETRANGE big %d x\r\n" % (size - 1), len(b":%d\r\n" % size))
        streams[1].transport.pause_reading()  # type: ignore[attr-defined]
        (client,) = state.clients.values()
        state.config.switches.cron = bool(limit.soft)
        while client.id in state.clients:
            streams[1].write(b"GET big\r\n" * 1000)
            await asyncio.sleep(0.001)
        assert client.commands < 50 or limit.soft
        assert state.stats.output_limit_disconnections == 1
        assert state.memory.clients == 0


@on_each_loop
async def test_an_output_limit_that_is_lowered_holds_for_what_waits_already() -> None:
    async with running() as instance:
        reading, other = await instance.connect(), await instance.connect()
        size = 1 << 24
        await ask(other, b"SETRANGE big %d x\r\n" % (size - 1), len(b":%d\r\n" % size))
        reading[1].transport.pause_reading()  # type: ignore[attr-defined]
        reading[1].write(b"GET big\r\n")
        await instance.until(lambda: instance.server.state.memory.clients > 1 << 22)
        limit = b"CONFIG SET client-output-buffer-limit 'normal 1mb 0 0'\r\n"
        assert await ask(other, limit, 5) == b"+OK\r\n"
        await instance.until(lambda: len(instance.server.state.clients) == 1)
        assert await ask(other, b"PING\r\n", 7) == b"+PONG\r\n"


@on_each_loop
async def test_a_pipeline_whose_replies_are_not_read_ends_at_maxmemory_clients() -> None:
    """Within what one read has brought. Smaller clients stay."""
    async with running(maxmemory_clients=1 << 23) as instance:
        greedy, other = await instance.connect(), await instance.connect()
        state, size = instance.server.state, 1 << 20
        state.config.switches.cron = False
        await ask(other, b"SETRANGE big %d x\r\n" % (size - 1), len(b":%d\r\n" % size))
        greedy[1].transport.pause_reading()  # type: ignore[attr-defined]
        (client,) = (each for each in state.clients.values() if not each.commands)
        greedy[1].write(b"GET big\r\n" * 1000)
        await instance.until(lambda: state.client_eviction.evicted == 1)
        assert client.commands < 50
        assert await ask(other, b"PING\r\n", 7) == b"+PONG\r\n"
        assert state.memory.clients < 1 << 20


@on_each_loop
async def test_one_command_beyond_maxmemory_clients_ends_while_it_is_received() -> None:
    async with running(maxmemory_clients=1 << 20) as instance:
        sending, other = await instance.connect(), await instance.connect()
        state = instance.server.state
        await ask(other, b"PING\r\n", 7)
        state.config.switches.cron = False
        sending[1].write(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\n" + bytes(8 << 20))
        await instance.until(lambda: len(state.clients) == 1)
        assert state.client_eviction.evicted == 1
        assert await ask(other, b"EXISTS k\r\n", 4) == b":0\r\n"


@on_each_loop
async def test_replies_that_are_not_read_have_keys_evicted_at_maxmemory() -> None:
    async with running(maxmemory_policy="allkeys-random") as instance:
        greedy, other = await instance.connect(), await instance.connect()
        state, value = instance.server.state, b"v" * 60_000
        for n in range(100):
            await ask(other, b"SET %d %b\r\n" % (n, value), 5)
        gc.collect()  # what other tests have left would make more room meanwhile
        state.config.maxmemory = state.memory.used() + (1 << 20)
        state.follow_config()
        greedy[1].transport.pause_reading()  # type: ignore[attr-defined]
        greedy[1].write(b"ECHO %b\r\n" % value * 500)
        await instance.until(lambda: state.key_eviction.evicted > 90)
        assert await ask(other, b"PING\r\n", 7) == b"+PONG\r\n"


@on_each_loop
async def test_a_client_beyond_maxclients_gets_an_error() -> None:
    async with running(maxclients=1) as instance:
        first = await instance.connect()
        await ask(first, b"PING\r\n", 7)
        reader, _ = await instance.connect()
        assert await reader.read() == b"-ERR max number of clients reached\r\n"


@on_each_loop
async def test_an_idle_client_is_dropped_after_timeout_but_a_blocked_one_is_not() -> None:
    async with running(timeout=60) as instance:
        idle, blocked = await instance.connect(), await instance.connect()
        await ask(idle, b"PING\r\n", 7)
        blocked[1].write(b"BLPOP l 0\r\n")
        await instance.until(lambda: instance.waiting == 1)
        for client in instance.server.state.clients.values():
            client.last_used_ms -= 100_000
        assert await idle[0].read() == b""
        assert instance.waiting == 1


@on_each_loop
async def test_a_client_is_not_idle_that_was_just_served_after_a_long_wait() -> None:
    """Once, timeout counted from its request, so a worker lost its connection with its element."""
    async with running(timeout=60) as instance:
        waiting, pushing = await instance.connect(), await instance.connect()
        waiting[1].write(b"BLPOP l 0\r\n")
        await instance.until(lambda: instance.waiting == 1)
        for client in instance.server.state.clients.values():
            client.last_used_ms -= 100_000
        await ask(pushing, b"RPUSH l a\r\n", 4)
        assert await waiting[0].readexactly(18) == b"*2\r\n$1\r\nl\r\n$1\r\na\r\n"
        instance.server.clients.tick(0)
        assert await ask(waiting, b"PING\r\n", 7) == b"+PONG\r\n"


@on_each_loop
async def test_a_client_is_not_idle_that_client_pause_holds_back() -> None:
    """Once, timeout closed its connection, and its write was lost."""
    async with running(timeout=60) as instance:
        held, other = await instance.connect(), await instance.connect()
        await ask(other, b"CLIENT PAUSE 100000 WRITE\r\n", 5)
        held[1].write(b"SET a 1\r\n")
        await instance.until(lambda: instance.server.state.pausing.waiting == 1)
        for client in instance.server.state.clients.values():
            if client.postponed is not None:
                client.last_used_ms -= 100_000
        instance.server.clients.tick(0)
        await ask(other, b"CLIENT UNPAUSE\r\n", 5)
        assert await held[0].readexactly(5) == b"+OK\r\n"
        instance.server.clients.tick(0)
        assert await ask(held, b"PING\r\n", 7) == b"+PONG\r\n"


@on_each_loop
async def test_any_output_limit_can_be_set_and_new_clients_are_served() -> None:
    """Once, a limit beyond 63 bits locked out all new clients, and each try stayed in the list."""
    async with running() as instance:
        setting = await instance.connect()
        limit = b"CONFIG SET client-output-buffer-limit 'normal 9223372036854775808 0 0'\r\n"
        assert await ask(setting, limit, 5) == b"+OK\r\n"
        assert await ask(await instance.connect(), b"PING\r\n", 7) == b"+PONG\r\n"
        assert len(instance.server.state.clients) == 2


@on_each_loop
async def test_a_unix_socket_serves_too(tmp_path: Path) -> None:
    path = tmp_path / "penstock.sock"
    async with running(port=0, unixsocket=str(path), unixsocketperm=0o700):
        assert path.stat().st_mode & 0o777 == 0o700
        streams = await asyncio.open_unix_connection(str(path))
        assert await ask(streams, b"PING\r\n", 7) == b"+PONG\r\n"
        streams[1].close()


@on_each_loop
async def test_before_authentication_only_small_requests_are_read() -> None:
    async with running(requirepass="secret") as instance:
        reader, writer = await instance.connect()
        writer.write(b"PING\r\n*11\r\n")
        assert await reader.read() == (
            b"-NOAUTH Authentication required.\r\n"
            b"-ERR Protocol error: unauthenticated multibulk length\r\n"
        )
        streams = await instance.connect()
        assert await ask(streams, b"AUTH secret\r\n", 5) == b"+OK\r\n"
        answer = await ask(streams, b"*12\r\n$3\r\nDEL\r\n" + b"$1\r\nk\r\n" * 11, 4)
        assert answer == b":0\r\n"


@on_each_loop
async def test_an_unfinished_request_beyond_the_query_limit_ends_the_connection() -> None:
    async with running(client_query_buffer_limit=1 << 20) as instance:
        reader, writer = await instance.connect()
        writer.write(b"*2\r\n$4\r\nECHO\r\n$4000000\r\n" + b"x" * 3_000_000)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        assert instance.server.state.stats.query_limit_disconnections == 1


@on_each_loop
async def test_the_query_limit_holds_for_commands_queued_by_multi() -> None:
    async with running(client_query_buffer_limit=1 << 20) as instance:
        reader, writer = await instance.connect()
        writer.write(b"MULTI\r\n" + as_requests(b"SET k %b\r\n" % (b"v" * 30_000) * 100))
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1 << 20)
        assert instance.server.state.stats.query_limit_disconnections == 1
        await instance.until(lambda: not instance.server.state.clients)
        assert instance.server.state.memory.clients == 0


@pytest.mark.parametrize(
    "lines",
    [
        b"MGET big big big big\r\n",
        b"MULTI\r\nINCR done\r\nGET big\r\nGET big\r\nGET big\r\nGET big\r\nINCR done\r\nEXEC\r\n",
        b"XRANGE s - +\r\n",
        b"LRANGE l 0 -1\r\n",
        b"XREAD STREAMS s 0\r\n",
    ],
    ids=["values", "transaction", "entries", "elements", "read"],
)
@on_each_loop
async def test_a_reply_beyond_the_output_limit_is_dropped_while_it_grows(lines: bytes) -> None:
    """Its client is disconnected, other clients are not affected, and the changes stay."""
    limits = {"normal": OutputLimit(1 << 21, 0, 0)}
    async with running(client_output_buffer_limit=limits) as instance:
        other = await instance.connect()
        size = 1 << 20
        await ask(other, b"SETRANGE big %d x\r\n" % (size - 1), len(b":%d\r\n" % size))
        field = b"f" * 4000
        rows = b"".join(b"XADD s * f %b\r\nRPUSH l %b\r\n" % (field, field) for _ in range(900))
        assert (await all_replies(instance, rows)).count(b"\r\n:") == 900
        reader, writer = await instance.connect()
        writer.write(lines + b"INCR never\r\n")
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(size * 5)
        assert instance.server.state.stats.output_limit_disconnections == 1
        done = b":1\r\n" if b"EXEC" not in lines else b":3\r\n"
        assert await ask(other, b"INCR done\r\n", 4) == done
        assert await ask(other, b"EXISTS never\r\n", 4) == b":0\r\n"


@on_each_loop
async def test_a_new_output_limit_holds_for_connected_clients() -> None:
    async with running() as instance:
        streams = await instance.connect()
        await ask(streams, b"SETRANGE big 3000000 x\r\n", len(b":3000001\r\n"))
        request = b"CONFIG SET client-output-buffer-limit 'normal 1mb 0 0'\r\n"
        assert await ask(streams, request, 5) == b"+OK\r\n"
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await ask(streams, b"GET big\r\n", 3_000_000)


@on_each_loop
async def test_the_memory_of_a_disconnected_client_is_not_counted_any_more() -> None:
    """Once, its requests were counted again after it had gone, which added up under maxmemory."""
    async with running() as instance:
        reader, writer = await instance.connect()
        size = 8_000_000
        await ask((reader, writer), b"SETRANGE big %d x\r\n" % (size - 1), 10)
        limit = b"CONFIG SET client-output-buffer-limit 'normal 1mb 0 0'\r\n"
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"MULTI\r\nGET big\r\n" + limit + b"EXEC\r\n" + b"PING\r\n" * 5000)
        await instance.until(lambda: not instance.server.state.clients)
        assert instance.server.state.stats.output_limit_disconnections == 1
        assert instance.server.state.memory.clients == 0


@on_each_loop
async def test_the_buffers_and_the_queue_of_a_client_are_counted_while_they_exist() -> None:
    async with running() as instance:
        memory = instance.server.state.memory
        asking, sending = await instance.connect(), await instance.connect()
        big = 20_000_000
        await ask(sending, b"SETRANGE big %d x\r\n" % (big - 1), len(b":%d\r\n" % big))
        idle = memory.clients
        sending[1].write(b"*2\r\n$4\r\nECHO\r\n$2000000\r\n" + bytes(1_999_999))
        await instance.until(lambda: memory.clients - idle > 1_999_900)
        asking[1].transport.pause_reading()  # type: ignore[attr-defined]
        asking[1].write(b"GET big\r\n")
        await instance.until(lambda: memory.clients - idle > 10_000_000)
        asking[1].transport.resume_reading()  # type: ignore[attr-defined]
        assert len(await asking[0].readexactly(big + 13)) == big + 13
        assert len(await ask(sending, b"x\r\n", 2_000_012)) == 2_000_012
        await instance.until(lambda: memory.clients == idle)
        sending[1].write(as_requests(b"MULTI\r\nSET k %b\r\n" % bytes(100_000)))
        await instance.until(lambda: memory.clients - idle > 100_000)
        for _, writer in (asking, sending):
            writer.transport.abort()
        await instance.until(lambda: not instance.server.state.clients)
        assert memory.clients == 0


class FullDisk(Durability):
    """Takes the place of the append-only file. It takes commands, but can write none."""

    def __init__(self) -> None:
        super().__init__()
        self.error = "No space left on device"

    def add_all(self, ops: list[tuple[int, list[bytes]]]) -> None:
        self.offset += len(ops)

    def write(self) -> bool:
        return False


@on_each_loop
async def test_a_write_that_cannot_be_logged_is_never_acknowledged() -> None:
    async with running() as instance:
        instance.server.state.propagation.set_durability(FullDisk())
        reader, writer = await instance.connect()
        writer.write(b"PING\r\nSET a 1\r\nSET b 1\r\n")
        assert await reader.read() == (
            b"-MISCONF Errors writing to the AOF file: No space left on device. What was sent"
            b" with this may have been done or not: it is not promised to be kept\r\n"
        )


@on_each_loop
async def test_a_client_that_writes_nothing_is_answered_while_the_log_cannot_be_written() -> None:
    async with running() as instance:
        instance.server.state.propagation.set_durability(FullDisk())
        reader, writer = await instance.connect()
        writer.write(b"PING\r\n")
        assert await reader.readexactly(7) == b"+PONG\r\n"


# ---------------------------------------------------------------------- transactions

ROWS = b"".join(b"XADD s * a %d\r\n" % i for i in range(500))


def as_requests(lines: bytes) -> bytes:
    """Inline commands as RESP arrays."""
    words = [line.split() for line in lines.splitlines()]
    return b"".join(
        b"*%d\r\n" % len(each) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in each)
        for each in words
    )


async def all_replies(instance: Running, lines: bytes) -> bytes:
    """Send *lines* in one piece. Returns all replies, up to that of a final ECHO."""
    reader, writer = await instance.connect()
    writer.write(as_requests(lines + b"ECHO end\r\n"))
    return await reader.readuntil(b"$3\r\nend\r\n")


@on_each_loop
async def test_a_long_transaction_in_one_piece_is_queued_and_run_in_order() -> None:
    async with running() as instance:
        answers = await all_replies(instance, b"MULTI\r\n" + ROWS + b"XLEN s\r\nEXEC\r\n")
        assert answers.startswith(b"+OK\r\n" + b"+QUEUED\r\n" * 501 + b"*501\r\n$")
        assert answers.endswith(b"\r\n:500\r\n$3\r\nend\r\n")
        entries = await all_replies(instance, b"XRANGE s - +\r\n")
        values = [int(line) for line in entries.split(b"\r\n")[8::8]]
        assert values == list(range(500))
        stats = await all_replies(instance, b"INFO commandstats\r\n")
        assert b"cmdstat_xadd:calls=500," in stats


@on_each_loop
async def test_commands_that_are_whole_at_once_are_counted_as_a_batch() -> None:
    async with running() as instance:
        reader, writer = await instance.connect()
        for lines in (b"PING\r\n", b"PING\r\n" * 3, b"MULTI\r\n" + ROWS + b"EXEC\r\n"):
            writer.write(as_requests(lines + b"ECHO end\r\n"))
            await reader.readuntil(b"$3\r\nend\r\n")
        writer.write(as_requests(b"CLIENT INFO\r\n"))
        await reader.readuntil(b"\r\n")
        told = await reader.readuntil(b"\r\n")
        fields = dict(pair.partition(b"=")[::2] for pair in told.split())
        # The command that asks is in no batch yet: its batch is not over.
        assert int(fields[b"parse-batch-cmd-sum"]) == 2 + 4 + 503
        batches, reads = int(fields[b"parse-batch-cnt"]), int(fields[b"read-events"])
        assert 3 <= batches < reads <= batches + 3  # what is long may come in several pieces


@on_each_loop
async def test_an_error_amid_a_long_transaction_aborts_it() -> None:
    async with running() as instance:
        lines = b"MULTI\r\n" + ROWS + b"XADD s *\r\n" + ROWS + b"EXEC\r\nXLEN s\r\n"
        answers = await all_replies(instance, lines)
        assert answers.count(b"+QUEUED\r\n") == 1000
        assert b"-ERR wrong number of arguments for 'xadd' command\r\n" in answers
        assert b"\r\n-EXECABORT Transaction discarded" in answers
        assert answers.endswith(b"\r\n:0\r\n$3\r\nend\r\n")


@on_each_loop
async def test_a_client_with_replies_off_gets_no_reply_to_a_long_transaction() -> None:
    async with running() as instance:
        lines = b"CLIENT REPLY OFF\r\nMULTI\r\n" + ROWS + b"EXEC\r\nCLIENT REPLY ON\r\n"
        assert await all_replies(instance, lines) == b"+OK\r\n$3\r\nend\r\n"
        assert (await all_replies(instance, b"XLEN s\r\n")).startswith(b":500\r\n")


@on_each_loop
async def test_a_long_transaction_is_not_queued_over_maxmemory() -> None:
    async with running() as instance:
        instance.server.state.config.maxmemory = 1
        instance.server.state.follow_config()
        answers = await all_replies(instance, b"MULTI\r\n" + ROWS + b"EXEC\r\n")
        assert answers.count(b"-OOM ") == 500
        assert b"+QUEUED" not in answers
