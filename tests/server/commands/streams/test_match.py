"""MATCH of XREAD and XREADGROUP: all streams whose names match a pattern, in one call."""

from __future__ import annotations

import pytest

from server.commands.streams.reading import stream_patterns, stream_request
from server.parts.waiting import pattern_reads
from server.process.timers import NoTimers
from storage import allocation
from tests.server.conftest import NOTHING
from tests.used_memory import used_at_start

READ = "XREADGROUP GROUP g c {} MATCH t:* >"


def found(reply):
    """For each stream in a reply, the ms of the ids of its entries."""
    return {
        row[0].decode(): [int(entry[0].split(b"-")[0]) for entry in row[1]] for row in reply or []
    }


def seen_ms_ago(server, key):
    """When the only consumer of the group g was last seen."""
    fields = server.send_line(f"XINFO CONSUMERS {key} g")[0]
    return fields[fields.index(b"idle") + 1]


@pytest.fixture
def given(server):
    """The streams t:a (1-0, 2-0), t:b (3-0) and u (4-0); t:list is a list."""
    for line in ("t:a 1-0", "t:a 2-0", "t:b 3-0", "u 4-0"):
        server.send_line(f"XADD {line} f v")
    server.send_line("RPUSH t:list x")
    server.logged()
    return server


class TestXreadgroup:
    def test_only_streams_with_the_group_are_read(self, given):
        given.send_line("XGROUP CREATE t:b g 0")
        given.send_line("XGROUP CREATE u g 0")
        assert found(given.send_line(READ.format("COUNT 9"))) == {"t:b": [3]}
        assert given.send_line(READ.format("")) is None

    def test_mkgroup_makes_it_from_the_first_entry_on(self, given):
        assert found(given.send_line(READ.format("MKGROUP"))) == {"t:a": [1, 2], "t:b": [3]}
        assert given.send_line("XPENDING t:a g")[0] == 2
        assert given.send_line("XINFO GROUPS u") == []
        lines = [line for line in given.logged() if b"XGROUP CREATE " in line]
        assert sorted(lines) == [b"XGROUP CREATE t:a g 0", b"XGROUP CREATE t:b g 0"]

    def test_several_patterns(self, given):
        reply = given.send_line("XREADGROUP GROUP g c MKGROUP NOACK MATCH t:[a] u nothing* >")
        assert found(reply) == {"t:a": [1, 2], "u": [4]}

    def test_a_pattern_may_be_a_word_of_the_command(self, server):
        server.send_line("XADD STREAMS 1-0 f v")
        reply = server.send_line("XREADGROUP GROUP g c MKGROUP MATCH MATCH STREAMS BLOCK >")
        assert found(reply) == {"STREAMS": [1]}
        assert str(server.send_line("COMMAND GETKEYS XREAD MATCH STREAMS a b 0")).startswith("-ERR")

    @pytest.mark.parametrize(
        "line",
        [
            "XREADGROUP GROUP g c MATCH >",
            "XREADGROUP GROUP g c MATCH t:* 0",
            "XREADGROUP GROUP g c MATCH t:* $",
            "XREADGROUP GROUP g c PRIORITY MATCH t:* >",
            "XREADGROUP GROUP g c MKGROUP STREAMS t:a >",
            "XREAD MATCH t:*",
            "XREAD MKGROUP MATCH t:* 0",
            "XREAD PRIORITY MATCH t:* 0",
        ],
    )
    def test_what_makes_no_sense_is_refused(self, given, line):
        assert given.send_line(line).startswith("-ERR ")

    @pytest.mark.parametrize("call", ["XREADGROUP GROUP g c MATCH {} >", "XREAD MATCH {} 0"])
    def test_patterns_are_limited(self, given, call):
        """Once, a client that asked for 50,000 of them held up all who made keys, for a minute."""
        given.send_line("XGROUP CREATE t:a g 0")
        most, longest = stream_request.MOST_PATTERNS, stream_request.LONGEST_PATTERN
        patterns = ["t:a", *["x" * longest] * (most - 1)]
        assert found(given.send_line(call.format(" ".join(patterns)))) == {"t:a": [1, 2]}
        refusals = [
            given.send_line(call.format(" ".join([*patterns, "t:b"]))),
            given.send_line(call.format("t:a " + "x" * (longest + 1))),
        ]
        assert refusals == [
            "-ERR MATCH must have at most 100 patterns",
            "-ERR a pattern of MATCH must have at most 1024 bytes",
        ]

    def test_resp3_clients_get_a_map(self, given):
        given.send_line("HELLO 3")
        raw = given.owner.raw(*b"XREADGROUP GROUP g c NOFIELDS MKGROUP MATCH t:b >".split())
        assert raw == b"%1\r\n$3\r\nt:b\r\n*1\r\n$3\r\n3-0\r\n"

    def test_a_call_goes_on_where_the_last_one_stopped(self, given):
        for ms in range(10, 20):
            given.send_line(f"XADD t:a {ms}-0 f v")
        given.send_line("XADD t:c 30-0 f v")
        read = READ.format("COUNT 1 MAXCOUNT 1 MKGROUP")
        order = [next(iter(found(given.send_line(read)))) for _ in range(6)]
        assert sorted(order[:3]) == ["t:a", "t:b", "t:c"], "a busy stream does not starve others"
        assert order[3:] == ["t:a"] * 3

    def test_a_reply_without_maxcount_ends_when_it_is_long(self, server, monkeypatch):
        """Once, it had what all streams have, in one go."""
        monkeypatch.setattr(stream_patterns, "ENOUGH", 3)
        for number in range(10):
            server.send_line(f"XADD t:{number} 1-0 f v")
            server.send_line(f"XADD t:{number} 2-0 f v")
        seen: dict[str, list[int]] = {}
        while reply := found(server.send_line(READ.format("MKGROUP"))):
            assert len(reply) == 2
            assert not seen.keys() & reply.keys()
            seen |= reply
        assert len(seen) == 10
        server.send_line("XGROUP SETID t:1 g 0")
        assert len(found(server.send_line(READ.format("COUNT 1")))) == 1
        for number in range(10):
            server.send_line(f"XADD t:{number} 3-0 f v")
        assert len(found(server.send_line(READ.format("MAXCOUNT 100")))) == 10

    def test_new_entries_and_new_streams_are_found(self, given):
        given.send_line(READ.format("MKGROUP"))
        given.send_line("XADD t:b 5-0 f v")
        given.send_line("XADD t:new 6-0 f v")
        given.send_line("XADD v 7-0 f v")
        assert found(given.send_line(READ.format("MKGROUP"))) == {"t:b": [5], "t:new": [6]}

    def test_a_group_that_is_made_or_set_back_is_noticed(self, given):
        assert given.send_line(READ.format("")) is None
        given.send_line("XGROUP CREATE t:a g 1-0")
        assert found(given.send_line(READ.format(""))) == {"t:a": [2]}
        given.send_line("XGROUP SETID t:a g 0")
        assert found(given.send_line(READ.format(""))) == {"t:a": [1, 2]}
        given.send_line("XGROUP DESTROY t:a g")
        assert given.send_line(READ.format("")) is None

    @pytest.mark.parametrize(
        ("steps", "wanted"),
        [
            ("DEL t:a", {}),
            ("SET t:a text", {}),
            ("RENAME t:a x", {}),
            ("RENAME u t:u", {"t:u": [4]}),
            ("COPY u t:u", {"t:u": [4]}),
            ("FLUSHALL/XADD t:z 9-0 f v", {"t:z": [9]}),
            ("SWAPDB 0 1", {}),
            ("SWAPDB 0 1/SWAPDB 0 1/XADD t:z 9-0 f v", {"t:z": [9]}),
            ("DEL t:a/XADD t:a 9-0 f v", {"t:a": [9]}),
            ("PEXPIREAT t:a 1/XADD t:a 9-0 f v", {"t:a": [9]}),
            ("MOVE u 1/SELECT 1/RENAME u t:u/MOVE t:u 0/SELECT 0", {"t:u": [4]}),
            ("MULTI/XADD t:z 9-0 f v/RENAME t:z t:y/EXEC", {"t:y": [9]}),
            ("SET t:a text/DEL t:a/XADD t:a 9-0 f v", {"t:a": [9]}),
        ],
    )
    def test_keys_come_and_go(self, given, steps, wanted):
        given.send_line(READ.format("MKGROUP"))
        for line in steps.split("/"):
            given.send_line(line)
        assert found(given.send_line(READ.format("MKGROUP"))) == wanted

    def test_restored_streams_are_found(self, given):
        given.send_line(READ.format("MKGROUP"))
        given.send("RESTORE", "t:r", 0, given.send_line("DUMP u"))
        assert found(given.send_line(READ.format("MKGROUP"))) == {"t:r": [4]}

    def test_transactions_and_scripts(self, given):
        given.send_line("MULTI")
        given.send_line(READ.format("MKGROUP BLOCK 0"))
        given.send_line(READ.format("BLOCK 0"))
        first, second = given.send_line("EXEC")
        assert found(first) == {"t:a": [1, 2], "t:b": [3]}
        assert second is None
        given.send_line("XADD t:b 5-0 f v")
        script = "return redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'MATCH', 't:*', '>')"
        assert found(given.send("EVAL", script, 0)) == {"t:b": [5]}

    def test_claims_and_conditions(self, given):
        given.send_line("XADD t:b 5-0 kind mail")
        given.send_line(READ.format("MKGROUP"))
        given.advance(100)
        line = "XREADGROUP GROUP g d CLAIM 50 NOFIELDS WHERE kind 1 mail MATCH t:* >"
        assert given.send_line(line) == [[b"t:b", [[b"5-0", 100, 1]]]]
        line = "XREADGROUP GROUP g d CLAIM 50 NOFIELDS MATCH t:* >"
        assert sorted(row[0] for row in given.send_line(line)) == [b"t:a", b"t:b"]

    def test_what_comes_again_by_a_policy(self, given):
        given.send_line(READ.format("MKGROUP"))
        given.send_line("XGROUP CFGSET t:a g VISIBILITY 50")
        assert given.send_line(READ.format("")) is None
        given.advance(60)
        assert found(given.send_line(READ.format(""))) == {"t:a": [1, 2]}

    def test_streams_that_have_nothing_by_their_policies_are_not_looked_at(self, given):
        for key in ("t:a", "t:b"):
            given.send_line(f"XGROUP CREATE {key} g 0")
            given.send_line(f"XGROUP CFGSET {key} g VISIBILITY 1000")
        given.send_line(READ.format(""))
        given.send_line(READ.format(""))  # each is looked at once after it has given something
        given.advance(100)
        given.send_line("XADD t:b 8-0 f v")
        assert found(given.send_line(READ.format(""))) == {"t:b": [8]}
        seen = {key: seen_ms_ago(given, key) for key in ("t:a", "t:b")}
        assert seen == {"t:a": 100, "t:b": 0}

    def test_noack_passes_a_limit_at_which_others_stop(self, given):
        given.send_line("XGROUP CREATE t:a g 0")
        given.send_line("XGROUP CFGSET t:a g MAXPENDING 1")
        assert found(given.send_line(READ.format(""))) == {"t:a": [1]}
        assert given.send_line(READ.format("")) is None
        assert found(given.send_line(READ.format("NOACK"))) == {"t:a": [2]}

    def test_what_had_no_room_in_a_reply_comes_with_the_next(self, given):
        """Once, that stream rested until something happened to it."""
        for key in ("t:a", "t:b"):
            given.send_line(f"XGROUP CREATE {key} g $")
            given.send_line(f"XGROUP CFGSET {key} g VISIBILITY 99999")
        given.send("XADD", "t:a", "10-0", "f", "x")
        given.send("XADD", "t:b", "10-0", "f", "x" * 100)
        line = READ.format("MAXSIZE 120")
        assert found(given.send_line(line)) | found(given.send_line(line)) == {
            "t:a": [10], "t:b": [10],
        }  # fmt: skip

    @pytest.mark.parametrize(
        "line", ["XAUTOCLAIM t:a g d 0 0", "XCLAIM t:a g d 0 1-0", "XACK t:a g 1-0"]
    )
    def test_a_deleted_entry_that_is_dropped_leaves_room(self, given, line):
        """Once, a claim that found only deleted entries told nobody."""
        given.send_line("XGROUP CREATE t:a g 0")
        given.send_line("XGROUP CFGSET t:a g MAXPENDING 1")
        given.send_line(READ.format(""))
        by_name, by_pattern = given.client(), given.client()
        by_name.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS t:a >")
        by_pattern.send_line(READ.format("BLOCK 0"))
        given.send_line("XDEL t:a 1-0")
        given.send_line(line)
        assert found(by_name.reply()) == {"t:a": [2]}
        assert by_pattern.reply() == NOTHING
        given.send_line("XACK t:a g 2-0")
        given.send_line("XADD t:a 8-0 f v")
        assert found(by_pattern.reply()) == {"t:a": [8]}

    def test_dead_entries_that_find_a_place_again(self, given):
        given.send_line("XGROUP CREATE t:a g 0")
        given.send_line("XADD dead 1-0 f v")
        line = "XGROUP CFGSET t:a g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER dead"
        assert given.send_line(line) == b"OK"
        given.send_line(READ.format(""))
        given.send_line("SET dead x")
        given.advance(60)
        assert given.send_line(READ.format("")) is None
        given.send_line("DEL dead")
        given.send_line("XADD dead 1-0 f v")
        given.advance(1000)
        given.send_line(READ.format(""))
        assert given.send_line("XLEN dead") == 3


