"""ACTIVE 1: one consumer of a group works, the others stand by; each turn has a greater number."""

from __future__ import annotations

import pytest

from server.commands.streams.reading import active_consumer, waiting_readers
from storage.side_data.group_policy import GROUP_POLICY, MOST
from tests.server.commands.streams.test_group_policies import given, pending

READ = "XREADGROUP GROUP g {} COUNT 1 WITHFENCE STREAMS s >"
WAIT = "XREADGROUP GROUP g {} COUNT 1 BLOCK {} STREAMS s >"


@pytest.fixture
def queue(server):
    """The stream s has 1-0 to 4-0. ann is the active consumer of its group g, and has 1-0."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    for ms in range(1, 5):
        server.send("XADD", "s", f"{ms}-0", "job", ms)
    server.send_line("XGROUP CFGSET s g ACTIVE 1 TIMEOUT 1000")
    assert fence(server.send_line(READ.format("ann"))) == server.now_ms
    server.logged()
    return server


def fence(reply):
    """The number of the turn, of a reply with one entry."""
    return reply[0][1][0][-1]


def setting(server, name):
    shown = server.send_line("XGROUP CFGGET s g")
    return dict(zip(shown[::2], shown[1::2], strict=True))[name]


def test_the_others_stand_by(queue):
    assert queue.send_line(READ.format("bob")) is None
    assert given(queue.send_line(READ.format("ann"))) == [2]
    assert setting(queue, b"activeconsumer") == b"ann"
    assert b"bob" not in str(queue.send_line("XINFO CONSUMERS s g")).encode()


@pytest.mark.parametrize("line", [
    "XCLAIM s g {} 0 1-0", "XCLAIM s g {} 0 1-0 JUSTID", "XCLAIM s g {} 0 2-0 FORCE LASTID 3-0",
])  # fmt: skip
def test_who_stands_by_claims_nothing(queue, line):
    """Once it claimed what it liked, and worked beside the active consumer. NATS: ADR-42."""
    assert queue.send_line(line.format("bob")) == []
    assert queue.send_line("XAUTOCLAIM s g bob 0 0-0") == [b"0-0", [], []]
    assert pending(queue) == {1: (b"ann", 1)}
    assert queue.logged() == []
    assert len(queue.send_line("XINFO CONSUMERS s g")) == 1
    assert str(queue.send_line("XCLAIM s g bob 0 1-0 NONSENSE x")).startswith("-ERR Unrecognized")
    assert len(queue.send_line(line.format("ann"))) == 1
    assert queue.send_line("XAUTOCLAIM s g ann 0 0-0")[1]


def test_a_paused_group_is_not_claimed_from(queue):
    queue.send_line("XGROUP CFGSET s g ACTIVE 0 TIMEOUT 0")
    queue.send_line("XGROUP PAUSE s g")
    queue.logged()
    assert queue.send_line("XCLAIM s g bob 0 1-0") == []
    assert queue.send_line("XAUTOCLAIM s g bob 0 0-0") == [b"0-0", [], []]
    assert queue.logged() == []
    queue.send_line("XGROUP RESUME s g")
    assert len(queue.send_line("XCLAIM s g bob 0 1-0")) == 1


def test_another_takes_over_after_a_silence(queue):
    first = setting(queue, b"fence")
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    queue.advance(1000)
    queue.advance(249)
    assert waiter.waits
    queue.advance(1)
    assert given(waiter.reply()) == [1]
    assert pending(queue) == {1: (b"bob", 2)}
    assert setting(queue, b"activeconsumer") == b"bob"
    assert setting(queue, b"fence") == queue.now_ms > first
    assert queue.send_line(READ.format("ann")) is None


def test_who_sets_a_policy_again_and_again_puts_no_turn_off(queue):
    """Once, each CFGSET made the first of the two looks at a silence anew."""
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    for _ in range(13):
        queue.advance(100)
        queue.send_line("XGROUP CFGSET s g MAXPENDING 9")
    assert given(waiter.reply()) == [1]


def test_a_sign_of_life_is_enough(queue):
    queue.send_line("XGROUP CFGSET s g VISIBILITY 500")
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    for _ in range(9):
        queue.advance(900)
        queue.send_line("XEXTEND s g ann 500 1")
    assert waiter.waits
    queue.advance(1000)
    queue.advance(249)
    assert waiter.waits
    queue.advance(1)
    assert given(waiter.reply()) == [1]


def test_who_waits_is_not_silent(queue):
    queue.send_line("XTRIM s MAXLEN 0")
    queue.send_line("XACK s g 1")
    active, other = queue.client(), queue.client()
    active.send_line(WAIT.format("ann", 5000))
    other.send_line(WAIT.format("bob", 0))
    queue.advance(5000)
    assert not active.waits
    queue.advance(1)
    active.reply()
    active.send_line(WAIT.format("ann", 5000))
    queue.advance(4000)
    queue.send_line("XADD s 9-0 job 9")
    assert given(active.reply()) == [9]
    assert other.waits


def test_who_is_gone_while_it_waits_is_silent(queue):
    queue.send_line("XTRIM s MAXLEN 0")
    active, other = queue.client(), queue.client()
    active.send_line(WAIT.format("ann", 0))
    other.send_line(WAIT.format("bob", 0))
    queue.advance(1500)
    active.leave()
    for _ in range(3):
        queue.advance(750)
    queue.send_line("XADD s 9-0 job 9")
    assert given(other.reply()) == [9]


def test_who_waits_again_between_two_looks_is_not_silent(queue):
    queue.send_line("XTRIM s MAXLEN 0")
    active, other = queue.client(), queue.client()
    other.send_line(WAIT.format("bob", 0))
    queue.advance(1100)
    active.send_line(WAIT.format("ann", 50))
    queue.advance(50)
    assert not active.waits
    queue.advance(200)
    queue.send_line("XADD s 9-0 job 9")
    assert other.waits


def test_each_silence_is_looked_at_twice(queue):
    """Once, the first look at a silence that was broken counted for the next one."""
    queue.send_line("XTRIM s MAXLEN 0")
    active = queue.client()
    queue.advance(1000)
    assert queue.send_line(READ.format("bob")) is None
    queue.advance(10)
    active.send_line(WAIT.format("ann", 5000))
    queue.advance(5001)
    assert queue.send_line(READ.format("bob")) is None
    assert setting(queue, b"activeconsumer") == b"ann"


def test_a_silence_is_looked_at_twice_however_many_stand_by_and_whatever_is_added(
    queue, monkeypatch
):
    looks = []

    def counted(*args):
        looks.append(args)
        return waiting_readers.waits_as(*args)

    monkeypatch.setattr(active_consumer, "waits_as", counted)
    standbys = [queue.client() for _ in range(20)]
    for number, standby in enumerate(standbys):
        standby.send_line(WAIT.format(f"standby-{number}", 0))
    queue.advance(1000)
    for ms in range(9, 19):
        queue.send_line(f"XADD s {ms}-0 job {ms}")
        queue.advance(1)
    assert len(looks) == 1
    queue.advance(240)
    assert given(standbys[0].reply()) == [1]
    assert len(looks) == 2


def test_a_deleted_consumer_is_followed_at_once(queue):
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    queue.send_line("XGROUP DELCONSUMER s g ann HANDOVER")
    assert given(waiter.reply()) == [1]


def test_without_timeout_silence_does_not_matter(queue):
    queue.send_line("XGROUP CFGSET s g TIMEOUT 0")
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    queue.advance(10**9)
    assert waiter.waits


def test_all_read_again_when_it_is_off(queue):
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    queue.send_line("XGROUP CFGSET s g ACTIVE 0")
    assert given(waiter.reply()) == [2]


def test_turns_are_logged_and_numbers_grow_when_the_clock_goes_back(queue):
    before = setting(queue, b"fence")
    queue.send_line("XGROUP DELCONSUMER s g ann")
    queue.logged()
    queue.send_line(READ.format("bob"))
    number = setting(queue, b"fence")
    assert number == before + 1
    assert queue.logged()[0] == b"XGROUP CFGSET s g ACTIVECONSUMER bob FENCE %d" % number


def test_turns_are_saved(queue):
    payload = queue.send("DUMP", "s")
    queue.send("RESTORE", "t", "0", payload)
    assert queue.send_line("XGROUP CFGGET t g") == queue.send_line("XGROUP CFGGET s g")
    line = "XREADGROUP GROUP g bob COUNT 1 WITHFENCE STREAMS t >"
    assert queue.send_line(line) is None


def test_the_greatest_number_that_a_payload_may_have_grows_no_more(queue):
    """Once, what was saved after the next turn could not be loaded, nor the log be replayed."""
    queue.state.databases[0].side[b"s"].get(GROUP_POLICY, b"g").fence = MOST
    queue.send_line("XGROUP DELCONSUMER s g ann")
    assert fence(queue.send_line(READ.format("bob"))) == MOST
    assert queue.send("RESTORE", "t", "0", queue.send_line("DUMP s")) == b"OK"


def test_the_number_is_null_where_there_is_none(queue):
    queue.send_line("XGROUP CREATE s h 0")
    line = "XREADGROUP GROUP h bob COUNT 1 WITHFENCE NOFIELDS STREAMS s >"
    assert queue.send_line(line) == [[b"s", [[b"1-0", None]]]]


def test_a_clock_that_was_set_back_holds_no_turn(queue):
    queue.now_ms -= 10**9
    waiter = queue.client()
    waiter.send_line(WAIT.format("bob", 0))
    queue.advance(1000)
    queue.advance(250)
    assert given(waiter.reply()) == [1]
