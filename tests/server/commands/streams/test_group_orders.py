"""XGROUP CFGSET ORDERBY: entries with one value go to one consumer at a time, in their order."""

from __future__ import annotations

import pytest

from storage import allocation, xxh3
from storage.xxh3 import SECRET
from tests.server.conftest import NOTHING, SocketlessServer
from tests.used_memory import used_at_start


@pytest.fixture
def ordered(server: SocketlessServer) -> SocketlessServer:
    """A stream with ann 1, bob 2, ann 3, ann 4, cem 5, and a group ordered by customer."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.send_line("XGROUP CFGSET s g ORDERBY customer")
    for number, name in enumerate(("ann", "bob", "ann", "ann", "cem"), 1):
        server.send_line(f"XADD s {number}-0 customer {name}")
    return server


def read(server: SocketlessServer, name: str, count: int = 100, words: str = "") -> list[int]:
    """The numbers of the entries that *name* is given."""
    reply = server.send_line(f"XREADGROUP GROUP g {name} COUNT {count} {words} STREAMS s >")
    return given(reply)


def given(reply: object) -> list[int]:
    assert reply is None or isinstance(reply, list), reply
    return [] if reply is None else [int(row[0].partition(b"-")[0]) for row in reply[0][1]]


def test_a_value_that_somebody_has_waits_and_others_do_not(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    assert read(ordered, "w2") == [5]
    assert read(ordered, "w3") == []
    assert ordered.send_line("XACK s g 1-0") == 1
    assert read(ordered, "w3", 1) == [3]
    assert read(ordered, "w2") == []
    assert ordered.send_line("XACK s g 3-0") == 1
    assert read(ordered, "w2") == [4]


def test_what_waited_for_its_turn_counts_for_both_limits(ordered):
    """Once, what MAXPENDINGPERVALUE gave of a lane took nothing of the room of MAXPENDING."""
    ordered.send_line("XADD s 6-0 customer bob")
    assert read(ordered, "w1", words="NOACK") == [1, 2, 3, 4, 5, 6]
    ordered.send_line("XGROUP SETID s g 0")
    assert read(ordered, "w1", 3) == [1, 2, 3]
    assert read(ordered, "w2") == [5]
    ordered.send_line("XGROUP CFGSET s g MAXPENDING 1 MAXPENDINGPERVALUE 1")
    assert ordered.send_line("XACK s g 1-0 2-0 3-0 5-0") == 4
    assert len(read(ordered, "w3")) == 1  # of 4 and 6, which waited
    assert read(ordered, "w3") == []


def test_what_was_released_to_its_lane_waits_for_room_again(ordered):
    """Once, it was given beyond MAXPENDING: in its lane it had made room for another entry."""
    ordered.send_line("XGROUP CFGSET s g MAXPENDING 1")
    assert read(ordered, "w1") == [1]
    ordered.send_line("XNACK s g FAIL IDS 1 1-0 DELAY 10")
    assert read(ordered, "w2") == [2]
    ordered.advance(10)
    assert read(ordered, "w1") == []
    assert ordered.send_line("XACK s g 2-0") == 1
    assert read(ordered, "w1") == [1]


CLAIMS = "CLAIM 50 WHERE customer 1 {}"


def owners(server: SocketlessServer) -> dict[int, bytes]:
    rows = server.send_line("XPENDING s g - + 99")
    return {int(row[0].partition(b"-")[0]): row[1] for row in rows}


def test_a_claim_takes_from_a_lane_only_what_it_wants(ordered):
    """Once, it took all that was idle from its owner, and gave what it wanted."""
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    ordered.advance(60)
    assert read(ordered, "w2", 100, CLAIMS.format("bob")) == [2]
    assert owners(ordered) == {1: b"w1", 2: b"w2", 3: b"w1", 4: b"w1", 5: b"w1"}
    assert read(ordered, "w2", 1, CLAIMS.format("ann")) == [1]
    assert owners(ordered) == {1: b"w2", 2: b"w2", 3: b"", 4: b"", 5: b"w1"}


def test_a_claim_finds_what_it_wants_after_many_that_it_does_not(ordered):
    for number in range(6, 300):
        ordered.send_line(f"XADD s {number}-0 customer {number}")
    ordered.send_line("XADD s 300-0 customer zoe")
    read(ordered, "w1", 999)
    ordered.advance(60)
    assert read(ordered, "w2", 100, CLAIMS.format("zoe")) == [300]


def test_a_claim_takes_nothing_that_would_wait_for_what_others_have(ordered):
    ordered.send_line("XADD s 6-0 customer ann kind x")
    assert read(ordered, "w1") == [1, 2, 3, 4, 5, 6]
    ordered.advance(60)
    assert read(ordered, "w2", 100, "CLAIM 50 WHERE kind 1 x") == []
    assert set(owners(ordered).values()) == {b"w1"}


def test_a_claim_takes_no_more_than_it_gives(ordered):
    """Once, it took all that was idle from who worked on it, and the next to read was given it."""
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    waiter = ordered.client()
    waiter.send_line("XREADGROUP GROUP g w3 COUNT 1 BLOCK 0 STREAMS s >")
    ordered.advance(60)
    reply = ordered.send_line("XREADGROUP GROUP g w2 COUNT 1 CLAIM 50 STREAMS s >")
    assert reply == [[b"s", [[b"1-0", [b"customer", b"ann"], 60, 1]]]]
    assert owners(ordered) == {1: b"w2", 2: b"w1", 3: b"", 4: b"", 5: b"w1"}
    assert waiter.waits
    assert read(ordered, "w2", 2, "CLAIM 50") == [2, 5]
    ordered.send_line("XACK s g 1-0")
    assert given(waiter.reply()) == [3]


def test_a_claim_takes_nothing_for_who_has_no_room(ordered):
    ordered.send_line("XGROUP CFGSET s g MAXPENDINGPERCONSUMER 1")
    assert read(ordered, "w1") == [1]
    assert read(ordered, "w2") == [2]
    ordered.advance(60)
    assert read(ordered, "w2", words="CLAIM 50") == [2], "what it has it may be given again"
    assert owners(ordered)[1] == b"w1"
    assert read(ordered, "w3", words="CLAIM 50") == [1]


def test_who_waits_for_claims_is_not_woken_again_and_again(ordered):
    """Once, it looked each ms for what stays with its consumer, as it is not the first one."""
    ordered.send_line("XADD s 6-0 customer ann n 2")
    assert read(ordered, "w1") == [1, 2, 3, 4, 5, 6]
    waiter = ordered.client()
    waiter.send_line("XREADGROUP GROUP g w3 BLOCK 0 CLAIM 50 WHERE n 1 2 STREAMS s >")
    ordered.advance(60)
    assert waiter.waits
    assert waiter.client.waiter.block.wake_ms != 1
    ordered.send_line("XACK s g 1-0 3-0 4-0")
    ordered.advance(60)
    assert given(waiter.reply()) == [6]


def test_who_waits_by_where_is_woken_when_others_make_room(ordered):
    """Once, only what it wanted had it look again."""
    ordered.send_line("XGROUP CFGSET s g VISIBILITY 20 MAXPENDING 1")
    assert read(ordered, "w1", 1) == [1]
    waiter = ordered.client()
    waiter.send_line("XREADGROUP GROUP g w2 BLOCK 0 WHERE customer 1 bob STREAMS s >")
    ordered.advance(20)
    assert given(waiter.reply()) == [2]


def test_many_lapsed_entries_without_the_field_hide_no_others(ordered):
    """Once, WHERE found nothing after 200 of them."""
    ordered.send_line("XGROUP CFGSET s g VISIBILITY 20")
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    ordered.send_line("XACK s g 1-0 2-0 3-0 4-0 5-0")
    for number in range(10, 220):
        ordered.send_line(f"XADD s {number}-0 other x")
    ordered.send_line("XADD s 300-0 customer dan")
    assert len(read(ordered, "w1", 300)) == 211
    ordered.advance(30)
    assert read(ordered, "w2", words="WHERE customer 1 dan") == [300]


def test_noack_leaves_nothing_pending_of_what_waited(ordered):
    """Once, what had waited for its turn became the consumer's, and held back its value."""
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", words="NOACK") == [2, 5]
    assert owners(ordered) == {1: b"w1", 3: b"", 4: b""}
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w2", words="NOACK") == [3, 4]
    assert owners(ordered) == {}
    ordered.send_line("XADD s 6-0 customer ann")
    assert read(ordered, "w1") == [6]


