"""CLIENT PAUSE: who is held back, for how long, and what happens then."""

from __future__ import annotations

import pytest

NOTHING = "nothing has been answered"


def test_all_commands_are_held_back_and_run_when_it_is_over(house):
    guest = house.client()
    house.send_line("CLIENT PAUSE 1000")
    assert guest.send_line("PING") == NOTHING
    house.advance(999)
    assert guest.reply() == NOTHING
    house.advance(1)
    assert guest.reply() == b"PONG"
    assert guest.send_line("PING") == b"PONG"


def test_even_unpause_waits_when_all_are_paused(house):
    house.send_line("CLIENT PAUSE 1000 ALL")
    assert house.send_line("CLIENT UNPAUSE") == NOTHING
    house.advance(1000)
    assert house.owner.reply() == b"OK"


def test_unpause_lets_them_run_in_the_order_they_came(house):
    house.send_line("CLIENT PAUSE 1000 WRITE")
    guests = [house.client() for _ in range(3)]
    for guest in reversed(guests):
        guest.send("APPEND", "a", guest.client.id)
    assert house.send_line("CLIENT UNPAUSE") == b"OK"
    assert house.send_line("GET a") == b"432"


@pytest.mark.parametrize("line", ["GET a", "PING", "MULTI", "CLIENT ID", "TTL a"])
def test_a_pause_of_writes_lets_the_others_through(house, line):
    house.send_line("CLIENT PAUSE 1000 WRITE")
    assert house.client().send_line(line) != NOTHING


@pytest.mark.parametrize("line", ["SET a 1", "DEL a", "EXPIRE a 1", "FLUSHALL"])
def test_a_pause_of_writes_holds_all_that_may_write(house, line):
    guest = house.client()
    house.send_line("CLIENT PAUSE 1000 WRITE")
    assert guest.send_line(line) == NOTHING
    house.send_line("CLIENT UNPAUSE")
    assert guest.reply() != NOTHING


def test_an_unknown_command_is_answered_during_a_pause(house):
    house.send_line("CLIENT PAUSE 1000 ALL")
    assert house.client().send_line("foo").startswith("-ERR unknown command")


def test_a_write_is_not_even_queued_during_a_pause(house):
    guest = house.client()
    guest.send_line("MULTI")
    house.send_line("CLIENT PAUSE 1000 WRITE")
    assert guest.send_line("SET a 1") == NOTHING
    house.send_line("CLIENT UNPAUSE")
    assert guest.reply() == b"QUEUED"
    assert guest.send_line("EXEC") == [b"OK"]


@pytest.mark.parametrize(("queued", "held"), [("SET a 1", True), ("GET a", False)])
def test_exec_is_held_if_what_it_runs_would_write(house, queued, held):
    guest = house.client()
    guest.send_line("MULTI")
    guest.send_line(queued)
    house.send_line("CLIENT PAUSE 1000 WRITE")
    assert (guest.send_line("EXEC") == NOTHING) is held


def test_a_pause_is_only_made_longer_and_stricter(house):
    guest, other = house.client(), house.client()
    house.send_line("CLIENT PAUSE 1000 WRITE")
    house.send_line("CLIENT PAUSE 10 WRITE")
    guest.send_line("SET a 1")
    house.advance(500)
    assert guest.reply() == NOTHING
    house.send_line("CLIENT PAUSE 10 ALL")
    assert other.send_line("GET a") == NOTHING
    house.advance(499)
    assert other.reply() == NOTHING
    house.advance(1)
    assert (guest.reply(), other.reply()) == (b"OK", b"1")


def test_a_new_pause_is_not_as_strict_as_an_old_one_was(house):
    house.send_line("CLIENT PAUSE 10 ALL")
    house.advance(10)
    house.send_line("CLIENT PAUSE 10 WRITE")
    assert house.send_line("PING") == b"PONG"


def test_a_client_that_is_held_back_shows_as_blocked_but_cannot_be_unblocked(house):
    guest = house.client()
    house.send_line("CLIENT PAUSE 1000 WRITE")
    guest.send_line("SET a 1")
    assert b" flags=b " in house.send("CLIENT", "LIST", "ID", guest.client.id)
    assert house.send("CLIENT", "UNBLOCK", guest.client.id) == 0


def test_a_client_that_leaves_takes_its_command_along(house):
    guest = house.client()
    house.send_line("CLIENT PAUSE 1000 WRITE")
    guest.send_line("SET a 1")
    guest.leave()
    house.send_line("CLIENT UNPAUSE")
    assert house.send_line("EXISTS a") == 0


@pytest.fixture
def paused(house):
    """The key k is past its time, and writes are paused."""
    house.send_line("SET k v PX 10")
    house.logged()
    house.send_line("CLIENT PAUSE 1000 WRITE")
    house.advance(20)
    return house


READS = {
    "GET k": None, "EXISTS k": 0, "TYPE k": b"none", "TTL k": -2, "TOUCH k": 0, "KEYS *": [],
    "DUMP k": None, "OBJECT ENCODING k": None, "SCAN 0": [b"0", []], "STRLEN k": 0,
}  # fmt: skip


@pytest.mark.parametrize("line", READS)
def test_a_read_during_a_pause_of_writes_deleted_an_expired_key(paused, line):
    assert paused.send_line(line) == READS[line]
    assert paused.send_line("DBSIZE") == 1
    assert paused.logged() == []
    paused.send_line("CLIENT UNPAUSE")
    assert paused.send_line(line) == READS[line]
    assert paused.logged() == ([] if line == "KEYS *" else [b"DEL k"])


def test_a_random_key_is_found_although_all_are_past_their_time(paused):
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
def test_a_write_of_the_exec_that_paused_writes_wrote_to_what_had_expired(house, line):
    """It was told that all went well, and its data went with the key that had expired."""
    for before in ("SET other there", "SET k 1", "PEXPIRE k 10"):
        house.send_line(before)
    house.advance(11)
    house.logged()
    for word in ("MULTI", "CLIENT PAUSE 1000 WRITE", line, "EXEC", "CLIENT UNPAUSE"):
        house.send_line(word)
    read, found = WRITES[line]
    assert house.send_line(read) == found
    assert house.send_line("PTTL k") == -1
    assert b"DEL k" in house.logged()


def test_a_waiter_does_not_get_what_expired_during_a_pause(house):
    guest = house.client()
    guest.send_line("BLPOP a 0")
    house.send_line("MULTI")
    for line in ("RPUSH a x", "PEXPIRE a 10", "CLIENT PAUSE 1000 WRITE"):
        house.send_line(line)
    house.send_line("EXEC")
    house.advance(20)
    house.send_line("CLIENT UNPAUSE")
    assert guest.waits
