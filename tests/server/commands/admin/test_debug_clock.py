"""DEBUG CLOCK: what it takes and tells, and what of the past has happened when it answers."""

from __future__ import annotations

import pytest

from tests.server.conftest import NOTHING, START_MS

HOUR_MS = 3_600_000
BAD_MOVE = (
    "-ERR DEBUG CLOCK takes +<n><unit> or -<n><unit>, with ms, s, m, h or d as the unit, or"
    " AT <unix-time-ms>, FREEZE, THAW, or RESET"
)
OUT_OF_RANGE = "-ERR DEBUG CLOCK cannot go before 1970, to 2100, or beyond"


@pytest.fixture
def server(make_server):
    return make_server(enable_debug_command="yes")


def report(offset_ms, frozen=0, now_ms=None):
    now_ms = START_MS + offset_ms if now_ms is None else now_ms
    return [b"offset-ms", offset_ms, b"frozen", frozen, b"now-ms", now_ms]


def test_it_tells_how_far_ahead_the_clock_is(server):
    assert server.send_line("DEBUG CLOCK") == report(0)
    assert server.send_line("DEBUG CLOCK +1h") == report(HOUR_MS)
    assert server.send_line("debug clock") == report(HOUR_MS)


@pytest.mark.parametrize(
    ("move", "ms"),
    [
        ("+250ms", 250), ("+3600s", HOUR_MS), ("-90s", -90_000), ("+15m", 900_000),
        ("-2H", -2 * HOUR_MS), ("+1d", 24 * HOUR_MS), ("+0ms", 0), ("at 1700000000001", 1),
    ],
)  # fmt: skip
def test_it_moves_unix_time(server, move, ms):
    server.now_ms = START_MS
    assert server.send_line(f"DEBUG CLOCK {move}")[1] == ms
    assert server.send_line("TIME")[0] == b"%d" % ((START_MS + ms) // 1000)


@pytest.mark.parametrize(
    "move",
    [
        "10", "+10", "10s", "+s", "+1.5h", "+1w", "+-1s", "+1s\r\n", "++1s", "FREEZE now", "at",
        "AT soon", "AT 1 2", "AT +1s", "+1" + "0" * 18 + "s",
    ],
)  # fmt: skip
def test_what_it_does_not_know_is_refused_and_moves_nothing(server, move):
    assert server.send("DEBUG", "CLOCK", *move.split(" ")).startswith("-ERR")
    assert server.send_line("DEBUG CLOCK") == report(0)


def test_a_move_without_unit_is_told_what_it_may_be(server):
    assert server.send_line("DEBUG CLOCK 10") == BAD_MOVE


@pytest.mark.parametrize("move", ["+30000d", "-30000d", "AT -1", "AT 4102444800000", "+999999999d"])
def test_a_jump_out_of_the_times_that_can_be_told_is_refused_and_moves_nothing(server, move):
    assert server.send_line(f"DEBUG CLOCK {move}") == OUT_OF_RANGE
    assert server.send_line("DEBUG CLOCK") == report(0)


def test_without_enable_debug_command_nothing_moves(make_server):
    assert make_server().send_line("DEBUG CLOCK +1h").startswith("-ERR DEBUG command not allowed.")


def test_help_lists_it(server):
    assert any(b"CLOCK" in line for line in server.send_line("DEBUG HELP"))


def test_in_a_transaction_it_tells_the_time_and_moves_nothing(server):
    server.send_line("MULTI")
    server.send_line("DEBUG CLOCK +1h")
    server.send_line("DEBUG CLOCK")
    refused = "-ERR DEBUG CLOCK cannot move the clock inside a transaction"
    assert server.send_line("EXEC") == [refused, report(0)]


def test_while_data_is_loaded_nothing_moves(server):
    server.state.restrictions.set_phase(loading=True)
    assert server.send_line("DEBUG CLOCK +1h").startswith("-LOADING")
    assert server.send_line("DEBUG CLOCK") == report(0)


# ---------------------------------------------------------------------- standing still


def test_frozen_time_stands_still_until_it_goes_on_from_there(server):
    assert server.send_line("DEBUG CLOCK FREEZE") == report(0, frozen=1)
    server.advance(5000)
    assert server.send_line("TIME") == [b"%d" % (START_MS // 1000), b"0"]
    assert server.send_line("DEBUG CLOCK THAW") == report(-5000, now_ms=START_MS)
    server.advance(1000)
    assert server.send_line("DEBUG CLOCK")[5] == START_MS + 1000


def test_frozen_time_can_be_moved(server):
    server.send_line("DEBUG CLOCK FREEZE")
    assert server.send_line("DEBUG CLOCK +10s") == report(10_000, frozen=1)
    assert server.send_line("DEBUG CLOCK AT 5") == report(5 - START_MS, frozen=1, now_ms=5)
    assert server.send_line("DEBUG CLOCK FREEZE")[5] == 5
    assert server.send_line("DEBUG CLOCK RESET") == report(0)


def test_ids_go_on_by_their_sequence_while_time_stands_still(server):
    server.send_line("DEBUG CLOCK FREEZE")
    ids = [server.send_line("XADD s * a 1") for _ in range(3)]
    assert ids == [b"%d-%d" % (START_MS, n) for n in range(3)]


def test_ids_go_on_behind_the_last_one_when_time_goes_back(server):
    server.send_line("DEBUG CLOCK +1h")
    server.send_line("XADD s * a 1")
    server.send_line("DEBUG CLOCK RESET")
    assert server.send_line("XADD s * a 1") == b"%d-1" % (START_MS + HOUR_MS)


def test_no_wait_ends_while_time_stands_still(server):
    guest = server.client()
    guest.send_line("BLPOP k 10")
    server.send_line("DEBUG CLOCK FREEZE")
    server.advance(60_000)
    assert guest.reply() == NOTHING
    server.send_line("DEBUG CLOCK +10s")
    assert guest.reply() is None


# ---------------------------------------------------------------------- what has become due


def test_waits_that_are_over_have_ended_when_it_answers(server):
    guests = [server.client() for _ in range(5)]
    for seconds, guest in enumerate(guests):
        guest.send_line(f"BLPOP k {seconds}")
    server.send_line("DEBUG CLOCK +2s")
    assert [guest.reply() for guest in guests] == [NOTHING, None, None, NOTHING, NOTHING]


def test_a_wait_is_no_longer_when_time_has_gone_back(server):
    server.send_line("DEBUG CLOCK +1h")
    guest = server.client()
    guest.send_line("BLPOP k 10")
    server.send_line("DEBUG CLOCK RESET")
    server.advance(10_000)
    assert guest.reply() is None


def test_a_pause_that_is_over_has_ended(server):
    guest = server.client()
    server.send_line("CLIENT PAUSE 1000 ALL")
    guest.send_line("SET k 1 PX 500")
    server.send_line("DEBUG CLOCK +1s")
    assert guest.reply() == b"OK"
    assert server.send_line("PTTL k") == 500


def test_a_pause_ends_before_longer_waits_do(server):
    """What became ready during the pause is there for those that still wait, and only for those."""
    patient, hasty = server.client(), server.client()
    patient.send_line("BLPOP k 10")
    hasty.send_line("BLPOP k 0.5")
    server.send_line("MULTI")  # in one transaction, writes run although they are paused by then
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.send_line("RPUSH k v")
    server.send_line("EXEC")
    assert patient.reply() == NOTHING
    server.send_line("DEBUG CLOCK +1m")
    assert hasty.reply() is None
    assert patient.reply() == [b"k", b"v"]


def test_keys_that_are_due_have_been_removed_logged_and_told(server):
    listener = server.client()
    server.send_line("CONFIG SET notify-keyspace-events Ex")
    listener.send_line("SUBSCRIBE __keyevent@0__:expired")
    listener.reply()
    server.send_line("SET a 1 EX 3600")
    server.send_line("SET b 1 PX 3600001")
    server.logged()
    server.send_line("DEBUG CLOCK +1h")
    assert len(server.state.databases[0]) == 1
    assert server.logged() == [b"DEL a"]
    assert listener.reply() == [b"message", b"__keyevent@0__:expired", b"a"]


def test_each_key_that_is_due_is_logged_by_itself(server):
    for n in range(3):
        server.send_line(f"SET k{n} 1 EX 1")
    server.transactions()
    server.send_line("DEBUG CLOCK +1s")
    assert sorted(server.transactions()) == [[b"DEL k0"], [b"DEL k1"], [b"DEL k2"]]


def test_fields_that_are_due_have_been_removed(server):
    server.send_line("HSET h a 1 b 2 c 3")
    server.send_line("HPEXPIRE h 1000 FIELDS 2 a b")
    server.logged()
    server.send_line("DEBUG CLOCK +1s")
    assert server.send_line("HGETALL h") == [b"c", b"3"]
    assert sorted(server.logged()[0].split()) == [b"HDEL", b"a", b"b", b"h"]


def test_a_reader_of_a_group_whose_stream_has_expired_is_told(server):
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.send_line("EXPIRE s 10")
    guest = server.client()
    guest.send_line("XREADGROUP GROUP g ann BLOCK 0 STREAMS s >")
    server.send_line("DEBUG CLOCK +9s")
    assert guest.reply() == NOTHING  # BLOCK 0 never times out
    server.send_line("DEBUG CLOCK +1s")
    assert guest.reply().startswith("-NOGROUP")


def test_without_active_expiry_keys_expire_when_they_are_looked_up(server):
    server.send_line("DEBUG SET-ACTIVE-EXPIRE 0")
    server.send_line("SET a 1 EX 1")
    server.send_line("DEBUG CLOCK +2s")
    assert len(server.state.databases[0]) == 1
    assert server.send_line("GET a") is None


def test_ttls_follow_unix_time_there_and_back(server):
    server.send_line("SET a 1 EX 7200")
    server.send_line("DEBUG CLOCK +1h")
    assert server.send_line("TTL a") == 3600
    server.send_line("DEBUG CLOCK -2h")
    assert server.send_line("TTL a") == 10_800


def test_the_idle_time_of_a_group_follows_and_is_never_below_0(server):
    server.send_line("XADD s 1-1 a 1")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g ann STREAMS s >")
    server.send_line("DEBUG CLOCK +1m")
    assert server.send_line("XPENDING s g - + 1")[0][2] == 60_000
    assert server.send_line("XAUTOCLAIM s g bob 60000 0")[1] == [[b"1-1", [b"a", b"1"]]]
    server.send_line("DEBUG CLOCK RESET")
    assert server.send_line("XPENDING s g - + 1")[0][2] == 0


def test_idle_times_of_keys_follow_and_are_never_below_0(server):
    server.send_line("SET a 1")
    server.send_line("DEBUG CLOCK +100s")
    assert server.send_line("OBJECT IDLETIME a") == 100
    server.send_line("GET a")
    server.send_line("DEBUG CLOCK -100s")
    assert server.send_line("OBJECT IDLETIME a") == 0


def test_counters_of_uses_decay(server):
    server.send_line("CONFIG SET maxmemory-policy allkeys-lfu")
    server.send_line("SET a 1")
    assert server.send_line("OBJECT FREQ a") == 5
    server.send_line("DEBUG CLOCK +3m")
    assert server.send_line("OBJECT FREQ a") == 2


def test_a_pause_for_ever_may_be_begun_at_any_time(server):
    server.send_line("DEBUG CLOCK +20000d")
    server.send_line("DEBUG CLOCK AT 0")
    assert server.send_line("CLIENT PAUSE 9223372036854775807 WRITE") == b"OK"
    assert server.send_line("DEBUG CLOCK RESET") == report(0)