def test_a_transaction_looks_at_all_in_one_go(ordered):
    """Once, it found nothing after a thousand that have to wait."""
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    for number in range(10, 1210):
        ordered.send_line(f"XADD s {number}-0 customer ann")
    ordered.send_line("XADD s 2000-0 customer dan")
    ordered.send_line("MULTI")
    ordered.send_line("XREADGROUP GROUP g w2 STREAMS s >")
    [reply] = ordered.send_line("EXEC")
    assert given(reply) == [2000]


def test_an_order_that_is_made_is_logged(ordered):
    """Once, it was not where the call that made it changed nothing else."""
    assert read(ordered, "w1", 1) == [1]
    ordered.send_line("XGROUP CFGSET s g ORDERBY nosuch")
    ordered.send_line("XNACK s g FAIL IDS 1 1-0")
    ordered.send_line("XGROUP CFGSET s g ORDERBY customer")
    ordered.logged()
    assert ordered.send_line("XNACK s g FAIL IDS 1 9-0") == 0
    assert any(b"1-0" in line for line in ordered.logged())


def test_one_reading_gives_as_many_of_a_value_as_it_asks_for(ordered):
    assert read(ordered, "w1", 4) == [1, 2, 3, 4]
    ordered.send_line("XADD s 6-0 customer ann")
    assert read(ordered, "w1") == [5], "the next reading does not, even for who has them"
    assert ordered.send_line("XACK s g 1-0 3-0") == 2
    assert read(ordered, "w2") == []
    assert ordered.send_line("XACK s g 4-0") == 1
    assert read(ordered, "w2") == [6]


