"""DEBUG CLOCK over real sockets: after its reply nothing is left to do."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

import pytest

from server.client.client import Client
from server.client.endpoint import Endpoint
from server.lifecycle import time_travel
from server.observe.part import Part
from tests.server.running import Running, Streams, ask, logged, on_each_loop, running, snapshot

TEST = {"enable_debug_command": "yes"}
HOUR_MS = 3_600_000


async def travel(streams: Streams, move: bytes) -> tuple[int, int, int]:
    """The offset in ms, whether the clock stands still, and unix time in ms, after DEBUG CLOCK."""
    streams[1].write(b"DEBUG CLOCK " + move + b"\r\n")
    lines = [await streams[0].readline() for _ in range(10)]
    assert lines[0] == b"*6\r\n", lines[0]
    return int(lines[3][1:]), int(lines[6][1:]), int(lines[9][1:])


async def wait_in(instance: Running, command: bytes, waiting: int = 1) -> Streams:
    streams = await instance.connect()
    streams[1].write(command + b"\r\n")
    await instance.until(lambda: instance.waiting == waiting)
    return streams


@on_each_loop
async def test_a_wait_ends_by_a_jump_and_the_next_one_by_itself() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        waiter = await wait_in(instance, b"BLPOP k 3600")
        assert (await travel(tester, b"+1h"))[0] == HOUR_MS
        assert instance.waiting == 0
        assert await waiter[0].readexactly(5) == b"*-1\r\n"
        assert await ask(waiter, b"BLPOP k 0.01\r\n", 5) == b"*-1\r\n"


@on_each_loop
async def test_a_wait_that_ends_later_ends_as_much_earlier() -> None:
    """Its timer was set by the system's clock, which has not moved: it is set again."""
    async with running(**TEST) as instance:
        tester = await instance.connect()
        waiter = await wait_in(instance, b"BLPOP k 3600")
        await travel(tester, b"+3599980ms")
        assert await waiter[0].readexactly(5) == b"*-1\r\n"


@on_each_loop
async def test_a_frozen_wait_ends_when_time_goes_on() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        await travel(tester, b"FREEZE")
        waiter = await wait_in(instance, b"BLPOP k 0.02")
        assert instance.server.cron._wait_timer is None
        await travel(tester, b"+19ms")
        assert instance.waiting == 1
        await travel(tester, b"THAW")
        assert await waiter[0].readexactly(5) == b"*-1\r\n"


@on_each_loop
async def test_a_wait_that_was_begun_in_the_future_is_no_longer_for_that() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        await travel(tester, b"+1h")
        waiter = await wait_in(instance, b"BLPOP k 0.05")
        await travel(tester, b"RESET")
        assert await waiter[0].readexactly(5) == b"*-1\r\n"


@on_each_loop
async def test_commands_pipelined_behind_it_see_the_new_time_and_what_has_happened() -> None:
    async with running(**TEST) as instance:
        streams = await instance.connect()
        await ask(streams, b"SET a 1 EX 60\r\n", 5)
        streams[1].write(b"DEBUG CLOCK +1m\r\nDBSIZE\r\n")
        assert [await streams[0].readline() for _ in range(11)][-1] == b":0\r\n"


@on_each_loop
async def test_a_pause_of_all_can_be_left_by_travelling() -> None:
    async with running(**TEST) as instance:
        tester, guest = await instance.connect(), await instance.connect()
        await ask(tester, b"CLIENT PAUSE 3600000 ALL\r\n", 5)
        guest[1].write(b"SET a 1\r\n")
        await instance.until(lambda: instance.server.state.pausing.waiting == 1)
        await travel(tester, b"+1h")
        assert await guest[0].readexactly(5) == b"+OK\r\n"
        assert await ask(tester, b"DBSIZE\r\n", 4) == b":1\r\n"


@on_each_loop
async def test_idle_clients_are_closed_but_not_those_who_wait_or_who_travel() -> None:
    async with running(timeout=60, **TEST) as instance:
        idle, tester = await instance.connect(), await instance.connect()
        await ask(idle, b"PING\r\n", 7)
        waiter = await wait_in(instance, b"BLPOP k 61")
        patient = await wait_in(instance, b"BLPOP k 0", waiting=2)
        await travel(tester, b"+61s")
        assert len(instance.server.state.clients) == 3
        assert await idle[0].read() == b""
        assert await waiter[0].readexactly(5) == b"*-1\r\n"
        instance.server.cron.run()
        assert await ask(waiter, b"PING\r\n", 7) == b"+PONG\r\n"
        assert await ask(tester, b"LPUSH k v\r\n", 4) == b":1\r\n"
        assert await patient[0].readexactly(4) == b"*2\r\n"


@on_each_loop
async def test_clients_are_not_older_or_longer_idle_than_0_when_time_goes_back() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        await travel(tester, b"+1h")
        await instance.connect()
        await travel(tester, b"-1h")
        tester[1].write(b"CLIENT LIST\r\nPING\r\n")
        listed = await tester[0].readuntil(b"+PONG\r\n")
        assert listed.count(b" age=0 idle=0 ") == 2