def test_who_waits_looks_at_some_of_many_dead_entries(server):
    """None of them can be moved, so no time helps; but what comes after them may be of use."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.send_line("XADD dead 1-0 f v")
    for _ in range(10_001):
        server.send("XADD", "s", "*", "f", "v")
    server.send_line("XGROUP CFGSET s g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER dead")
    server.send_line("XREADGROUP GROUP g c NOFIELDS STREAMS s >")
    server.send_line("SET dead x")
    server.advance(60)
    waiter = server.client()
    waiter.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
    since_start_ms = 60
    assert waiter.client.waiter.wake_at_ms - since_start_ms == 1000


@pytest.mark.parametrize("source", ["STREAMS s", "MATCH s"])
def test_who_waits_is_not_woken_for_dead_lanes_that_cannot_be_moved(server, source):
    """Once, it looked again each ms, if more lanes began with a dead entry than one call moves."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.send_line("XADD dead 1-0 f v")
    server.send_line("XGROUP CFGSET s g ORDERBY c MAXDELIVERIES 1 DEADLETTER dead")
    for value in range(300):
        server.send("XADD", "s", "*", "c", value)
    [[_, entries]] = server.send_line("XREADGROUP GROUP g c STREAMS s >")
    server.send_line("SET dead x")
    server.send("XNACK", "s", "g", "FAIL", "IDS", 300, *[entry[0] for entry in entries])
    waiter = server.client()
    waiter.send_line(f"XREADGROUP GROUP g c BLOCK 0 {source} >")
    assert waiter.waits
    assert waiter.client.waiter.block.wake_ms == 1000