def test_a_reading_goes_on_from_the_lane_to_new_entries(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    assert read(ordered, "w2", 1) == [5]
    ordered.send_line("XADD s 6-0 customer ann")
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w3") == [3, 4, 6]


def test_a_limit_of_a_value(ordered):
    ordered.send_line("XGROUP CFGSET s g MAXPENDINGPERVALUE 1")
    assert read(ordered, "w1") == [1, 2, 5]
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w1") == [3]
    ordered.send_line("XACK s g 3-0")
    assert read(ordered, "w2") == [4]


def test_entries_without_the_field_go_to_anyone(ordered):
    for number in (6, 7):
        ordered.send_line(f"XADD s {number}-0 other ann")
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5, 6, 7]


def test_what_fails_holds_back_its_value_and_only_that(ordered):
    assert read(ordered, "w1", 2) == [1, 2]
    assert read(ordered, "w1") == [5]
    assert ordered.send_line("XNACK s g FAIL IDS 1 1-0 DELAY 100") == 1
    assert read(ordered, "w2") == []
    ordered.send_line("XADD s 6-0 customer dan")
    assert read(ordered, "w2") == [6]
    ordered.advance(99)
    assert read(ordered, "w2") == []
    ordered.advance(1)
    assert read(ordered, "w2") == [1, 3, 4]


def test_what_comes_after_a_failed_entry_goes_back_with_it_uncounted(ordered):
    assert read(ordered, "w1", 4) == [1, 2, 3, 4]
    assert ordered.send_line("XNACK s g FAIL IDS 1 1-0") == 1
    rows = ordered.send_line("XPENDING s g - + 10")
    assert [(row[0], row[1], row[3]) for row in rows] == [
        (b"1-0", b"", 1), (b"2-0", b"w1", 1), (b"3-0", b"", 0), (b"4-0", b"", 0),
    ]  # fmt: skip
    assert read(ordered, "w2", 2) == [1, 3]


def test_visibility_gives_the_value_to_another(ordered):
    ordered.send_line("XGROUP CFGSET s g VISIBILITY 50")
    assert read(ordered, "w1", 1) == [1]
    ordered.advance(49)
    assert read(ordered, "w2") == [2, 5]
    ordered.advance(1)
    assert read(ordered, "w2") == [1, 3, 4]
    ordered.advance(50)
    assert read(ordered, "w3") == [2, 5, 1, 3, 4]


def test_one_who_waits_is_woken_when_the_value_is_free(ordered):
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    ordered.send_line("XADD s 6-0 customer bob")
    waiter = ordered.client()
    ordered.run(waiter.client, b"XREADGROUP GROUP g w2 BLOCK 0 STREAMS s >".split())
    assert waiter.reply() is NOTHING
    ordered.send_line("XACK s g 1-0")
    assert waiter.reply() is NOTHING
    ordered.send_line("XACK s g 2-0")
    assert given(waiter.reply()) == [6]


