"""What a client blocked in BLPOP, XREAD or XREADGROUP gets when something happens to its key.

The clients are blocked on the key a of database 0. g is a group that has read everything.
"""

from __future__ import annotations

import pytest

from tests.server.conftest import NOTHING

NO_GROUP = "-NOGROUP"
WRONG_TYPE = "-WRONGTYPE"
DATA = "data"

STREAM = "XADD a 1-1 f old"
GROUP = "XGROUP CREATE a g $"


def run(server, lines):
    for line in lines:
        server.send_line(line)


def outcome(guest):
    """NOTHING, the code of an error, or DATA."""
    reply = guest.reply()
    if reply == NOTHING:
        assert guest.waits
        return NOTHING
    assert not guest.waits
    return reply.split()[0] if isinstance(reply, str) else DATA


# ---------------------------------------------------------------------- BLPOP


@pytest.mark.parametrize(
    "lines",
    [
        ["DEL a"],
        ["FLUSHDB"],
        ["FLUSHALL"],
        ["SET a x"],
        ["SET a x", "DEL a"],
        ["SETRANGE a 3 x"],
        ["XADD a * f v"],
        ["SET b x", "RENAME b a"],
        ["SET b x", "COPY b a"],
        ["SELECT 1", "RPUSH a x"],
        ["SELECT 1", "SET a x", "SWAPDB 0 1"],
        ["SWAPDB 0 1"],
        ["MULTI", "RPUSH a x", "RENAME a b", "EXEC"],
        ["MULTI", "RPUSH a x", "FLUSHALL", "EXEC"],
        ["MULTI", "RPUSH a x", "PEXPIREAT a 1", "EXEC"],
        ["MULTI", "RPUSH a x", "MOVE a 1", "EXEC"],
    ],
    ids=" ; ".join,
)
def test_blpop_stays_blocked(server, lines):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    run(server, lines)
    assert outcome(guest) == NOTHING


@pytest.mark.parametrize(
    "lines",
    [
        ["RPUSH a x"],
        ["LPUSH a x"],
        ["RPUSH b x", "RENAME b a"],
        ["RPUSH b x", "RENAMENX b a"],
        ["RPUSH b x", "COPY b a"],
        ["SET a y", "RPUSH b x", "COPY b a REPLACE"],
        ["SET a y", "RPUSH b x", "RENAME b a"],
        ["RPUSH b x", "LMOVE b a LEFT LEFT"],
        ["RPUSH b x", "RPOPLPUSH b a"],
        ["SELECT 1", "RPUSH a x", "SWAPDB 0 1"],
        ["SELECT 1", "RPUSH a x", "SWAPDB 1 0"],
        ["SELECT 1", "RPUSH a x", "MOVE a 0"],
        ["SELECT 1", "RPUSH b x", "COPY b a DB 0"],
        ["MULTI", "RPUSH a y", "DEL a", "RPUSH a x", "EXEC"],
    ],
    ids=" ; ".join,
)
def test_blpop_gets_the_element(server, lines):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    run(server, lines)
    assert guest.reply() == [b"a", b"x"]
    assert server.state.blocking.queues == {}


def test_blpop_times_out_while_the_key_has_another_type(server):
    guest = server.client()
    guest.send_line("BLPOP a 1")
    server.send_line("SET a x")
    server.advance(1000)
    assert guest.reply() is None


# ---------------------------------------------------------------------- XREAD and XREADGROUP