class TestManyStreams:
    """One call looks at some of them, and others are served before it goes on."""

    @pytest.fixture
    def many(self, given, monkeypatch):
        monkeypatch.setattr(stream_patterns, "LOOKS", 2)
        for n in range(9):
            given.send_line(f"XGROUP CREATE t:{n} g 0 MKSTREAM")
        given.send_line("XADD t:9 9-0 f v")
        return given

    @pytest.mark.parametrize("line", [READ.format(""), "XREAD MATCH t:? u 9-0"])
    def test_a_look_goes_on_in_later_turns(self, many, line):
        for key in ("t:a", "t:b", "t:9"):
            many.send_line(f"XGROUP CREATE {key} g $")
        many.call_soon, later = (lambda call: None), many.call_soon
        waiter = many.client()
        reply = waiter.send_line(line)
        turns = 0
        while reply == NOTHING and turns < 99:
            turns += 1
            many.turn(many.dispatcher.waits.read_on)
            reply = waiter.reply()
        many.call_soon = later
        assert reply is None
        assert turns >= 5
        assert not waiter.waits

    def test_a_stream_that_is_read_is_read_once(self, many):
        """Once, one to which something came before its turn was given twice in a reply."""
        many.call_soon, later = (lambda call: None), many.call_soon
        waiter = many.client()
        waiter.send_line("XREAD BLOCK 0 MATCH t:? 50-0")
        for n in range(9):
            many.send_line(f"XADD t:{n} 60-0 f v")
            many.turn(many.dispatcher.waits.read_on)
            if (reply := waiter.reply()) != NOTHING:
                names = [row[0] for row in reply]
                assert sorted(names) == sorted(set(names))
                waiter.send_line("XREAD BLOCK 0 MATCH t:? 50-0")
        many.call_soon = later

    def test_dead_entries_of_one_stream_hide_no_others_in_a_transaction(self, many):
        for key in ("t:a", "t:b"):
            many.send_line(f"XGROUP CREATE {key} g 0")
        many.send_line("XADD dead 1-0 f v")
        many.send_line("XGROUP CFGSET t:a g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER dead")
        many.send_line("XREADGROUP GROUP g c STREAMS t:a t:b > >")
        many.advance(60)
        many.send_line("XADD t:b 50-0 f v")
        for line in ("MULTI", READ.format("")):
            many.send_line(line)
        assert found(many.send_line("EXEC")[0]) == {"t:b": [50]}

    @pytest.mark.parametrize("disturbs", ["NOACK", "WHERE f 1 v", "CLAIM 1000"])
    def test_a_call_ends_however_often_others_look(self, many, disturbs):
        for n in range(9):
            many.send_line(f"XGROUP CFGSET t:{n} g VISIBILITY 9999")
        many.send_line("XGROUP CREATE t:9 g $")
        many.call_soon, later = (lambda call: None), many.call_soon
        reader = many.client()
        reply = reader.send_line(READ.format(""))
        turns = 0
        while reply == NOTHING and turns < 99:
            turns += 1
            many.client().send_line(READ.format(disturbs))
            many.turn(many.dispatcher.waits.read_on)
            reply = reader.reply()
        many.call_soon = later
        assert reply is None

    def test_what_is_added_meanwhile_is_found(self, many):
        many.call_soon, later = (lambda call: None), many.call_soon
        waiter = many.client()
        waiter.send_line(READ.format("BLOCK 0"))
        many.send_line("XADD t:0 1-0 f v")
        many.call_soon = later
        many.turn(many.dispatcher.waits.read_on)
        assert found(waiter.reply()) == {"t:0": [1]}

    @pytest.mark.parametrize("options", ["", "NOACK", "CLAIM 60000", "WHERE f 1 v"])
    @pytest.mark.parametrize("policy", ["VISIBILITY 9999", "CONSUMERTIMEOUT 9999", "PAUSED no"])
    def test_whatever_it_has_passed_already_is_seen_again(self, many, options, policy):
        """Once, what happened to a stream while a look went on was not looked at."""
        for n in range(9):
            many.send_line(f"XGROUP CFGSET t:{n} g {policy}")
        many.send_line("XGROUP CREATE t:9 g $")
        for n in range(9):
            many.call_soon, later = (lambda call: None), many.call_soon
            waiter = many.client()
            waiter.send_line(READ.format(f"{options} BLOCK 0"))
            many.send_line(f"XADD t:{n} {50 + n}-0 f v")
            many.call_soon = later
            many.turn(many.dispatcher.waits.read_on)
            assert found(waiter.reply()) == {f"t:{n}": [50 + n]}

    def test_readers_who_want_different_things_do_not_keep_each_other_busy(self, many):
        """Once, the one woke what the other had put to rest, for ever."""
        for n in range(9):
            many.send_line(f"XGROUP CFGSET t:{n} g VISIBILITY 9999")
        many.send_line("XGROUP CREATE t:9 g $")
        many.call_soon, later = (lambda call: None), many.call_soon
        for options in ("", "NOACK", "", "CLAIM 1000"):
            many.client().send_line(READ.format(f"{options} BLOCK 0"))
        many.send_line("XADD t:1 50-0 f v")
        many.call_soon = later
        many.turn(many.dispatcher.waits.read_on)  # which ends

    def test_it_ends_where_every_stream_has_to_be_looked_at_again(self, many):
        for n in range(9):
            many.send_line(f"XGROUP CFGSET t:{n} g CONSUMERTIMEOUT 5000")
        waiter = many.client()
        waiter.send_line(READ.format("BLOCK 0"))
        assert waiter.reply() == NOTHING  # and no turn is called for any more
        many.send_line("XADD t:5 1-0 f v")
        assert found(waiter.reply()) == {"t:5": [1]}

    def test_a_stream_of_which_where_has_seen_a_part_is_looked_at_again(self, many, monkeypatch):
        monkeypatch.setattr(stream_request, "LOOKS", 1)
        for ms in range(10, 16):
            many.send_line(f"XADD t:8 {ms}-0 f {ms}")
        line = "XREADGROUP GROUP g c WHERE f 1 15 MATCH t:8 t:9 >"
        assert found(many.send_line(line)) == {"t:8": [15]}

    def test_a_transaction_looks_at_all(self, many):
        many.send_line("XGROUP CREATE t:9 g 0")
        many.send_line("MULTI")
        many.send_line(READ.format(""))
        many.send_line("XREAD MATCH t:9 u 0")
        group, plain = many.send_line("EXEC")
        assert found(group) == {"t:9": [9]}
        assert found(plain) == {"t:9": [9], "u": [4]}