@pytest.mark.parametrize(
    "line",
    [
        "XACK s g 1-0",
        "XACK s g UPTO 1-0",
        "XACKDEL s g IDS 1 1-0",
        "XDELEX s DELREF IDS 1 1-0",
        "XTRIM s MAXLEN 4 DELREF",
        "XGROUP DELCONSUMER s g w1",
        "XGROUP DELCONSUMER s g w1 HANDOVER",
        "XNACK s g SILENT IDS 1 1-0",
        "XGROUP SETID s g 5-0 CLEAR",
    ],
)
def test_whatever_takes_an_entry_from_its_consumer_frees_the_value(ordered, line):
    """A count that only acknowledgements lowered would never come down again (Pulsar's PIP-379)."""
    assert read(ordered, "w1", 1) == [1]
    waiter = ordered.client()
    ordered.run(waiter.client, b"XREADGROUP GROUP g w2 BLOCK 0 STREAMS s >".split())
    assert given(waiter.reply()) == [2, 5]
    ordered.run(waiter.client, b"XREADGROUP GROUP g w2 BLOCK 0 STREAMS s >".split())
    assert waiter.reply() is NOTHING
    ordered.send_line(line)
    if "CLEAR" in line:
        ordered.send_line("XADD s 6-0 customer ann")
        assert given(waiter.reply()) == [6]
    else:
        again = [1] if "HANDOVER" in line or "SILENT" in line else []
        assert given(waiter.reply()) == [*again, 3, 4]


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("by", ["XNACK", "XCLAIM", "HANDOVER", "visibility"])
def test_a_value_that_comes_back_to_its_first_owner_goes_on(ordered, by, times):
    """In Pulsar (24736) it stayed blocked: the count of its first owner never came down."""
    if by == "visibility":
        ordered.send_line("XGROUP CFGSET s g VISIBILITY 50")
    assert read(ordered, "w0") == [1, 2, 3, 4, 5]
    ordered.send_line("XACK s g 2-0 3-0 4-0 5-0")
    ordered.send_line("XADD s 6-0 customer ann")
    owner = "w0"
    for other in ("w1", "w0") * times:
        if by == "XNACK":
            ordered.send_line("XNACK s g SILENT IDS 1 1-0")
        elif by == "HANDOVER":
            ordered.send_line(f"XGROUP DELCONSUMER s g {owner} HANDOVER")
        elif by == "visibility":
            ordered.advance(50)
        if by == "XCLAIM":
            assert ordered.send_line(f"XCLAIM s g {other} 0 1-0 JUSTID") == [b"1-0"]
        else:
            assert read(ordered, other, 1) == [1]
        owner = other
    assert read(ordered, "w1") == []
    assert ordered.send_line("XACK s g 1-0") == 1
    assert read(ordered, "w1") == [6]
    assert ordered.send_line("XINFO ORDER s g")[3] == 1


def test_an_entry_that_expires_frees_its_value(ordered):
    """What skips entries has to tell those who wait, too (Pulsar 8292)."""
    ordered.send_line("XADD s EXPIRE 50 6-0 customer dan")
    ordered.send_line("XADD s 7-0 customer dan")
    assert read(ordered, "w1", 5) == [1, 2, 3, 4, 5]
    assert read(ordered, "w1", 1) == [6]
    waiter = ordered.client()
    ordered.run(waiter.client, b"XREADGROUP GROUP g w2 BLOCK 0 STREAMS s >".split())
    assert waiter.reply() is NOTHING
    ordered.advance(50)
    assert given(waiter.reply()) == [7]


def test_an_entry_that_was_deleted_while_it_waited_is_passed(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    assert read(ordered, "w2") == [5]
    ordered.send_line("XDEL s 3-0")
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w3") == [4]
    assert [row[0] for row in ordered.send_line("XPENDING s g - + 10")] == [b"2-0", b"4-0", b"5-0"]


def test_a_dead_letter_lets_the_rest_of_its_value_go_on(ordered):
    ordered.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM VISIBILITY 50")
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    ordered.advance(50)
    assert read(ordered, "w3") == [3, 4, 5]
    assert [row[1][1] for row in ordered.send_line("XRANGE dead - +")] == [b"ann", b"bob"]


def test_all_dead_of_a_value_move_at_once(ordered):
    """A waiter is not run again for each: MAXDELIVERIES may come when thousands are released."""
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5]
    for number in (1, 3, 4):
        ordered.send_line(f"XNACK s g FAIL IDS 1 {number}-0 RETRYCOUNT 5")
    ordered.send_line("XGROUP CFGSET s g MAXDELIVERIES 2 DEADLETTER dead MKSTREAM")
    ordered.send_line("XADD s 6-0 customer ann")
    assert read(ordered, "w3") == []
    assert ordered.send_line("XLEN dead") == 3
    assert read(ordered, "w3") == [6]