@pytest.mark.parametrize(
    ("lines", "xread", "xreadgroup"),
    [
        (["XADD a 2-1 f new"], DATA, DATA),
        (["DEL a"], NOTHING, NO_GROUP),
        (["UNLINK a"], NOTHING, NO_GROUP),
        (["PEXPIREAT a 1"], NOTHING, NO_GROUP),
        (["FLUSHDB"], NOTHING, NO_GROUP),
        (["FLUSHALL"], NOTHING, NO_GROUP),
        (["SET a x"], NOTHING, WRONG_TYPE),
        (["RPUSH b x", "RENAME b a"], NOTHING, WRONG_TYPE),
        (["RENAME a b"], NOTHING, NO_GROUP),
        (["MOVE a 1"], NOTHING, NO_GROUP),
        (["XADD b 9-1 f v", "XGROUP CREATE b g 0", "RENAME b a"], DATA, DATA),
        (["XADD b 9-1 f v", "XGROUP CREATE b g $", "RENAME b a"], DATA, NOTHING),
        (["XADD b 9-1 f v", "RENAME b a"], DATA, NO_GROUP),
        (["XADD b 0-5 f v", "RENAME b a"], NOTHING, NO_GROUP),
        (["XADD b 9-1 f v", "XGROUP CREATE b g 0", "COPY b a REPLACE"], DATA, DATA),
        (["XADD b 9-1 f v", "COPY b a REPLACE"], DATA, NO_GROUP),
        (["SWAPDB 0 1"], NOTHING, NO_GROUP),
        (["SELECT 1", "SET a x", "SWAPDB 0 1"], NOTHING, WRONG_TYPE),
        (["SELECT 1", "XADD a 9-1 f v", "XGROUP CREATE a g 0", "SWAPDB 0 1"], DATA, DATA),
        (["XGROUP DESTROY a g"], NOTHING, NO_GROUP),
        (["XGROUP DELCONSUMER a g c"], NOTHING, NOTHING),
        (["XADD a MAXLEN 0 2-1 f new"], NOTHING, NOTHING),
        (["XGROUP SETID a g 0"], NOTHING, NOTHING),
        (["EXPIRE a 100"], NOTHING, NOTHING),
        (["XTRIM a MAXLEN 0"], NOTHING, NOTHING),
    ],
    ids=lambda value: " ; ".join(value) if isinstance(value, list) else value,
)
def test_events_and_blocked_xread_and_xreadgroup(server, lines, xread, xreadgroup):
    run(server, [STREAM, GROUP])
    reader, member = server.client(), server.client()
    assert reader.send_line("XREAD BLOCK 0 STREAMS a $") == NOTHING
    assert member.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS a >") == NOTHING
    run(server, lines)
    assert (outcome(reader), outcome(member)) == (xread, xreadgroup)


def test_a_blocked_xreadgroup_gets_an_error_when_a_command_finds_its_stream_expired(server):
    run(server, [STREAM, GROUP, "PEXPIRE a 10"])
    member = server.client()
    member.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS a >")
    server.advance(11)
    server.send_line("EXISTS a")
    assert outcome(member) == NO_GROUP


def test_members_of_a_group_keep_their_order_when_the_new_entry_is_trimmed(server):
    run(server, [STREAM, GROUP])
    first, second = server.client(), server.client()
    for guest in (first, second):
        guest.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS a >")
    server.send_line("XADD a MAXLEN 0 2-1 f v")
    server.send_line("XADD a 3-1 f v")
    assert (outcome(first), outcome(second)) == (DATA, NOTHING)


def test_every_xread_gets_a_new_entry_but_only_one_member_of_a_group(server):
    run(server, [STREAM, GROUP])
    readers = [server.client() for _ in range(3)]
    members = [server.client() for _ in range(2)]
    for guest in readers:
        guest.send_line("XREAD BLOCK 0 STREAMS a $")
    for guest in members:
        guest.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS a >")
    server.send_line("XADD a 2-1 f new")
    entries = [[b"a", [[b"2-1", [b"f", b"new"]]]]]
    assert [guest.reply() for guest in readers] == [entries] * 3
    assert [guest.reply() for guest in members] == [entries, NOTHING]


@pytest.fixture
def sleeper(server, monkeypatch):
    """A server whose clock DEBUG SLEEP moves."""

    def sleep(seconds):
        server.now_ms += int(seconds * 1000)

    monkeypatch.setattr("server.commands.admin.debug.time.sleep", sleep)
    server.state.config.enable_debug_command = "yes"
    return server


def test_blpop_does_not_get_an_element_that_expired_inside_exec(sleeper):
    server = sleeper
    guest = server.client()
    guest.send_line("BLPOP a 1")
    run(server, ["MULTI", "RPUSH a x", "PEXPIRE a 100", "DEBUG SLEEP 0.2", "EXEC"])
    assert outcome(guest) == NOTHING
    assert server.send_line("EXISTS a") == 0
    server.advance(1000)
    assert guest.reply() is None


@pytest.mark.parametrize("wait", ["BLPOP a 0", "BLPOP a b 0", "XREAD BLOCK 0 STREAMS a $"])
def test_the_removal_of_a_key_that_was_to_wake_somebody_is_logged(sleeper, wait):
    guest = sleeper.client()
    guest.send_line(wait)
    run(sleeper, ["MULTI", "RPUSH a x", "PEXPIRE a 100", "DEBUG SLEEP 0.2", "EXEC"])
    assert outcome(guest) == NOTHING
    assert not sleeper.state.propagation.ops
    assert [command for _, command in sleeper.log.units[-1]] == [[b"DEL", b"a"]]