class TestWaiting:
    def test_it_is_served_when_any_of_them_has_something(self, given):
        given.send_line(READ.format("MKGROUP"))
        waiter = given.client()
        waiter.send_line(READ.format("BLOCK 0"))
        given.send_line("XADD u 8-0 f v")
        given.send_line("RPUSH t:list y")
        assert waiter.reply() == NOTHING
        given.send_line("XADD t:b 8-0 f v")
        assert found(waiter.reply()) == {"t:b": [8]}
        assert not waiter.waits

    def test_a_stream_that_is_made_meanwhile(self, server):
        waiter = server.client()
        waiter.send_line(READ.format("MKGROUP BLOCK 0"))
        server.send_line("XADD t:new 1-0 f v")
        assert found(waiter.reply()) == {"t:new": [1]}

    def test_a_group_that_another_reader_makes(self, given):
        """Once, who waits without MKGROUP was not told of a group that MKGROUP made."""
        waiter = given.client()
        waiter.send_line(READ.format("BLOCK 0"))
        reply = given.send_line("XREADGROUP GROUP g d COUNT 1 MKGROUP MATCH t:a >")
        assert found(reply) == {"t:a": [1]}
        assert found(waiter.reply()) == {"t:a": [2]}

    @pytest.mark.parametrize(
        "line",
        [READ.format("BLOCK 0"), "XREADGROUP GROUP g c BLOCK 0 STREAMS t:a t:b > >"],
        ids=["MATCH", "STREAMS"],
    )
    @pytest.mark.parametrize("reason", ["deliveries", "expired"])
    @pytest.mark.parametrize(("source", "target"), [("t:a", "t:b"), ("t:b", "t:a")])
    def test_dead_letters_in_a_stream_that_was_looked_at(self, given, line, reason, source, target):
        """Once, they were left until something else came to it."""
        given.send_line(f"XGROUP CREATE {target} g $")
        given.send_line(f"XGROUP CREATE {source} g 0")
        given.send_line(
            f"XGROUP CFGSET {source} g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER {target}"
        )
        given.send_line(f"XREADGROUP GROUP g c STREAMS {source} >")
        if reason == "expired":
            given.send_line(f"XEXPIREAT {source} {given.now_ms + 55} 1-0 2-0 3-0")
            given.state.agenda.timers = NoTimers()
        given.advance(60)
        waiter = given.client()
        [[name, letters]] = waiter.send_line(line)
        assert name == target.encode()
        assert {fields[-1] for _, fields in letters} == {reason.encode()}
        assert not waiter.waits

    def test_the_first_that_came_is_served_first(self, server):
        waiters = [server.client() for _ in range(3)]
        for at, waiter in enumerate(waiters):
            waiter.send_line(f"XREADGROUP GROUP g c{at} COUNT 1 MKGROUP BLOCK 0 MATCH t:* >")
        for ms in (1, 2, 3):
            server.send_line(f"XADD t:{ms} {ms}-0 f v")
            assert found(waiters[ms - 1].reply()) == {f"t:{ms}": [ms]}
        assert server.state.blocking.waiting == 0

    def test_its_time_is_over(self, server):
        waiter = server.client()
        waiter.send_line(READ.format("BLOCK 10"))
        server.advance(10)
        assert waiter.reply() is None
        assert server.state.blocking.waiting == 0

    def test_it_waits_for_what_comes_again(self, given):
        given.send_line(READ.format("MKGROUP"))
        given.send_line("XGROUP CFGSET t:b g VISIBILITY 50")
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g d BLOCK 0 MATCH t:* >")
        given.advance(60)
        assert found(waiter.reply()) == {"t:b": [3]}

    def test_it_is_served_when_a_limit_leaves_room(self, given):
        given.send_line("XGROUP CREATE t:a g 0")
        given.send_line("XGROUP CFGSET t:a g MAXPENDING 1")
        given.send_line(READ.format(""))
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g d BLOCK 0 MATCH t:* >")
        assert waiter.reply() == NOTHING
        given.send_line("XACK t:a g 1-0")
        assert found(waiter.reply()) == {"t:a": [2]}

    def test_a_policy_that_is_set_meanwhile(self, given):
        given.send_line(READ.format("MKGROUP"))
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g d BLOCK 0 MATCH t:* >")
        given.send_line("XGROUP CFGSET t:b g VISIBILITY 50")
        given.advance(60)
        assert found(waiter.reply()) == {"t:b": [3]}

    def test_flushed_and_swapped_databases(self, given):
        given.send_line(READ.format("MKGROUP"))
        waiter = given.client()
        waiter.send_line(READ.format("MKGROUP BLOCK 0"))
        given.send_line("SELECT 1")
        given.send_line("XADD t:x 1-0 f v")
        given.send_line("SWAPDB 0 1")
        assert found(waiter.reply()) == {"t:x": [1]}
        waiter.send_line(READ.format("MKGROUP BLOCK 0"))
        given.send_line("FLUSHALL")
        given.send_line("SELECT 0")
        given.send_line("XADD t:x 1-0 f v")
        assert found(waiter.reply()) == {"t:x": [1]}

    def test_it_passes_what_it_does_not_want(self, given):
        given.send_line(READ.format("MKGROUP"))
        waiter = given.client()
        waiter.send_line("XREADGROUP GROUP g d BLOCK 0 WHERE f 1 w MATCH t:* >")
        given.send_line("XADD t:a 8-0 f v")
        assert waiter.reply() == NOTHING
        given.send_line("XADD t:b 9-0 f w")
        assert found(waiter.reply()) == {"t:b": [9]}
        assert given.send_line(READ.format("")) is None

    def test_an_active_consumer_that_waits_is_not_silent(self, given):
        given.send_line("XGROUP CREATE t:a g 0")
        given.send_line("XGROUP CFGSET t:a g ACTIVE 1 TIMEOUT 1000")
        given.send_line(READ.format("NOACK"))
        waiter = given.client()
        waiter.send_line(READ.format("BLOCK 0"))
        given.advance(5000)
        assert given.send_line("XREADGROUP GROUP g other STREAMS t:a >") is None
        given.send_line("XADD t:a 9-0 f v")
        assert found(waiter.reply()) == {"t:a": [9]}

    def test_readers_leave_and_end(self, given):
        waiters = [given.client() for _ in range(2)]
        for waiter in waiters:
            waiter.send_line(READ.format("BLOCK 0"))
        waiters[0].leave()
        given.send_line(f"CLIENT UNBLOCK {waiters[1].client.id}")
        assert waiters[1].reply() is None
        assert given.state.blocking.waiting == 0


