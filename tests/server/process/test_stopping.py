"""Shutdown: what was acknowledged is safe, and nothing else is acknowledged."""

from __future__ import annotations

import logging
import signal
from contextlib import suppress

import pytest

from server.lifecycle.life import Phase
from server.parts.persistence.files import Files
from tests.server.running import Running, ask, logged, on_each_loop, running, snapshot

pytestmark = pytest.mark.usefixtures("folder")


def with_log(policy: str = "always") -> dict[str, object]:
    return {"appendonly": True, "appendfsync": policy}


async def ended(instance: Running) -> None:
    """Wait until the server has been told to stop, and stop it."""
    await instance.server.stopped.wait()
    await instance.server.stop()


@pytest.mark.parametrize("policy", ["always", "everysec"])
@on_each_loop
async def test_commands_after_shutdown_in_the_same_turn_are_neither_run_nor_answered(
    policy: str,
) -> None:
    """Once, they were answered although the AOF was closed already."""
    async with running(**with_log(policy)) as instance:
        stopper, other = await instance.connect(), await instance.connect()
        await ask(other, b"SET a 1\r\n", 5)
        stopper[1].write(b"SHUTDOWN\r\n")
        other[1].write(b"SET b 1\r\n")
        with suppress(ConnectionResetError):  # what it has sent may not have been read
            assert await other[0].read() == b""
        await ended(instance)
        assert b"\r\na\r\n" in logged()
        assert b"\r\nb\r\n" not in logged()


@on_each_loop
async def test_commands_before_shutdown_in_the_same_turn_are_safe_and_answered() -> None:
    async with running(**with_log()) as instance:
        other, stopper = await instance.connect(), await instance.connect()
        other[1].write(b"SET b 1\r\n")
        stopper[1].write(b"SET a 1\r\nSHUTDOWN\r\nSET c 1\r\n")
        assert await stopper[0].read() == b"+OK\r\n"
        assert await other[0].readexactly(5) == b"+OK\r\n"
        await ended(instance)
        log = logged()
        assert b"\r\na\r\n" in log
        assert b"\r\nb\r\n" in log
        assert b"\r\nc\r\n" not in log


@on_each_loop
async def test_shutdown_without_a_log_saves_what_was_answered() -> None:
    async with running(save=[(3600, 1000)]) as instance:
        stopper, other = await instance.connect(), await instance.connect()
        await ask(other, b"SET first 1\r\n", 5)
        stopper[1].write(b"SHUTDOWN\r\n")
        other[1].write(b"SET second 1\r\n")
        with suppress(ConnectionResetError):  # what it has sent may not have been read
            assert await other[0].read() == b""
        await ended(instance)
        assert b"first" in snapshot()
        assert b"second" not in snapshot()


@on_each_loop
async def test_blocked_clients_are_disconnected_and_not_served() -> None:
    async with running(**with_log()) as instance:
        waiter, stopper = await instance.connect(), await instance.connect()
        waiter[1].write(b"BLPOP l 0\r\n")
        await instance.until(lambda: instance.waiting == 1)
        stopper[1].write(b"SHUTDOWN\r\nRPUSH l x\r\n")
        assert await stopper[0].read() == b""
        await ended(instance)
        assert await waiter[0].read() == b""
        assert b"RPUSH" not in logged()


@on_each_loop
async def test_a_signal_between_two_turns_loses_nothing() -> None:
    async with running(**with_log("everysec")) as instance:
        client = await instance.connect()
        await ask(client, b"SET a 1\r\n", 5)
        client[1].write(b"SET b 1\r\n")
        instance.server.stopping.by_signal(signal.SIGTERM, "")
        await ended(instance)
        with suppress(ConnectionResetError):
            assert await client[0].read() == b""
        assert b"\r\na\r\n" in logged()
        assert b"\r\nb\r\n" not in logged()


@on_each_loop
async def test_shutdown_is_logged_in_the_words_of_redis(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "penstock")
    async with running(save=[(3600, 1)], **with_log()) as instance:
        instance.server.stopping.by_signal(signal.SIGTERM, "")
        await ended(instance)
    said = [record.getMessage() for record in caplog.records]
    for words in (
        "Received SIGTERM scheduling shutdown...",
        "User requested shutdown...",
        "Saving the final RDB snapshot before exiting.",
        "DB saved on disk",
        "Calling fsync() on the AOF file.",
    ):
        assert words in said


# ---------------------------------------------------------------------- shutdowns that fail


def disk_fails(*_args: object) -> None:
    raise OSError(28, "No space left on device")


@on_each_loop
async def test_a_server_that_cannot_save_answers_an_error_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(save=[(3600, 1)], **with_log()) as instance:
        stopper, other = await instance.connect(), await instance.connect()
        with monkeypatch.context() as broken:
            broken.setattr(Files, "rename", disk_fails)
            stopper[1].write(b"SHUTDOWN\r\nSET a 1\r\n")
            error = b"-ERR Errors trying to SHUTDOWN. Check logs.\r\n+OK\r\n"
            assert await stopper[0].readexactly(len(error)) == error
        assert await ask(other, b"SET b 1\r\n", 5) == b"+OK\r\n"
        assert b"\r\nb\r\n" in logged()
        stopper[1].write(b"SHUTDOWN\r\n")
        assert await stopper[0].read() == b""
        await ended(instance)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@on_each_loop
async def test_a_second_signal_does_not_discard_data_that_could_not_be_saved(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    async with running(save=[(3600, 1)]) as instance:
        client = await instance.connect()
        await ask(client, b"SET a 1\r\n", 5)
        with monkeypatch.context() as broken:
            broken.setattr(Files, "rename", disk_fails)
            for _ in range(2):
                instance.server.stopping.by_signal(number, "")
                assert not instance.server.stopped.is_set()
        assert await ask(client, b"GET a\r\n", 7) == b"$1\r\n1\r\n"
        instance.server.stopping.by_signal(number, "")
        await ended(instance)
        assert snapshot()


@on_each_loop
async def test_a_server_without_memory_for_the_last_save_does_not_exit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_memory(*_args: object) -> None:
        raise MemoryError

    async with running(save=[(3600, 1)]) as instance:
        with monkeypatch.context() as broken:
            broken.setattr(Files, "create", no_memory)
            instance.server.stopping.by_signal(signal.SIGTERM, "")
            assert not instance.server.stopped.is_set()
        assert instance.server.exit_status == 0


@on_each_loop
async def test_shutdown_force_exits_but_acknowledges_nothing_that_is_not_safe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(**with_log()) as instance:
        client = await instance.connect()
        monkeypatch.setattr(Files, "write", disk_fails)
        client[1].write(b"SET a 1\r\nSHUTDOWN FORCE\r\n")
        assert (await client[0].read()).startswith(b"-MISCONF ")
        await ended(instance)


@on_each_loop
async def test_a_server_that_is_still_loading_exits_and_saves_nothing() -> None:
    async with running(save=[(3600, 1)]) as instance:
        instance.server._life.enter(Phase.LOADING)
        instance.server.stopping.by_signal(signal.SIGTERM, "")
        assert instance.server.stopped.is_set()
        assert not snapshot()
