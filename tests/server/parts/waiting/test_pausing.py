"""CLIENT PAUSE: which commands it postpones, for how long, and what runs when it ends."""

from __future__ import annotations

import pytest

from server.commands.streams.reading import stream_request
from tests.server.conftest import NOTHING


def test_a_pause_of_all_postpones_every_command_until_it_ends(server):
    guest = server.client()
    server.send_line("CLIENT PAUSE 1000")
    assert guest.send_line("PING") == NOTHING
    server.advance(999)
    assert guest.reply() == NOTHING
    server.advance(1)
    assert guest.reply() == b"PONG"
    assert guest.send_line("PING") == b"PONG"


def test_a_pause_of_all_postpones_unpause_too(server):
    server.send_line("CLIENT PAUSE 1000 ALL")
    assert server.send_line("CLIENT UNPAUSE") == NOTHING
    server.advance(1000)
    assert server.owner.reply() == b"OK"


def test_unpause_runs_postponed_commands_in_the_order_they_came(server):
    server.send_line("CLIENT PAUSE 1000 WRITE")
    guests = [server.client() for _ in range(3)]
    for guest in reversed(guests):
        guest.send("APPEND", "a", guest.client.id)
    assert server.send_line("CLIENT UNPAUSE") == b"OK"
    assert server.send_line("GET a") == b"432"


@pytest.mark.parametrize("line", ["GET a", "PING", "MULTI", "CLIENT ID", "TTL a"])
def test_a_pause_of_writes_lets_other_commands_run(server, line):
    server.send_line("CLIENT PAUSE 1000 WRITE")
    assert server.client().send_line(line) != NOTHING


@pytest.mark.parametrize("line", ["SET a 1", "DEL a", "EXPIRE a 1", "FLUSHALL"])
def test_a_pause_of_writes_postpones_every_command_that_may_write(server, line):
    guest = server.client()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    assert guest.send_line(line) == NOTHING
    server.send_line("CLIENT UNPAUSE")
    assert guest.reply() != NOTHING


NO_WRITES = "#!lua flags=no-writes\nreturn 1"
MAY_WRITE = "#!lua\nreturn 1"
LIBRARY = """#!lua name=lib
redis.register_function{function_name='reads', callback=function() return 1 end,
                        flags={'no-writes'}}
redis.register_function('writes', function() return 1 end)"""


@pytest.fixture
def scripted(server):
    """A server that knows scripts and functions, in a pause of writes."""
    server.send("FUNCTION", "LOAD", LIBRARY)
    server.shas = {text: server.send("SCRIPT", "LOAD", text) for text in (NO_WRITES, MAY_WRITE)}
    server.send_line("CLIENT PAUSE 1000 WRITE")
    return server


def script_calls(text, function):
    """Calls that run a script or a function which declares the same."""
    for suffix in ("", "_RO"):
        yield ["EVAL" + suffix, text]
        yield ["EVALSHA" + suffix, text]
        yield ["FCALL" + suffix, function]


def words_of(server, call):
    name = server.shas[call[1]] if call[0].startswith("EVALSHA") else call[1]
    return [call[0], name, "0"]


@pytest.mark.parametrize("call", [*script_calls(NO_WRITES, "reads"), ["EVAL_RO", "return 1"]])
def test_a_pause_of_writes_lets_a_script_run_that_declares_to_write_nothing(scripted, call):
    """In a transaction, too."""
    guest = scripted.client()
    assert guest.send(*words_of(scripted, call)) == 1
    guest.send_line("MULTI")
    for _ in range(70):  # more than a queue looks at one by one
        assert guest.send(*words_of(scripted, call)) == b"QUEUED"
    assert guest.send_line("EXEC") == [1] * 70


@pytest.mark.parametrize("call", [*script_calls(MAY_WRITE, "writes"), ["EVAL", "return 1"]])
def test_a_pause_of_writes_postpones_a_script_that_may_write(scripted, call):
    """Also where the command would refuse it: Redis looks at what the script declares."""
    guest = scripted.client()
    assert guest.send(*words_of(scripted, call)) == NOTHING
    queued = scripted.client()
    scripted.send_line("CLIENT UNPAUSE")
    queued.send_line("MULTI")
    queued.send("EVAL", NO_WRITES, "0")
    queued.send(*words_of(scripted, call))
    scripted.send_line("CLIENT PAUSE 1000 WRITE")
    assert queued.send_line("EXEC") == NOTHING


@pytest.mark.parametrize("line", ["FCALL none 0", "EVALSHA " + "f" * 40 + " 0"])
def test_a_pause_of_writes_postpones_what_nobody_knows(scripted, line):
    assert scripted.client().send_line(line) == NOTHING


def test_an_unknown_command_is_answered_during_a_pause(server):
    server.send_line("CLIENT PAUSE 1000 ALL")
    assert server.client().send_line("foo").startswith("-ERR unknown command")


def test_a_write_inside_multi_is_postponed_before_it_is_queued(server):
    guest = server.client()
    guest.send_line("MULTI")
    server.send_line("CLIENT PAUSE 1000 WRITE")
    assert guest.send_line("SET a 1") == NOTHING
    server.send_line("CLIENT UNPAUSE")
    assert guest.reply() == b"QUEUED"
    assert guest.send_line("EXEC") == [b"OK"]


@pytest.mark.parametrize(("queued", "held"), [("SET a 1", True), ("GET a", False)])
def test_exec_is_postponed_if_a_queued_command_may_write(server, queued, held):
    guest = server.client()
    guest.send_line("MULTI")
    guest.send_line(queued)
    server.send_line("CLIENT PAUSE 1000 WRITE")
    assert (guest.send_line("EXEC") == NOTHING) is held