class TestXread:
    def test_one_id_is_for_all(self, given):
        assert found(given.send_line("XREAD MATCH t:* 0")) == {"t:a": [1, 2], "t:b": [3]}
        assert found(given.send_line("XREAD MATCH t:* 1")) == {"t:a": [2], "t:b": [3]}
        assert given.send_line("XREAD MATCH t:* 3") is None
        assert given.send_line("XREAD MATCH t:* $") is None
        assert found(given.send_line("XREAD MATCH t:* u +")) == {"t:a": [2], "t:b": [3], "u": [4]}

    @pytest.mark.parametrize("word", [">", "x", "1-2-3"])
    def test_a_bad_id_is_refused(self, given, word):
        assert given.send_line(f"XREAD MATCH t:* {word}").startswith("-ERR")

    def test_dollar_is_from_now_on(self, given):
        waiter = given.client()
        waiter.send_line("XREAD BLOCK 0 MATCH t:* $")
        given.send_line("XADD u 7-0 f v")
        assert waiter.reply() == NOTHING
        given.send_line("XADD t:a 7-0 f v")
        assert found(waiter.reply()) == {"t:a": [7]}

    def test_a_stream_that_has_expired_is_no_concern_of_a_dollar(self, given):
        given.client().send_line("XREAD BLOCK 0 MATCH t:* $")  # so all names are known
        given.send_line("PEXPIRE t:a 5")
        given.pass_time(10)  # nobody has looked at it since
        waiter = given.client()
        waiter.send_line("XREAD BLOCK 0 MATCH t:* $")
        assert waiter.reply() == NOTHING
        given.send_line("XADD t:b 7-0 f v")
        assert found(waiter.reply()) == {"t:b": [7]}

    def test_a_stream_that_is_made_meanwhile_is_read_from_its_beginning(self, given):
        waiters = [given.client() for _ in range(2)]
        for waiter in waiters:
            waiter.send_line("XREAD BLOCK 0 MATCH t:* $")
        given.send_line("MULTI")
        given.send_line("XADD t:new 7-0 f v")
        given.send_line("XADD t:new 8-0 f v")
        given.send_line("EXEC")
        assert [found(waiter.reply()) for waiter in waiters] == [{"t:new": [7, 8]}] * 2

    def test_a_stream_that_is_made_again_with_smaller_ids(self, given):
        waiter = given.client()
        waiter.send_line("XREAD BLOCK 0 MATCH t:* $")
        given.send_line("DEL t:b")
        given.send_line("XADD t:b 1-0 f v")
        assert found(waiter.reply()) == {"t:b": [1]}

    @pytest.mark.parametrize("ways", [("DEL t:b",), ("RENAME t:b x",)])
    def test_one_of_which_where_had_passed_entries(self, given, ways):
        waiter = given.client()
        waiter.send_line("XREAD BLOCK 0 WHERE f 1 w MATCH t:* $")
        given.send_line("XADD t:b 9-0 f v")
        for line in ("MULTI", *ways, "XADD t:b 1-0 f w", "EXEC"):
            given.send_line(line)
        assert found(waiter.reply()) == {"t:b": [1]}

    def test_each_waits_for_its_own(self, given):
        kinds = ("v", "w", "v")
        waiters = [given.client() for _ in kinds]
        for waiter, kind in zip(waiters, kinds, strict=True):
            waiter.send_line(f"XREAD BLOCK 0 WHERE f 1 {kind} MATCH t:* $")
        given.send_line("XADD t:a 7-0 f x")
        given.send_line("XADD t:a 8-0 f w")
        given.send_line("XADD t:b 9-0 f v")
        replies = [found(waiter.reply()) for waiter in waiters]
        assert replies == [{"t:b": [9]}, {"t:a": [8]}, {"t:b": [9]}]

    def test_a_busy_stream_does_not_starve_others(self, given):
        order = [next(iter(found(given.send_line("XREAD MAXCOUNT 1 MATCH t:* 0")))) for _ in "abab"]
        assert sorted(order[:2]) == sorted(order[2:]) == ["t:a", "t:b"]


