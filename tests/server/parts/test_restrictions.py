"""Which restrictions make commands be checked, and which are in force."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from server.parts.restrictions import Restrictions
from server.table import errors


@pytest.fixture
def restrictions(server) -> Restrictions:
    restrictions: Restrictions = server.state.restrictions
    return restrictions


def state_of(restrictions: Restrictions) -> tuple[bool, bool]:
    return bool(restrictions.in_force), bool(restrictions.must_check)


def test_a_server_with_the_defaults_restricts_nothing(restrictions):
    assert state_of(restrictions) == (False, False)


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (lambda now: now.set_phase(loading=True), lambda now: now.set_phase()),
        (lambda now: now.set_phase(stopping=True), lambda now: now.set_phase()),
        (lambda now: now.set_async_loading(True), lambda now: now.set_async_loading(False)),
        (lambda now: now.set_short_of_memory(True), lambda now: now.set_short_of_memory(False)),
        (lambda now: now.refuse_writes(errors.FAILED), lambda now: now.refuse_writes(None)),
    ],
    ids=["loading", "async_loading", "stopping", "memory", "disk"],
)
def test_each_restriction_is_in_force_until_it_ends(
    restrictions, begin: Callable[[Restrictions], None], end: Callable[[Restrictions], None]
):
    begin(restrictions)
    assert state_of(restrictions) == (True, True)
    end(restrictions)
    assert state_of(restrictions) == (False, False)


def test_a_pause_is_in_force_until_it_ends(server, restrictions):
    server.send_line("CLIENT PAUSE 100 WRITE")
    assert state_of(restrictions) == (True, True)
    server.advance(100)
    assert state_of(restrictions) == (False, False)


def test_with_maxmemory_commands_are_checked_although_nothing_is_in_force(server, restrictions):
    server.send_line("CONFIG SET maxmemory 1gb")
    assert state_of(restrictions) == (False, True)
    server.send_line("CONFIG SET maxmemory 0")
    assert state_of(restrictions) == (False, False)


def test_reads_are_refused_with_writes_only(restrictions):
    restrictions.refuse_writes(errors.FAILED, reads_too=True)
    assert restrictions.refuses_reads
    restrictions.refuse_writes(None)
    assert not restrictions.refuses_reads


def test_exec_is_refused_while_data_are_stale_if_any_queued_command_is(server):
    server.send_line("MULTI")
    server.send_line("ECHO a")
    server.send_line("GET a")
    guest = server.client()
    guest.send_line("MULTI")
    guest.send_line("ECHO a")
    server.client().send_line("CONFIG SET replica-serve-stale-data no")
    server.client().send_line("REPLICAOF 127.0.0.1 1")
    assert server.send_line("EXEC") == (
        "-EXECABORT Transaction discarded because of: MASTERDOWN Link with MASTER is down and"
        " replica-serve-stale-data is set to 'no'."
    )
    assert guest.send_line("EXEC") == [b"a"]


def test_exec_is_refused_while_data_are_loaded_if_any_queued_command_is(server, restrictions):
    server.send_line("MULTI")
    server.send_line("GET a")
    restrictions.set_phase(loading=True)
    assert server.send_line("EXEC").startswith("-EXECABORT Transaction discarded because of: LOAD")
    restrictions.set_phase()
    assert server.send_line("EXEC") == "-ERR EXEC without MULTI"


def test_while_a_copy_is_loaded_beside_the_data_in_use_what_it_would_spoil_is_refused(
    server, restrictions
):
    server.send_line("MULTI")
    server.send_line("BGREWRITEAOF")
    restrictions.set_async_loading(True)
    assert server.send_line("EXEC").startswith("-EXECABORT Transaction discarded because of: LOAD")
    for line in ("REPLICAOF NO ONE", "SAVE", "BGSAVE", "BGREWRITEAOF", "SYNC"):
        assert server.send_line(line).startswith("-LOADING"), line
    assert server.send_line("GET k") is None
    restrictions.set_async_loading(False)
    assert server.send_line("REPLICAOF NO ONE") == b"OK"


def test_expiries_are_told_on_a_writable_replica_only(server):
    assert not server.state.events.tells_expiries
    server.send_line("REPLICAOF 127.0.0.1 1")
    assert not server.state.events.tells_expiries
    server.send_line("CONFIG SET replica-read-only no")
    assert server.state.events.tells_expiries
    server.send_line("SET a 1 EX 100")
    assert b"\r\nslave_expires_tracked_keys:1\r\n" in server.send_line("INFO stats")
    server.send_line("REPLICAOF NO ONE")
    assert not server.state.events.tells_expiries
    assert b"\r\nslave_expires_tracked_keys:0\r\n" in server.send_line("INFO stats")