def test_a_second_pause_only_makes_the_first_longer_and_stricter(server):
    guest, other = server.client(), server.client()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.send_line("CLIENT PAUSE 10 WRITE")
    guest.send_line("SET a 1")
    server.advance(500)
    assert guest.reply() == NOTHING
    server.send_line("CLIENT PAUSE 10 ALL")
    assert other.send_line("GET a") == NOTHING
    server.advance(499)
    assert other.reply() == NOTHING
    server.advance(1)
    assert (guest.reply(), other.reply()) == (b"OK", b"1")


def test_a_pause_that_is_over_does_not_make_the_next_one_stricter(server):
    server.send_line("CLIENT PAUSE 10 ALL")
    server.advance(10)
    server.send_line("CLIENT PAUSE 10 WRITE")
    assert server.send_line("PING") == b"PONG"


def test_a_postponed_client_shows_as_blocked_but_cannot_be_unblocked(server):
    guest = server.client()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    guest.send_line("SET a 1")
    assert b" flags=b " in server.send("CLIENT", "LIST", "ID", guest.client.id)
    assert server.send("CLIENT", "UNBLOCK", guest.client.id) == 0


def test_a_postponed_command_does_not_run_if_its_client_disconnects(server):
    guest = server.client()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    guest.send_line("SET a 1")
    guest.leave()
    server.send_line("CLIENT UNPAUSE")
    assert server.send_line("EXISTS a") == 0


@pytest.fixture
def paused(server):
    """A server with an expired key k, on which writes are paused."""
    server.send_line("SET k v PX 10")
    server.logged()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.advance(20)
    return server


READS = {
    "GET k": None, "EXISTS k": 0, "TYPE k": b"none", "TTL k": -2, "TOUCH k": 0, "KEYS *": [],
    "DUMP k": None, "OBJECT ENCODING k": None, "SCAN 0": [b"0", []], "STRLEN k": 0,
}  # fmt: skip


@pytest.mark.parametrize("line", READS)
def test_a_read_during_a_pause_of_writes_does_not_delete_an_expired_key(paused, line):
    assert paused.send_line(line) == READS[line]
    assert paused.send_line("DBSIZE") == 1
    assert paused.logged() == []
    paused.send_line("CLIENT UNPAUSE")
    assert paused.send_line(line) == READS[line]
    assert paused.logged() == ([] if line == "KEYS *" else [b"DEL k"])


def test_randomkey_during_a_pause_of_writes_may_answer_an_expired_key(paused):
    assert paused.send_line("RANDOMKEY") == b"k"
    paused.send_line("CLIENT UNPAUSE")
    assert paused.send_line("RANDOMKEY") is None


WRITES = {
    "RPUSH k x": ("LRANGE k 0 -1", [b"x"]),
    "XADD k 2-1 f x": ("XLEN k", 1),
    "INCR k": ("GET k", b"1"),
    "SETNX k x": ("GET k", b"x"),
    "RENAMENX other k": ("GET k", b"there"),
}


@pytest.mark.parametrize("line", WRITES)
def test_a_write_in_the_exec_that_paused_writes_does_not_change_an_expired_key(server, line):
    """Once, it did: it was acknowledged, and its data was deleted with the expired key."""
    for before in ("SET other there", "SET k 1", "PEXPIRE k 10"):
        server.send_line(before)
    server.advance(11)
    server.logged()
    for word in ("MULTI", "CLIENT PAUSE 1000 WRITE", line, "EXEC", "CLIENT UNPAUSE"):
        server.send_line(word)
    read, found = WRITES[line]
    assert server.send_line(read) == found
    assert server.send_line("PTTL k") == -1
    assert b"DEL k" in server.logged()


def test_a_blocked_client_does_not_get_a_list_that_expired_during_a_pause(server):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    server.send_line("MULTI")
    for line in ("RPUSH a x", "PEXPIRE a 10", "CLIENT PAUSE 1000 WRITE"):
        server.send_line(line)
    server.send_line("EXEC")
    server.advance(20)
    server.send_line("CLIENT UNPAUSE")
    assert guest.waits


def test_the_words_of_a_client_that_waits_are_counted_once_for_each_command(server):
    guest = server.client()
    client = guest.client
    guest.send_line("BLPOP k 0")
    assert client.argv_bytes() == len("BLPOPk0")
    client.argv_size = 7777
    assert client.argv_bytes() == 7777
    server.send_line("RPUSH k x")
    guest.reply()
    assert client.argv_bytes() == 0
    guest.send_line("BLPOP longer 0")
    assert client.argv_bytes() == len("BLPOPlonger0")
    server.send_line("RPUSH longer x")
    guest.reply()
    server.send_line("CLIENT PAUSE 1000 WRITE")
    guest.send_line("SET k value")
    assert client.argv_bytes() == len("SETkvalue")
    server.advance(1000)
    assert client.argv_bytes() == 0


def test_the_words_are_counted_again_when_a_reader_has_noted_what_it_has_seen(server, monkeypatch):
    monkeypatch.setattr(stream_request, "LOOKS", 1)
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    for _ in range(3):
        server.send_line("XADD s * field other")
    server.send_line("XREADGROUP GROUP g c STREAMS s >")
    guest = server.client()
    server.call_soon = lambda call: None
    guest.send_line("XREADGROUP GROUP g c WHERE field 1 value STREAMS s 0")
    before = len("XREADGROUPGROUPgcWHEREfield1valueSTREAMSs0")
    assert guest.waits
    assert guest.client.argv_bytes() == sum(map(len, guest.client.waiter.argv)) > before