class TestRights:
    @pytest.fixture
    def ann(self, given):
        """A client whose user may read t:a, and write what begins with t:new."""
        given.send_line("ACL SETUSER ann on nopass +@all %R~t:a ~t:new*")
        client = given.client()
        client.send_line("AUTH ann x")
        return client

    def test_only_streams_that_may_be_read_are(self, given, ann):
        for key in ("t:a", "t:b"):
            given.send_line(f"XGROUP CREATE {key} g 0")
        assert found(ann.send_line(READ.format(""))) == {"t:a": [1, 2]}
        assert found(ann.send_line("XREAD MATCH * 0")) == {"t:a": [1, 2]}
        assert found(given.send_line(READ.format(""))) == {"t:b": [3]}

    def test_only_where_it_may_write_a_group_is_made(self, given, ann):
        assert ann.send_line(READ.format("MKGROUP")) is None
        given.send_line("XADD t:new 9-0 f v")
        assert found(ann.send_line(READ.format("MKGROUP"))) == {"t:new": [9]}
        assert given.send_line("XINFO GROUPS t:a") == []
        assert found(given.send_line(READ.format("MKGROUP"))) == {"t:a": [1, 2], "t:b": [3]}

    def test_a_waiting_reader_is_not_told_of_others(self, given, ann):
        ann.send_line("XREAD BLOCK 0 MATCH t:* $")
        given.send_line("XADD t:b 9-0 f v")
        assert ann.reply() == NOTHING
        given.send_line("XADD t:a 9-0 f v")
        assert found(ann.reply()) == {"t:a": [9]}

    def test_rights_of_a_selector_hold_together(self, given, ann):
        given.send_line("ACL SETUSER ann resetkeys -@all (+xread %R~t:a) (+get ~t:b)")
        assert found(ann.send_line("XREAD MATCH t:* 0")) == {"t:a": [1, 2]}
        assert ann.send_line(READ.format("")).startswith("-NOPERM")


