"""Unexpected exceptions: whether each ends a command, a connection or the server. None hangs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from server.client.endpoint import Endpoint
from server.network.acceptor import Acceptor
from server.network.connection import ConnectionAcceptor
from server.observe.part import Part
from server.parts.persistence.files import Files
from server.process import memory_reserve
from server.process.faults import ServerFault
from server.table.command import Flags, new_block
from storage.lists.quicklist import QuickList
from tests.server.running import Running, ask, logged, on_each_loop, running, snapshot

pytestmark = pytest.mark.usefixtures("folder")

FAULTS = [MemoryError, ZeroDivisionError]


def raiser(fault: type[Exception]) -> Callable[..., None]:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise fault

    return fail


# ---------------------------------------------------------------------- in a command


@pytest.mark.parametrize(
    ("fault", "error"),
    [(MemoryError, "-OOM the system gives the server no more memory; nothing was changed."),
     (ZeroDivisionError, "-ERR internal error; the server's log has the details")],
)  # fmt: skip
def test_a_handler_that_fails_before_it_changes_anything_answers_an_error(
    server, declare, monkeypatch, fault, error
):
    monkeypatch.setattr(memory_reserve, "failures", lambda: 0)
    declare("broken", raiser(fault))
    assert server.send_line("broken") == error
    assert server.logged() == []
    assert server.send_line("SET a 1") == b"OK"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_handler_that_fails_amid_its_changes_ends_the_server(server, declare, fault):
    """Once, its client got an error, and the AOF got a change that had not been made."""

    def half(call):
        call.db.changed(b"key", b"set")
        raise fault

    declare("half", half)
    with pytest.raises(ServerFault):
        server.send_line("half")
    assert server.logged() == []


def test_such_a_command_of_a_script_ends_the_server_too(server, declare):
    """Once, the script continued, and the server as well."""

    def half(call):
        call.db.changed(b"key", b"set")
        raise ZeroDivisionError

    declare("half", half)
    with pytest.raises(ServerFault):
        server.send("EVAL", "pcall(redis.call, 'half') redis.call('SET', 'a', 1)", 0)
    assert not server.state.databases[0].table
    assert server.logged() == []


def test_a_write_without_memory_for_the_smallest_object_ends_the_server(
    server, declare, monkeypatch
):
    monkeypatch.setattr(memory_reserve, "failures", count(1).__next__)
    declare("poor", raiser(MemoryError))
    declare("poor.reader", raiser(MemoryError), flags=Flags.READONLY)
    assert server.send_line("poor.reader").startswith("-OOM")
    with pytest.raises(ServerFault):
        server.send_line("poor")


def test_a_memory_shortage_that_is_over_does_not_end_the_server(server, declare, monkeypatch):
    """Once, the next command that asked for too much memory ended the server."""
    monkeypatch.setattr(memory_reserve, "failures", lambda: 5)
    declare("poor", raiser(MemoryError))
    declare("poor.reader", raiser(MemoryError), flags=Flags.READONLY)
    assert server.send_line("poor.reader").startswith("-OOM")
    assert server.send_line("poor").startswith("-OOM")


def test_without_system_memory_only_commands_that_need_memory_are_refused(server):
    server.send_line("SET a 1")
    server.state.restrictions.set_short_of_memory(True)
    error = "-OOM the system gives the server no more memory; nothing was changed."
    assert server.send_line("SET a 2") == error
    assert server.send_line("GET a") == b"1"
    assert server.send_line("DEL a") == 1


def test_a_logged_command_that_cannot_be_replayed_ends_the_start(server, declare):
    """Once, it was skipped, and the next rewrite of the AOF made the loss permanent."""
    declare("broken", raiser(ZeroDivisionError))
    with pytest.raises(ServerFault):
        server.dispatcher.replaying.replay(server.client().client, [b"broken"])


def test_a_change_that_could_not_be_logged_is_logged_before_the_next_reply(server, monkeypatch):
    """Once, it was lost, and the AOF continued without it."""
    with monkeypatch.context() as broken:
        broken.setattr(server.log, "add_all", raiser(MemoryError))
        with pytest.raises(MemoryError):
            server.send_line("SET a 1")
        server.dispatcher.turn.send_later(server.owner.endpoint)
        with pytest.raises(ServerFault):
            server.dispatcher.turn.finish()
    server.send_line("SET b 1")
    assert server.logged() == [b"SET a 1", b"SET b 1"]


def test_a_repeated_fault_is_logged_once(server, declare, caplog):
    declare("broken", raiser(ZeroDivisionError))
    for _ in range(100):
        server.send_line("broken")
    assert [record.getMessage() for record in caplog.records] == ["bug in broken"]
    assert "Traceback" in caplog.text


# ---------------------------------------------------------------------- in a connection


class Unsendable:
    """A reply that no encoder can write."""


@on_each_loop
async def test_a_reply_that_cannot_be_encoded_ends_only_its_connection(declare) -> None:
    declare("odd", lambda _call: Unsendable())
    async with running() as instance:
        odd, other = await instance.connect(), await instance.connect()
        odd[1].write(b"odd\r\n")
        other[1].write(b"PING\r\n")
        assert await odd[0].read() == b""
        assert await other[0].readexactly(7) == b"+PONG\r\n"
        assert instance.server.exit_status == 0


def test_a_blocked_client_that_cannot_be_answered_does_not_affect_other_clients(server, declare):
    def odd(call):
        if call.db.find(b"l", QuickList) is None:
            return new_block([b"l"], QuickList, 0, None)
        return Unsendable()

    declare("odd", odd, flags=Flags.READONLY)
    first, second = server.client(), server.client()
    first.send_line("odd")
    second.send_line("BLPOP l 0")
    assert server.send_line("RPUSH l a b") == 2
    assert first.gone
    assert second.reply() == [b"l", b"a"]


def test_a_client_that_cannot_resume_does_not_stop_the_others(server):
    first, second = server.client(), server.client()
    resumed = []
    first.endpoint.resume = raiser(ZeroDivisionError)
    second.endpoint.resume = lambda: resumed.append(second)
    for guest in (first, second):
        guest.send_line("BLPOP l 0")
    server.send_line("RPUSH l a b")
    assert first.gone
    assert resumed == [second]


class Peer(Endpoint):
    """Records what happens to it. send() raises if *fails* is true."""

    def __init__(self, fails, notes):
        super().__init__()
        self._fails = fails
        self._notes = notes

    def send(self):
        if self._fails:
            raise ZeroDivisionError
        self._notes.append("sent")

    def disconnect(self):
        self._notes.append("hung up")


def test_replies_that_cannot_be_sent_do_not_stop_the_others(server):
    """Once, the other replies stayed marked as about to be sent, and never were."""
    notes: list[Any] = []
    server.dispatcher.turn.begin()
    for fails in (False, True, False):
        server.dispatcher.turn.send_later(Peer(fails, notes))
    server.dispatcher.turn.finish()
    assert notes == ["sent", "hung up", "sent"]


# ---------------------------------------------------------------------- in the server


async def exits_with_status_1(instance: Running) -> None:
    await instance.server.stopped.wait()
    assert instance.server.exit_status == 1
    await instance.server.stop()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("policy", ["always", "everysec"])
@on_each_loop
async def test_a_log_writer_that_fails_acknowledges_nothing_and_ends_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    fault: type[Exception], policy: str,
) -> None:  # fmt: skip
    """Once, the server stayed up, answered no client, and logged a traceback at each tick."""
    async with running(appendonly=True, appendfsync=policy) as instance:
        writer, other = await instance.connect(), await instance.connect()
        await ask(writer, b"SET a 1\r\n", 5)
        with monkeypatch.context() as broken:
            broken.setattr(Files, "write", raiser(fault))
            writer[1].write(b"SET b 1\r\n")
            other[1].write(b"PING\r\n")
            assert await writer[0].read() == b""
            assert await other[0].read() == b""
            await exits_with_status_1(instance)
        assert b"\r\na\r\n" in logged()
    ends = [r for r in caplog.records if r.getMessage() == "The server cannot go on, and exits."]
    assert len(ends) == 1
    assert len(caplog.records) <= 3


@on_each_loop
async def test_a_server_that_must_exit_writes_out_what_it_has_acknowledged(
    monkeypatch: pytest.MonkeyPatch, declare
) -> None:
    """With everysec, a busy disk delays writes that have been acknowledged."""

    def half(call):
        call.db.changed(b"key", b"set")
        raise MemoryError

    declare("half", half)

    def full(*_args: object) -> int:
        raise OSError(28, "No space left on device")

    async with running(appendonly=True, appendfsync="everysec") as instance:
        client = await instance.connect()
        with monkeypatch.context() as broken:
            broken.setattr(Files, "write", full)
            assert await ask(client, b"SET a 1\r\n", 5) == b"+OK\r\n"
        instance.server.state.restrictions.refuse_writes(None)
        client[1].write(b"half\r\n")
        assert await client[0].read() == b""
        await exits_with_status_1(instance)
        assert b"\r\na\r\n" in logged()


@pytest.mark.parametrize("save", [[], [(3600, 1000)]], ids=["no save points", "save points"])
@on_each_loop
async def test_a_fault_in_cron_ends_the_server_after_a_save(save: list[tuple[int, int]]) -> None:
    class Faulty(Part):
        def tick(self, now_ms: int) -> None:
            raise ZeroDivisionError

    async with running(save=save) as instance:
        client = await instance.connect()
        await ask(client, b"SET a 1\r\n", 5)
        instance.server.state.parts.append(Faulty())
        await exits_with_status_1(instance)
        assert await client[0].read() == b""
        assert bool(snapshot()) == bool(save)


@on_each_loop
async def test_data_that_may_be_half_changed_is_not_saved(declare) -> None:
    def half(call):
        call.db.changed(b"key", b"set")
        raise MemoryError

    declare("half", half)
    async with running(save=[(3600, 1000)]) as instance:
        client = await instance.connect()
        client[1].write(b"half\r\n")
        assert await client[0].read() == b""
        await exits_with_status_1(instance)
        assert not snapshot()


@on_each_loop
async def test_an_exception_in_the_event_loop_ends_the_server() -> None:
    async with running() as instance:
        asyncio.get_running_loop().call_soon(raiser(ZeroDivisionError))
        await exits_with_status_1(instance)


class FindsNoMemoryAtFirst(Acceptor):
    """Has no memory for the first client that comes."""

    def __init__(self, config, *parts):
        Acceptor.__init__(self, config)
        self._acceptor = ConnectionAcceptor(config, *parts)
        self._has_failed = False

    def connect(self, transport):
        if not self._has_failed:
            self._has_failed = True
            raise MemoryError
        return self._acceptor.connect(transport)


@on_each_loop
async def test_a_client_that_finds_no_memory_is_disconnected_and_the_next_one_is_served(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, the listener was closed for good, and no client could connect any more."""
    monkeypatch.setattr("server.app.ConnectionAcceptor", FindsNoMemoryAtFirst)
    async with running() as instance:
        reader, _ = await instance.connect()
        assert await reader.read() == b""
        assert await ask(await instance.connect(), b"PING\r\n", 7) == b"+PONG\r\n"
    assert "there is no memory to be had" in caplog.text