def test_dead_letters_that_cannot_move_hold_their_value_back(ordered):
    ordered.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM")
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    ordered.send_line("DEL dead")
    ordered.send_line("SET dead text")
    ordered.send_line("XNACK s g FAIL IDS 1 1-0")
    waiter = ordered.client()
    ordered.run(waiter.client, b"XREADGROUP GROUP g w3 BLOCK 0 STREAMS s >".split())
    assert given(waiter.reply()) == [5]
    ordered.run(waiter.client, b"XREADGROUP GROUP g w3 BLOCK 0 STREAMS s >".split())
    assert waiter.reply() is NOTHING
    ordered.send_line("DEL dead")
    ordered.send_line("XACK s g 2-0")
    assert given(waiter.reply()) == [3, 4]


def test_nobody_is_woken_again_and_again_by_what_cannot_move(ordered):
    ordered.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM VISIBILITY 5")
    assert read(ordered, "w1", 3) == [1, 2, 3]
    assert read(ordered, "w1") == [5]
    ordered.send_line("DEL dead")
    ordered.send_line("SET dead text")
    waiter = ordered.client()
    ordered.run(waiter.client, b"XREADGROUP GROUP g w3 BLOCK 0 STREAMS s >".split())
    assert waiter.client.waiter.block.wake_ms == 5
    ordered.advance(5)
    assert waiter.client.waiter.block.wake_ms == 1000, "it sees then whether they can move"


def test_claims_keep_the_order(ordered):
    assert read(ordered, "w1", 4) == [1, 2, 3, 4]
    claim = "XCLAIM s g w2 0 {} JUSTID"
    assert ordered.send_line(claim.format("3-0")) == [], "1-0 comes before it, and w1 has that"
    assert ordered.send_line(claim.format("1-0")) == [b"1-0"]
    owners = [row[1] for row in ordered.send_line("XPENDING s g - + 10")]
    assert owners == [b"w2", b"w1", b"", b""]
    assert ordered.send_line("XAUTOCLAIM s g w2 0 0 JUSTID")[1] == [b"1-0", b"2-0", b"3-0", b"4-0"]


def test_an_explicit_claim_by_time_keeps_the_order(ordered):
    assert read(ordered, "w1", 1) == [1]
    ordered.advance(30)
    assert read(ordered, "w2", 1) == [2]
    assert read(ordered, "w3", 10, "CLAIM 30") == [1, 3, 4, 5]


def test_a_group_that_was_set_back_gives_nothing_twice(ordered):
    assert read(ordered, "w1", 2) == [1, 2]
    assert read(ordered, "w2") == [5]
    ordered.send_line("XGROUP SETID s g 0")
    assert read(ordered, "w2") == []
    ordered.send_line("XACK s g 1-0 2-0 5-0")
    assert read(ordered, "w2") == [3, 4]
    ordered.send_line("XGROUP SETID s g 0")
    assert read(ordered, "w3") == [2, 5]


def test_a_group_that_had_given_all_and_was_set_back_gives_nothing_twice(ordered):
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    assert read(ordered, "w1") == []
    ordered.send_line("XGROUP SETID s g 0")
    assert read(ordered, "w2") == []
    assert {row[1] for row in ordered.send_line("XPENDING s g - + 9")} == {b"w1"}
    ordered.send_line("XACK s g 1-0 2-0 3-0 4-0 5-0")
    assert read(ordered, "w2") == []


@pytest.mark.parametrize(
    "line", ["XCLAIM s g w1 0 5-0 FORCE JUSTID", "XNACK s g SILENT IDS 1 5-0 FORCE"]
)
def test_what_is_made_pending_unread_is_not_given_as_new(ordered, line):
    """An order that has seen all it needs looks again."""
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w1", 1) == [2]
    ordered.send_line(line)
    assert read(ordered, "w2").count(5) <= 1
    assert sorted(row[0] for row in ordered.send_line("XPENDING s g - + 9")) == [
        b"1-0", b"2-0", b"3-0", b"4-0", b"5-0",
    ]  # fmt: skip
    assert read(ordered, "w2") == []


def colliding_with(number: int) -> bytes:
    """A value that XXH3 with its usual secret hashes to what stands for *number*."""
    first = int.from_bytes(SECRET[24:32], "little") ^ int.from_bytes(SECRET[32:40], "little")
    mask = int.from_bytes(SECRET[40:48], "little") ^ int.from_bytes(SECRET[48:56], "little")
    return first.to_bytes(8, "little") + (number - 16 ^ mask).to_bytes(8, "little")


