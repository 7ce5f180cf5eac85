"""OBJECT IDLETIME: which commands count as a use of their key, as in redis-server 7.0."""

from __future__ import annotations

import pytest

IDLE_S = 1000

USES = """
    GET s | STRLEN s | GETRANGE s 0 1 | MGET s | APPEND s x | INCR s | INCRBYFLOAT s 1
    SETRANGE s 0 x | GETEX s | GETEX s PERSIST | SET s v | SET s v KEEPTTL | SET s v GET
    GETSET s v | SETNX s v | SET s v NX | MSETNX s 1 q 2 | MSET s 1 | TOUCH s | COPY s q
    EXPIRE s 100 | EXPIRE s 100 XX | PERSIST s | LLEN s
    LLEN l | LRANGE l 0 -1 | LINDEX l 0 | LPOS l a | LPUSH l z | LPUSHX l z | LPOP l | LSET l 0 q
    LINSERT l BEFORE a q | LREM l 1 a | LTRIM l 0 1 | LMOVE l l LEFT RIGHT | LMPOP 1 l LEFT
    BLPOP l 1 | BLMPOP 1 1 l LEFT | RENAMENX s l
    XLEN x | XRANGE x - + | XREVRANGE x + - | XREAD STREAMS x 0 | XREAD STREAMS x $ | XADD x * f v
    XADD x 0-1 f v | XTRIM x MAXLEN 10 | XDEL x 5-5 | XSETID x 5-5 | XINFO STREAM x
    XINFO GROUPS x | XINFO CONSUMERS x g | XGROUP CREATE x h 0 | XGROUP CREATE x g 0
    XGROUP CREATECONSUMER x g c | XGROUP SETID x g 0 | XGROUP DELCONSUMER x g c
    XGROUP DESTROY x h | XPENDING x g | XACK x g 1-1 | XREADGROUP GROUP g c STREAMS x >
    XREADGROUP GROUP g c STREAMS x 0 | XCLAIM x g c 0 1-1 | XAUTOCLAIM x g c 0 0
"""

PEEKS = """
    EXISTS s | TYPE s | TTL s | PTTL s | EXPIRETIME s | PEXPIRETIME s | OBJECT ENCODING s
    OBJECT REFCOUNT s | OBJECT FREQ s | OBJECT IDLETIME s | DEBUG OBJECT s | SCAN 0
    SCAN 0 TYPE string | KEYS * | RANDOMKEY | WATCH s | SWAPDB 0 0
"""


def lines(table: str) -> list[str]:
    return [line.strip() for line in table.replace("\n", "|").split("|") if line.strip()]


@pytest.fixture
def server(make_server):
    """A server with a string s, a list l and a stream x, none of them used for IDLE_S."""
    server = make_server(enable_debug_command="yes")
    for line in ("SET s 10", "RPUSH l a b c", "XADD x 1-1 f v", "XGROUP CREATE x g 0"):
        server.send_line(line)
    server.advance(IDLE_S * 1000)
    return server


def idle(server, key):
    return server.send("OBJECT", "IDLETIME", key)


@pytest.mark.parametrize("line", lines(USES))
def test_a_command_resets_the_idle_time_of_its_key_even_if_it_fails(server, line):
    server.send_line(line)
    key = next(word for word in line.split() if word in ("s", "l", "x"))
    assert idle(server, key) == 0


@pytest.mark.parametrize("line", lines(PEEKS))
def test_a_command_about_keys_does_not_reset_their_idle_time(server, line):
    server.send_line(line)
    assert [idle(server, key) for key in "slx"] == [IDLE_S] * 3


def test_the_idle_time_is_whole_seconds_since_the_last_write(server):
    server.send_line("SET new 1")
    server.advance(999)
    assert idle(server, "new") == 0
    server.advance(1501)
    assert idle(server, "new") == 2


def test_rename_and_copy_reset_the_idle_time_of_their_keys(server):
    server.send_line("RENAME s t")
    server.send_line("COPY l m")
    assert [idle(server, key) for key in "tlm"] == [0, 0, 0]


def test_copy_resets_the_idle_time_of_a_target_that_exists(server):
    assert server.send_line("COPY s l") == 0
    assert [idle(server, key) for key in "sl"] == [0, 0]


def test_swapdb_does_not_reset_the_idle_time(server):
    server.send_line("SWAPDB 0 1")
    server.send_line("SELECT 1")
    assert idle(server, "s") == IDLE_S


def test_no_touch_leaves_keys_idle_except_for_the_touch_command(server):
    server.send_line("CLIENT NO-TOUCH ON")
    for line in ("GET s", "LRANGE l 0 -1", "XLEN x"):
        server.send_line(line)
    assert [idle(server, key) for key in "slx"] == [IDLE_S] * 3
    server.send_line("TOUCH l")
    server.send_line("GET s")
    assert [idle(server, key) for key in "slx"] == [IDLE_S, 0, IDLE_S]


def test_a_key_that_is_set_under_no_touch_is_not_idle(server):
    server.send_line("CLIENT NO-TOUCH ON")
    server.send_line("SET s v")
    assert idle(server, "s") == 0


def test_no_touch_holds_for_its_own_client_only(server):
    server.send_line("CLIENT NO-TOUCH ON")
    server.client().send_line("GET s")
    assert idle(server, "s") == 0


def test_exec_follows_the_same_rule(server):
    for line in ("MULTI", "TTL s", "LLEN l", "EXEC"):
        server.send_line(line)
    assert [idle(server, key) for key in "slx"] == [IDLE_S, 0, IDLE_S]


def test_peek_does_not_reset_the_idle_time(server):
    assert server.state.databases[0].peek(b"s") is not None
    assert idle(server, "s") == IDLE_S