class TestNames:
    def test_many_keys_are_gathered_while_others_are_served(self, given, monkeypatch):
        monkeypatch.setattr(pattern_reads, "AT_ONCE", 1)
        for n in range(50):
            given.send_line(f"SET key{n} x")
        given.call_soon, later = (lambda call: None), given.call_soon
        waiter = given.client()
        waiter.send_line("XREAD MATCH t:* 0")
        assert waiter.reply() == NOTHING
        given.call_soon = later
        given.turn(given.dispatcher.waits.read_on)
        assert found(waiter.reply()) == {"t:a": [1, 2], "t:b": [3]}

    def test_another_pattern_gathers_them_in_turns_of_its_own(self, given, monkeypatch):
        given.send_line("XREAD MATCH u 0")
        for n in range(20):
            given.send_line(f"XADD t:{n} 9-0 f v")
        monkeypatch.setattr(pattern_reads, "AT_ONCE", 1)
        given.call_soon, later = (lambda call: None), given.call_soon
        waiter = given.client()
        waiter.send_line("XREAD MATCH t:a t:1* 0")
        assert waiter.reply() == NOTHING
        given.send_line("XADD t:1new 1-0 f v")  # compared now, not once more when it is gathered
        given.call_soon = later
        given.turn(given.dispatcher.waits.read_on)
        keys = [row[0] for row in waiter.reply()]
        assert sorted(keys) == sorted(
            [b"t:a", b"t:1new", *[b"t:1%d" % n for n in range(10)], b"t:1"]
        )

    def test_from_now_on_means_from_the_call(self, given, monkeypatch):
        given.send_line("XREAD MATCH u 0")
        monkeypatch.setattr(pattern_reads, "AT_ONCE", 1)
        given.call_soon, later = (lambda call: None), given.call_soon
        waiter = given.client()
        waiter.send_line("XREAD BLOCK 0 MATCH t:* $")
        given.send_line("XADD t:b 8-0 f v")
        given.call_soon = later
        assert found(waiter.reply()) == {"t:b": [8]}

    def test_they_go_with_the_last_reader(self, given):
        given.send_line(READ.format("MKGROUP"))
        patterns = given.state.blocking.patterns
        patterns.tick(1)
        assert patterns.are_used
        patterns.tick(1 + pattern_reads.KEPT_MS)
        assert not patterns.are_used
        given.send_line("XADD t:b 5-0 f v")
        assert found(given.send_line(READ.format(""))) == {"t:b": [5]}

    def test_what_was_flushed_is_not_kept(self, server):
        before = used_at_start()
        server.send("XADD", "t:a", "1-0", "f", "x" * 100_000)
        server.send_line(READ.format("MKGROUP"))
        server.send_line("FLUSHALL")
        assert allocation.used_bytes() - before < 50_000

    def test_what_was_flushed_after_a_long_wait_is_not_kept(self, server):
        before = used_at_start()
        waiter = server.client()
        waiter.send_line("XREAD BLOCK 100000000 MATCH t:* $")
        server.send("XADD", "t:a", "1-0", "f", "x" * 100_000)
        assert found(waiter.reply()) == {"t:a": [1]}
        patterns = server.state.blocking.patterns
        patterns.tick(1)
        patterns.tick(1 + pattern_reads.KEPT_MS)
        server.send_line("FLUSHALL")
        assert allocation.used_bytes() - before < 50_000

    def test_they_stay_while_somebody_waits(self, given):
        waiter = given.client()
        waiter.send_line("XREAD BLOCK 0 MATCH t:* $")
        for ms in range(1, 10):
            given.state.blocking.patterns.tick(ms * pattern_reads.KEPT_MS)
        given.send_line("XADD t:b 5-0 f v")
        assert found(waiter.reply()) == {"t:b": [5]}

    def test_the_readers_that_are_kept_are_limited(self, given):
        for n in range(pattern_reads.MOST_READERS + 20):
            given.send_line(f"XREAD MATCH t:{n}* 0")
        names = given.state.blocking.patterns.readers(given.state.databases[0], [b"x"], None, False)
        assert len(names.names.readers) == pattern_reads.MOST_READERS
        assert all(len(found) <= len(names.names.readers) for found in names.names.names.values())