def avalanche(number: int) -> int:
    mixed = (number ^ number >> 37) * 0x165667919E3779F9 & 2**64 - 1
    return mixed ^ mixed >> 32


VALUES = (
    b"", b"a", b"ab", b"abc", b"abcd", b"a" * 16, b"a" * 17, b"a" * 240, b"a" * 241, b"a" * 242,
    b"7", b"07", b"-7", b"9223372036854775807", b"9223372036854775808", b"12 apples",
    colliding_with(1234567), b"1234567",
)  # fmt: skip


def test_each_value_has_its_own_lane(ordered):
    read(ordered, "w1")
    assert xxh3.hashed(VALUES[-2]) == avalanche(int(VALUES[-1]))
    for number, value in enumerate(VALUES * 2, 11):
        ordered.send("XADD", "s", f"{number}-0", "customer", value)
    first = list(range(11, 11 + len(VALUES)))
    assert [read(ordered, "w1", 1) for _ in VALUES] == [[number] for number in first]
    assert read(ordered, "w2") == []
    ordered.send("XACK", "s", "g", *(f"{number}-0" for number in first))
    assert [number - len(VALUES) for number in read(ordered, "w2")] == first


def test_the_order_ends_and_nothing_is_lost(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5]
    ordered.send("XGROUP", "CFGSET", "s", "g", "ORDERBY", "")
    shown = ordered.send_line("XGROUP CFGGET s g")
    assert shown[shown.index(b"released") + 1] == b"yes"
    assert read(ordered, "w3") == [3, 4]


def test_another_field(ordered):
    ordered.send_line("XADD s 6-0 customer ann place here")
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5]
    ordered.send_line("XGROUP CFGSET s g ORDERBY place")
    ordered.send_line("XADD s 7-0 customer ann place here")
    assert read(ordered, "w2") == [3, 4, 6, 7]
    assert read(ordered, "w3") == []


def test_with_a_limit_of_the_group_what_waits_does_not_count(ordered):
    ordered.send_line("XGROUP CFGSET s g MAXPENDING 2")
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    assert read(ordered, "w2") == []
    ordered.send_line("XACK s g 2-0")
    assert read(ordered, "w2") == [5]
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w2") == [3]


def test_where_and_order(ordered):
    where = "WHERE customer 1 cem"
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 1) == [2]
    assert read(ordered, "w2", 1) == [5]
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w3", 1, where) == []
    assert read(ordered, "w3", 1) == [3]


def test_without_acknowledgements_the_order_is_that_of_delivery(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2", 10, "NOACK") == [2, 5]
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w2", 10, "NOACK") == [3, 4]


def test_who_waits_for_whom(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5]
    ordered.send_line("XNACK s g FAIL IDS 1 2-0 DELAY 100")
    bob_until = ordered.now_ms + 100
    ann = [
        b"value", b"ann", b"first-id", b"1-0", b"waiting", 2, b"delivered", 1, b"consumer", b"w1",
        b"held-until", None,
    ]  # fmt: skip
    bob = [
        b"value", b"bob", b"first-id", b"2-0", b"waiting", 1, b"delivered", 0, b"consumer", None,
        b"held-until", bob_until,
    ]  # fmt: skip
    report = [b"field", b"customer", b"values", 3, b"waiting", 3, b"waiting-values", 2, b"lanes"]
    assert ordered.send_line("XINFO ORDER s g") == [*report, [ann, bob]]
    assert ordered.send_line("XINFO ORDER s g COUNT 1") == [*report, [ann]]


def test_a_value_whose_entries_were_deleted_is_not_known(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5]
    ordered.send_line("XDEL s 1-0")
    assert ordered.send_line("XINFO ORDER s g")[-1][0][1] == b"ann", "others of it are there"
    ordered.send_line("XDEL s 3-0 4-0")
    assert ordered.send_line("XINFO ORDER s g")[-1][0][1] is None


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("XINFO ORDER s h", "-ERR the group has no ORDERBY"),
        ("XINFO ORDER s x", "-NOGROUP No such key 's' or consumer group 'x'"),
        ("XINFO ORDER t g", "-NOGROUP No such key 't' or consumer group 'g'"),
        ("XINFO ORDER s g COUNT", "-ERR syntax error"),
        ("XINFO ORDER s g COUNT 0", "-ERR COUNT must be > 0"),
        ("XINFO ORDER s g FEW 1", "-ERR syntax error"),
        ("XGROUP CFGSET s g MAXPENDINGPERVALUE x",
         "-ERR MAXPENDINGPERVALUE takes a number from 0 to 9007199254740992"),
        ("XGROUP CFGSET s g RELEASED maybe", "-ERR RELEASED takes yes or no"),
    ],
)  # fmt: skip
def test_bad_input(ordered, line, error):
    ordered.send_line("XGROUP CREATE s h 0")
    assert ordered.send_line(line) == error


