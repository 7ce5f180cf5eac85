"""appendfsync always on a disk that fails: no client sees data that is not synced."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from server.parts.persistence.files import Files
from tests.server.running import Running, ask, on_each_loop, running

MISCONF = b"-MISCONF Errors writing to the AOF file: "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def strict() -> dict[str, object]:
    return {"appendonly": True, "appendfsync": "always"}


def break_disk(monkeypatch: pytest.MonkeyPatch, step: str = "sync") -> None:
    """Let *step* fail for every file from now on."""

    def fail(*_args: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Files, step, fail)


@pytest.mark.parametrize(
    ("wait", "write"),
    [(b"XREAD BLOCK 0 STREAMS s $\r\n", b"XADD s 1-1 a b\r\n"),
     (b"BLPOP l 0\r\n", b"RPUSH l x\r\n")],
)  # fmt: skip
@on_each_loop
async def test_a_blocked_client_is_not_served_data_that_the_disk_refused(
    monkeypatch: pytest.MonkeyPatch, wait: bytes, write: bytes
) -> None:
    async with running(**strict()) as instance:
        waiter, writer = await instance.connect(), await instance.connect()
        waiter[1].write(wait)
        await instance.until(lambda: instance.waiting == 1)
        break_disk(monkeypatch)
        writer[1].write(write)
        for streams in (writer, waiter):
            answer = await streams[0].read()
            assert answer.startswith(MISCONF)
            assert b"not promised" in answer


@on_each_loop
async def test_a_subscriber_does_not_hear_of_a_change_that_the_disk_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(**strict()) as instance:
        listener, writer = await instance.connect(), await instance.connect()
        await ask(writer, b"CONFIG SET notify-keyspace-events E$\r\n", 5)
        listener[1].write(b"SUBSCRIBE __keyevent@0__:set\r\n")
        await listener[0].readuntil(b":1\r\n")
        break_disk(monkeypatch)
        writer[1].write(b"SET k v\r\n")
        for streams in (writer, listener):
            assert (await streams[0].read()).startswith(MISCONF)


@pytest.mark.parametrize("step", ["write", "sync"])
@on_each_loop
async def test_a_read_in_the_same_turn_does_not_see_a_write_that_the_disk_refused(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    async with running(**strict()) as instance:
        writer, reader = await instance.connect(), await instance.connect()
        break_disk(monkeypatch, step)
        writer[1].write(b"SET a secret\r\n")
        reader[1].write(b"GET a\r\n")
        for streams in (writer, reader):
            assert (await streams[0].read()).startswith(MISCONF)


@on_each_loop
async def test_a_long_pipeline_does_not_show_a_write_that_the_disk_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(**strict()) as instance:
        reader, writer = await instance.connect(), await instance.connect()
        await ask(writer, b"SET big %b\r\n" % (b"x" * 50_000), 5)
        break_disk(monkeypatch)
        reader[1].write(b"GET b\r\n")
        writer[1].write(b"SET b secret\r\n" + b"GET big\r\nGET b\r\n" * 20)
        for streams in (writer, reader):
            answer = await streams[0].read()
            assert b"secret" not in answer
            assert MISCONF in answer


@pytest.mark.parametrize("step", ["write", "sync"])
@on_each_loop
async def test_until_all_is_synced_reads_are_refused_but_info_and_config_get_work(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    async with running(**strict()) as instance:
        writer = await instance.connect()
        with monkeypatch.context() as broken:
            break_disk(broken, step)
            writer[1].write(b"SET a secret\r\n")
            await writer[0].read()
            client = await instance.connect()
            for line in (b"GET a", b"XREAD STREAMS a 0", b"DBSIZE", b"SET b 1", b"PING"):
                client[1].write(line + b"\r\n")
                assert (await client[0].readline()).startswith(MISCONF)
            client[1].write(b"MULTI\r\nGET a\r\nEXEC\r\n")
            assert await client[0].readline() == b"+OK\r\n"
            assert (await client[0].readline()).startswith(MISCONF)
            assert (await client[0].readline()).startswith(b"-EXECABORT")
            client[1].write(b"INFO persistence\r\nCONFIG GET appendfsync\r\n")
            info = await client[0].readuntil(b"always\r\n")
            assert b"aof_last_write_status:err" in info
        await served_again(instance)
        assert await ask(client, b"GET a\r\n", 12) == b"$6\r\nsecret\r\n"


async def served_again(instance: Running) -> None:
    """Wait until cron finds that the disk works again."""
    await instance.until(lambda: not instance.server.state.restrictions.refuses_reads)


@on_each_loop
async def test_setting_appendfsync_everysec_allows_reads_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(**strict()) as instance:
        writer = await instance.connect()
        break_disk(monkeypatch)
        writer[1].write(b"SET a secret\r\n")
        await writer[0].read()
        client = await instance.connect()
        request = b"CONFIG SET appendfsync everysec\r\nGET a\r\n"
        assert await ask(client, request, 17) == b"+OK\r\n$6\r\nsecret\r\n"


@on_each_loop
async def test_a_client_with_replies_off_is_disconnected_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(**strict()) as instance:
        writer = await instance.connect()
        writer[1].write(b"CLIENT REPLY OFF\r\n")
        await instance.until(
            lambda: any(c.is_muted for c in instance.server.state.clients.values())
        )
        break_disk(monkeypatch)
        writer[1].write(b"SET a 1\r\n")
        assert await writer[0].read() == b""


@on_each_loop
async def test_a_write_by_a_client_with_replies_off_is_on_the_disk_when_its_turn_ends() -> None:
    """Once, it waited for somebody's answer, or for cron's next tick."""
    async with running(**strict(), hz=1) as instance:
        writer = await instance.connect()
        writer[1].write(b"CLIENT REPLY OFF\r\nSET a 1\r\n")
        durability = instance.server.state.propagation.durability
        assert durability is not None
        await instance.until(lambda: instance.server.state.stats.commands == 2)
        await asyncio.sleep(0)
        assert durability.synced_offset == durability.offset