@on_each_loop
async def test_the_log_has_what_has_expired_before_the_answer_leaves(folder: Path) -> None:
    async with running(appendonly=True, appendfsync="always", **TEST) as instance:
        tester = await instance.connect()
        await ask(tester, b"SET gone 1 EX 60\r\n", 5)
        await ask(tester, b"HSET h a 1 b 1\r\n", 4)
        await ask(tester, b"HEXPIRE h 60 FIELDS 1 b\r\n", 8)
        await travel(tester, b"+60s")
        assert b"*2\r\n$3\r\nDEL\r\n$4\r\ngone\r\n" in logged()
        assert b"*3\r\n$4\r\nHDEL\r\n$1\r\nh\r\n$1\r\nb\r\n" in logged()


@on_each_loop
async def test_times_of_travel_are_in_the_log_and_in_snapshots(folder: Path) -> None:
    async with running(appendonly=True, aof_timestamp_enabled=True, **TEST) as instance:
        tester = await instance.connect()
        now_ms = (await travel(tester, b"FREEZE"))[2] + HOUR_MS
        await travel(tester, b"+1h")
        await ask(tester, b"SET a 1 PX 5\r\n", 5)
        await ask(tester, b"SAVE\r\n", 5)
        assert b"PXAT\r\n$13\r\n%d\r\n" % (now_ms + 5) in logged()
        assert b"#TS:%d\r\n" % (now_ms // 1000) in logged()
        assert await ask(tester, b"LASTSAVE\r\n", 13) == b":%d\r\n" % (now_ms // 1000)
        dump = snapshot()
        assert b"\xfc" + struct.pack("<Q", now_ms + 5) in dump
        assert b"\x05ctime\xc2" + struct.pack("<I", now_ms // 1000) in dump


@on_each_loop
async def test_a_jump_reaches_no_save_point_and_keeps_the_fsync_of_each_second(
    folder: Path,
) -> None:
    async with running(save=[(3600, 1)], appendonly=True, **TEST) as instance:
        tester = await instance.connect()
        await ask(tester, b"SET a 1\r\n", 5)
        log = instance.server.state.persistence.append_only.log
        await travel(tester, b"+1d")
        instance.server.cron.run()
        assert instance.server.state.persistence.snapshots.saves == 0
        await travel(tester, b"-2d")
        await ask(tester, b"SET b 1\r\n", 5)
        await instance.until(lambda: log.synced_offset == log.offset)


class Ticks(Part):
    """Takes down what cron tells the parts of the server."""

    def __init__(self) -> None:
        self.seen_ms: list[int] = []

    def tick(self, now_ms: int) -> None:
        self.seen_ms.append(now_ms)


@on_each_loop
async def test_rates_and_limits_that_are_measured_at_ticks_do_not_travel() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        ticks = Ticks()
        instance.server.state.parts.append(ticks)
        for move in (b"+0ms", b"+1d", b"-2d", b"FREEZE"):
            await travel(tester, move)
            instance.server.cron.run()
        assert 0 <= ticks.seen_ms[-1] - ticks.seen_ms[0] < HOUR_MS
        assert ticks.seen_ms == sorted(ticks.seen_ms)


# ---------------------------------------------------------------------- much to do


class Crowd(Endpoint):
    """Stands for the sockets of many clients; takes down in which order their waits end."""

    def __init__(self, order: list[int], deadline_ms: int) -> None:
        super().__init__()
        self._order = order
        self._deadline_ms = deadline_ms

    def resume(self) -> None:
        self._order.append(self._deadline_ms)


@on_each_loop
async def test_ten_thousand_waits_end_by_one_jump_in_the_order_of_their_deadlines() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        await travel(tester, b"FREEZE")
        ended: list[int] = []
        for n in range(10_000):
            deadline_ms = n * 7919 % 10_000 + 1
            client = Client(1000 + n, 0)
            client.endpoint = Crowd(ended, deadline_ms)
            instance.server.state.access.connected(client)
            words = b"XREAD BLOCK %d STREAMS k $" % deadline_ms
            instance.server.dispatcher.execute(client, words.split())
        await travel(tester, b"+5s")
        assert ended == list(range(1, 5001))
        assert instance.waiting == 5000


@on_each_loop
async def test_others_are_served_while_many_keys_expire_and_the_answer_comes_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_travel, "SLICE_S", 0.0)
    async with running(**TEST) as instance:
        tester, other = await instance.connect(), await instance.connect()
        await ask(tester, b"DEBUG POPULATE 5000\r\n", 5)
        for n in range(5000):
            instance.server.state.databases[0].expire_at(b"key:%d" % n, 5)
        instance.server.config.switches.active_expire = False
        await travel(tester, b"+1s")
        assert len(instance.server.state.databases[0]) == 5000
        instance.server.config.switches.active_expire = True
        instance.server.config.switches.cron = False
        answer = asyncio.ensure_future(travel(tester, b"+1s"))
        await until_behind(instance)
        await ask(other, b"PING\r\n", 7)
        assert not answer.done()
        assert len(instance.server.state.databases[0]) > 0
        await answer
        assert len(instance.server.state.databases[0]) == 0


async def until_behind(instance: Running) -> None:
    """Let the loop turn, and look each time: the keys may have expired within a millisecond."""
    while not instance.server.dispatcher.is_behind:
        await asyncio.sleep(0)


@on_each_loop
async def test_jumps_of_two_clients_at_once_are_both_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second comes while keys still expire by the first: what it ends has ended too."""
    monkeypatch.setattr(time_travel, "SLICE_S", 0.0)
    async with running(**TEST) as instance:
        one, two = await instance.connect(), await instance.connect()
        await ask(one, b"DEBUG POPULATE 5000\r\n", 5)
        for n in range(5000):
            instance.server.state.databases[0].expire_at(b"key:%d" % n, 2**60)
        waiter = await wait_in(instance, b"BLPOP k 2")
        first = asyncio.ensure_future(travel(one, b"+1s"))
        await until_behind(instance)
        await travel(two, b"+1s")
        assert await waiter[0].readexactly(5) == b"*-1\r\n"
        assert (await first)[0] == 2000
        for _ in range(20):
            both = await asyncio.gather(travel(one, b"+1s"), travel(two, b"-1s"))
            assert {offset for offset, _, _ in both} <= {1000, 2000, 3000}


@on_each_loop
async def test_who_travels_may_leave_before_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_travel, "SLICE_S", 0.0)
    async with running(**TEST) as instance:
        one, two = await instance.connect(), await instance.connect()
        await ask(one, b"DEBUG POPULATE 2000\r\n", 5)
        for n in range(2000):
            instance.server.state.databases[0].expire_at(b"key:%d" % n, 5)
        one[1].write(b"DEBUG CLOCK +1s\r\n")
        await until_behind(instance)
        one[1].transport.abort()
        assert (await travel(two, b""))[0] == 1000
        assert len(instance.server.state.databases[0]) == 0


@on_each_loop
async def test_scheduled_entries_are_there_and_readers_have_them() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        tester[1].write(b"XADD s DELAY 3600000 * a b\r\nXADD s DELAY 9999999 * a b\r\n")
        assert [await tester[0].readline() for _ in range(4)][-1].endswith(b"-2\r\n")
        waiter = await wait_in(instance, b"XREAD BLOCK 3700000 STREAMS s $")
        early = await wait_in(instance, b"BLPOP k 3500", 2)
        await travel(tester, b"+1h")
        assert await ask(tester, b"XLEN s\r\n", 4) == b":1\r\n"
        assert await waiter[0].readexactly(4) == b"*1\r\n"
        assert await early[0].readexactly(5) == b"*-1\r\n"


@on_each_loop
async def test_a_scheduled_entry_comes_by_itself_to_the_millisecond() -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        tester[1].write(b"XADD s DELAY 7 * a b\r\nXREAD BLOCK 5000 STREAMS s 0\r\n")
        lines = [await tester[0].readline() for _ in range(10)]
        assert lines[1].split(b"-")[0] == lines[9].split(b"-")[0]


@on_each_loop
async def test_a_script_that_runs_long_has_its_time_and_nobody_else_travels() -> None:
    async with running(busy_reply_threshold=1, **TEST) as instance:
        runner, tester = await instance.connect(), await instance.connect()
        runner[1].write(b'EVAL "while true do end" 0\r\n')
        await instance.until(lambda: instance.server.state.restrictions.busy is not None)
        tester[1].write(b"DEBUG CLOCK FREEZE\r\n")
        assert (await tester[0].readline()).startswith(b"-BUSY")
        await ask(tester, b"SCRIPT KILL\r\n", 5)
        assert await runner[0].readline()
        assert (await travel(tester, b""))[1] == 0


@on_each_loop
async def test_a_background_save_goes_on_over_a_jump(folder: Path) -> None:
    async with running(**TEST) as instance:
        tester = await instance.connect()
        await ask(tester, b"SET a 1 EX 60\r\n", 5)
        await ask(tester, b"BGSAVE\r\n", 28)
        await travel(tester, b"+1h")
        snapshots = instance.server.state.persistence.snapshots
        await instance.until(lambda: not snapshots.in_progress)
        assert snapshots.last_ok
        assert b"ctime" in snapshot()
        assert await ask(tester, b"DBSIZE\r\n", 4) == b":0\r\n"


@on_each_loop
async def test_waits_without_a_key_end_too(folder: Path) -> None:
    async with running(appendonly=True, **TEST) as instance:
        tester = await instance.connect()
        waiter = await wait_in(instance, b"WAITAOF 0 1 5000")
        await travel(tester, b"+4s")
        assert instance.waiting == 1
        await travel(tester, b"+1s")
        assert await waiter[0].readline() == b"*2\r\n"
