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