class TestLog:
    def test_what_waits_is_logged_as_released_with_its_time(self, ordered):
        ordered.logged()
        assert read(ordered, "w1", 1) == [1]
        ordered.logged()
        assert read(ordered, "w2", 1) == [2]
        assert read(ordered, "w2", 1) == [5]
        logged = [line for line in ordered.logged() if b"XNACK" in line]
        wait = b"XNACK s g FAIL IDS 2 3-0 4-0 RETRYCOUNT 0 FORCE"
        assert logged == [wait, wait + b" AT 9007199254740992"]

    def test_the_end_of_an_order_is_logged_with_what_it_releases(self, ordered):
        ordered.send_line("XGROUP CFGSET s g RELEASED yes")
        assert read(ordered, "w1", 1) == [1]
        assert read(ordered, "w2") == [2, 5]
        ordered.logged()
        ordered.send("XGROUP", "CFGSET", "s", "g", "ORDERBY", "")
        assert ordered.logged() == [
            b"XGROUP CFGSET s g ORDERBY  RELEASED yes",
            b"XNACK s g FAIL IDS 2 3-0 4-0 RETRYCOUNT 0 FORCE",
        ]

    def test_a_copy_that_replays_the_log_goes_on_in_order(self, ordered, make_server):
        copy = make_server()
        assert read(ordered, "w1", 1) == [1]
        assert read(ordered, "w2") == [2, 5]
        ordered.send_line("XACK s g 1-0")
        assert read(ordered, "w1", 1) == [3]
        for line in ordered.logged():
            copy.send_line(line.decode())
        shown = "XPENDING s g - + 10"
        assert copy.send_line(shown) == ordered.send_line(shown)
        assert copy.send_line("XINFO ORDER s g") == ordered.send_line("XINFO ORDER s g")
        assert read(copy, "w2") == []
        copy.send_line("XACK s g 3-0")
        assert read(copy, "w2") == [4]


def test_a_copy_by_dump_goes_on_in_order(ordered):
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5]
    assert ordered.send("RESTORE", "copy", "0", ordered.send("DUMP", "s")) == b"OK"
    assert ordered.send_line("XINFO ORDER copy g") == ordered.send_line("XINFO ORDER s g")
    assert ordered.send_line("DEL s") == 1
    assert ordered.send_line("RENAME copy s") == b"OK"
    assert read(ordered, "w2") == []
    ordered.send_line("XACK s g 1-0")
    assert read(ordered, "w2") == [3, 4]


def test_a_long_value_is_known_by_its_digest(ordered):
    """So that a field of a megabyte is not kept twice."""
    long, other = b"x" * 100_000 + b"1", b"x" * 100_000 + b"2"
    assert read(ordered, "w1") == [1, 2, 3, 4, 5]
    for number, value in ((6, long), (7, other), (8, long), (9, other)):
        ordered.send("XADD", "s", f"{number}-0", "customer", value)
    assert read(ordered, "w1", 1) == [6]
    assert read(ordered, "w2", 1) == [7]
    assert read(ordered, "w3") == []
    lanes = ordered.send_line("XINFO ORDER s g")[-1]
    names = [lane[1] for lane in lanes]
    assert [name[:48] for name in names] == [b"x" * 47 + b"#"] * 2
    assert len(set(names)) == 2
    ordered.send_line("XACK s g 7-0")
    assert read(ordered, "w3") == [9]


def test_the_memory_of_lanes_is_given_back(ordered):
    before = used_at_start()
    assert read(ordered, "w1", 1) == [1]
    for number in range(6, 2000):
        ordered.send_line(f"XADD s {number}-0 customer ann")
    assert read(ordered, "w2") == [2, 5]
    assert ordered.send_line("DEL s") == 1
    assert allocation.used_bytes() <= before


def test_what_is_forced_is_refused_if_another_consumer_has_what_is_before_it(ordered):
    """Regression: XCLAIM FORCE of an entry that was not pending ended the checks of all others."""
    assert read(ordered, "w1", 1) == [1]
    assert read(ordered, "w2") == [2, 5], "3 and 4 are parked"
    ordered.send_line("XADD s 6-0 customer cem")
    ordered.send_line("XADD s 7-0 customer ann")
    ordered.send_line("XADD s 8-0")
    assert ordered.send_line("XACK s g 5-0") == 1
    assert ordered.send_line("XCLAIM s g w3 0 5-0 3-0 FORCE JUSTID") == [b"5-0"]
    assert ordered.send_line("XCLAIM s g w3 0 7-0 6-0 FORCE JUSTID") == [b"6-0"]
    assert ordered.send_line("XPENDING s g 7-0 7-0 10") == []
    assert ordered.send_line("XACK s g 1-0") == 1
    assert read(ordered, "w4") == [3, 4, 7], "6 is pending already"


def test_what_is_forced_has_its_place_in_its_lane(ordered):
    """One that was acknowledged goes before those that are parked; others give back theirs."""
    assert read(ordered, "w1", 4) == [1, 2, 3, 4]
    assert ordered.send_line("XACK s g 1-0") == 1
    assert ordered.send_line("XCLAIM s g w2 0 1-0 FORCE JUSTID") == [b"1-0"]
    rows = ordered.send_line("XPENDING s g - + 10 w1")
    assert [row[0] for row in rows] == [b"2-0"], "3 and 4 come after 1, which w2 has"
    assert ordered.send_line("XACK s g 1-0") == 1
    assert read(ordered, "w3") == [3, 4, 5]


def test_a_release_by_force_leaves_the_order_of_the_others(ordered):
    """Regression: XNACK FORCE of one that was not pending hid what came after another one."""
    assert read(ordered, "w1", 4) == [1, 2, 3, 4]
    assert ordered.send_line("XACK s g 2-0") == 1
    assert ordered.send_line("XNACK s g FAIL IDS 2 2-0 1-0 FORCE") == 2
    assert ordered.send_line("XPENDING s g - + 10 w1") == []
    assert read(ordered, "w2") == [2, 1, 3, 4, 5]


def test_what_is_claimed_before_it_was_read_holds_its_lane(ordered):
    assert ordered.send_line("XCLAIM s g w1 0 4-0 FORCE JUSTID") == [b"4-0"]
    assert read(ordered, "w2") == [2, 5]
    assert ordered.send_line("XACK s g 4-0") == 1
    assert read(ordered, "w3") == [1, 3]


def test_what_is_released_before_it_was_read_is_given_once(ordered):
    assert ordered.send_line("XNACK s g FAIL IDS 1 4-0 FORCE") == 1
    assert sorted(read(ordered, "w2")) == [1, 2, 3, 4, 5]
    assert read(ordered, "w3") == []


def test_many_lanes_whose_entries_have_gone_are_passed_at_once(ordered):
    """Regression: each of them had the ids of all others copied; and looked for, before that."""
    ordered.send_line("XTRIM s MAXLEN 0")
    for _ in range(2):
        for number in range(2000):
            ordered.send_line(f"XADD s * customer {number}")
    assert len(ordered.send_line("XREADGROUP GROUP g w1 COUNT 2000 STREAMS s >")[0][1]) == 2000
    assert ordered.send_line("XREADGROUP GROUP g w2 STREAMS s >") is None, "the others are parked"
    ordered.send_line("XTRIM s MAXLEN 0")
    pending = ordered.send_line("XPENDING s g - + 2000 w1")
    ordered.send("XACK", "s", "g", *[row[0] for row in pending])
    ordered.send_line("XADD s * customer new")
    assert len(ordered.send_line("XREADGROUP GROUP g w2 COUNT 1 STREAMS s >")[0][1]) == 1
    assert ordered.send_line("XPENDING s g")[0] == 1


def test_a_claim_of_what_was_parked_tells_no_negative_idle_time(ordered):
    assert ordered.send_line("XREADGROUP GROUP g w1 COUNT 1 STREAMS s >")
    assert ordered.send_line("XREADGROUP GROUP g w2 STREAMS s >")
    ordered.advance(50)
    reply = ordered.send_line("XREADGROUP GROUP g w2 CLAIM 20 STREAMS s >")
    times = [entry[2] for entry in reply[0][1]]
    assert times
    assert all(0 <= time_ms <= ordered.now_ms for time_ms in times)
