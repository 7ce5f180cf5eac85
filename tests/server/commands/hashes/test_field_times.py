"""Fields that expire, with a clock that the test sets: what is logged, told, and replayed."""

from __future__ import annotations

import pytest

from storage import allocation, digest
from tests.server.conftest import START_MS
from tests.server.given_back import is_given_back
from tests.server.parts.expiry.cycles import cycle_of
from tests.used_memory import used_at_start

T = START_MS


def fill(server, fields="a b c"):
    server.send("HSET", "h", *(word for field in fields.split() for word in (field, f"v{field}")))


def test_times_are_logged_absolute(server):
    fill(server)
    server.logged()
    server.send_line("HEXPIRE h 100 FIELDS 2 a nope")
    server.send_line("HPEXPIRE h 50 NX FIELDS 2 a b")
    server.send_line("HEXPIREAT h 2000000000 XX FIELDS 1 c")
    assert server.logged() == [
        b"HPEXPIREAT h %d FIELDS 1 a" % (T + 100_000),
        b"HPEXPIREAT h %d FIELDS 1 b" % (T + 50),
    ]
    server.send_line("HGETEX h PX 70 FIELDS 3 a c nope")
    server.send_line("HGETEX h PERSIST FIELDS 2 a c")
    server.send_line("HSETEX h EX 5 FIELDS 1 d 4")
    server.send_line("HSETEX h KEEPTTL FIELDS 1 d 5")
    server.send_line("HINCRBYFLOAT h d 1.5")
    server.send_line("HPERSIST h FIELDS 1 d")
    assert server.logged() == [
        b"HPEXPIREAT h %d FIELDS 2 a c" % (T + 70),
        b"HPERSIST h FIELDS 2 a c",
        b"HSET h d 4",
        b"HPEXPIREAT h %d FIELDS 1 d" % (T + 5000),
        b"HSETEX h KEEPTTL FIELDS 1 d 5",
        b"HSET h d 6.5",
        b"HPEXPIREAT h %d FIELDS 1 d" % (T + 5000),
        b"HPERSIST h FIELDS 1 d",
    ]


def test_what_has_passed_is_logged_as_a_removal(server):
    fill(server, "a b c d e f")
    server.logged()
    assert server.send_line("HPEXPIREAT h 1 FIELDS 3 a nope a") == [2, -2, -2]
    assert server.send_line("HGETEX h EX 0 FIELDS 2 b nope") == [b"vb", None]
    assert server.send_line("HSETEX h PXAT 1 FIELDS 2 c 1 new 2") == 1
    assert server.send_line("HGETDEL h FIELDS 2 d nope") == [b"vd", None]
    assert server.logged() == [
        b"HDEL h a",
        b"HDEL h b",
        b"HSET h c 1 new 2",
        b"HDEL h c new",
        b"HDEL h d",
    ]
    assert server.send_line("HEXPIRE h 0 FIELDS 2 e f") == [2, 2]
    assert server.send_line("EXISTS h") == 0


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("HGET h a", None), ("HEXISTS h a", 0), ("HSTRLEN h a", 0), ("HMGET h a c", [None, b"vc"]),
        ("HGETDEL h FIELDS 1 a", [None]), ("HGETEX h FIELDS 2 a c", [None, b"vc"]),
        ("HSETEX h FXX FIELDS 1 a 1", 0),
    ],
)  # fmt: skip
def test_a_command_that_names_an_expired_field_removes_it(server, line, reply):
    fill(server)
    server.send_line("HPEXPIRE h 10 FIELDS 2 a b")
    server.advance(10)
    assert server.send_line("HGET h a") == b"va"  # until the last millisecond
    server.advance(1)
    server.logged()
    assert server.send_line("HLEN h") == 3
    assert server.send_line(line) == reply
    assert server.send_line("HLEN h") == 2
    assert server.logged() == [b"HDEL h a"]
    assert server.state.events.expired_fields == 1


@pytest.mark.parametrize("fields", [3, 2000])
@pytest.mark.parametrize(
    ("line", "live"),
    [
        ("HGETALL h", [b"f0", b"v0"]), ("HKEYS h", [b"f0"]), ("HVALS h", [b"v0"]),
        ("HRANDFIELD h", b"f0"), ("HRANDFIELD h 5 WITHVALUES", [b"f0", b"v0"]),
        ("HRANDFIELD h -2", [b"f0", b"f0"]), ("HSCAN h 0 COUNT 9999", [b"0", [b"f0", b"v0"]]),
        ("HTTL h FIELDS 2 f0 f1", [-1, -2]), ("HPERSIST h FIELDS 2 f0 f1", [-1, -2]),
    ],
)  # fmt: skip
def test_commands_on_all_fields_leave_expired_ones_out(server, line, live, fields):
    names = [f"f{n}" for n in range(fields)]
    server.send("HSET", "h", *(word for n in range(fields) for word in (f"f{n}", f"v{n}")))
    server.send("HPEXPIRE", "h", 10, "FIELDS", fields - 1, *names[1:])
    server.advance(11)
    assert server.send_line("HLEN h") == fields
    assert server.send_line(line) == live


def test_a_hash_whose_last_field_expires_is_deleted_and_may_be_made_anew(server):
    for line in (
        "HINCRBY h a 2",
        "HSETNX h a 2",
        "HSETEX h FNX FIELDS 1 a 2",
        "HINCRBYFLOAT h a 2",
    ):
        server.send_line("HSETEX h PX 10 FIELDS 1 a 1")
        server.send_line("EXPIRE h 100")
        server.advance(11)
        server.send_line(line)
        assert server.send_line("HGETALL h") == [b"a", b"2"]
        assert server.send_line("HTTL h FIELDS 1 a") == [-1]
        server.send_line("DEL h")
    server.send_line("HSETEX h PX 10 FIELDS 1 a 1")
    server.advance(11)
    assert server.send_line("HRANDFIELD h") is None
    assert server.send_line("EXISTS h") == 0


def test_while_writes_are_paused_expired_fields_are_hidden_and_stay(server):
    fill(server)
    server.send_line("HPEXPIRE h 10 FIELDS 1 a")
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.advance(11)
    server.logged()
    assert server.send_line("HGET h a") is None
    assert server.send_line("HMGET h a b") == [None, b"vb"]
    assert server.send_line("HRANDFIELD h 9") == [b"b", b"c"]
    assert server.send_line("HLEN h") == 3
    assert server.logged() == []


def test_an_expired_field_fails_a_transaction_that_watches(server):
    fill(server)
    server.send_line("HPEXPIRE h 10 FIELDS 1 a")
    other = server.client()
    other.send_line("WATCH h")
    other.send_line("MULTI")
    server.advance(11)
    server.send_line("HGET h a")
    assert other.send_line("EXEC") is None


# ---------------------------------------------------------------------- the active cycle


def cycle(server):
    cycle_of(server.state, lambda: 0.0).run()
    server.state.propagation.deliver_each()


def test_the_cycle_removes_expired_fields_and_empty_hashes(server):
    for number in range(50):
        server.send_line(f"HSETEX h{number} PX {number + 1} FIELDS 2 a 1 b 2")
        server.send_line(f"HSET h{number} c 3")
    server.send("HSETEX", "big", "PX", 5, "FIELDS", 3000, *range(6000))
    server.send_line("HSETEX gone PX 5 FIELDS 1 a 1")
    server.advance(30)
    server.logged()
    cycle(server)
    assert server.send_line("EXISTS big gone") == 0
    lengths = [server.send_line(f"HLEN h{number}") for number in range(50)]
    assert lengths == [1] * 29 + [3] * 21
    assert server.state.events.expired_fields == 3000 + 1 + 29 * 2
    assert len(server.state.databases[0].field_expiries) == 21
    assert {line.split()[0] for line in server.logged()} == {b"HDEL"}


def test_the_cycle_stops_when_its_time_is_used_up(server):
    server.send("HSETEX", "big", "PX", 5, "FIELDS", 3000, *range(6000))
    server.advance(30)
    times = iter(range(100))
    cycle_of(server.state, lambda: float(next(times))).run()
    assert 0 < server.send_line("HLEN big") < 3000
    assert server.state.stats.expire_time_cap_reached == 1


def test_info_counts_hashes_with_fields_that_expire(server):
    def told():
        return server.send_line("INFO keyspace").decode().split("subexpiry=")[1].strip()

    fill(server)
    assert told() == "0"
    server.send_line("HEXPIRE h 100 FIELDS 1 a")
    server.send_line("COPY h h2")
    server.send_line("RENAME h h3")
    assert told() == "2"
    server.send_line("HPERSIST h2 FIELDS 1 a")
    assert told() == "1"
    server.send("RESTORE", "h4", 0, server.send_line("DUMP h3"))
    server.send_line("SET h3 x")
    assert told() == "1"
    server.send_line("HSET h4 a 1")
    assert told() == "0"
    server.send_line("HEXPIRE h4 100 FIELDS 1 b")
    server.send_line("MOVE h4 1")
    assert [len(db.field_expiries) for db in server.state.databases[:2]] == [0, 1]
    server.send_line("SWAPDB 0 1")
    assert [len(db.field_expiries) for db in server.state.databases[:2]] == [1, 0]
    server.send_line("FLUSHALL")
    assert len(server.state.databases[0].field_expiries) == 0
    assert b"expired_subkeys:0" in server.send_line("INFO stats")


# ---------------------------------------------------------------------- replaying


LINES = """HSET h a 1 b 2 c 3 d 4
HEXPIRE h 100 FIELDS 2 a b
HSET h a 5
HINCRBY h b 2
HINCRBYFLOAT h b 0.5
HGETEX h EX 5 FIELDS 2 c nope
HSETEX h KEEPTTL FIELDS 1 c 9
HSETEX g PX 3 FIELDS 2 x 1 y 2
HGET g x
HSETNX g x 7
HPEXPIRE g 1 XX FIELDS 1 y
HGETDEL h FIELDS 1 d
COPY h copy
RENAME copy other"""


def times_of(server):
    return {
        key: {field: when_ms for field, _, when_ms in value.timed.items()}
        for key, value in server.state.databases[0].table.items()
    }


def test_what_is_logged_gives_the_same_data_whenever_it_is_replayed(make_server):
    ours, theirs = make_server(), make_server()
    for line in LINES.splitlines():
        ours.send_line(line)
        ours.advance(2)
    client = theirs.client().client
    theirs.now_ms += 10**9  # all fields have expired by now
    theirs.turn()
    theirs.state.events.lookup.keeps_expired = True
    for words in [argv for unit in ours.log.units for _, argv in unit]:
        assert theirs.dispatcher.replaying.replay(client, words) is None
    assert digest.of_data(ours.state.databases) == digest.of_data(theirs.state.databases)
    assert times_of(ours) == times_of(theirs)


def test_memory_is_given_back_when_fields_expire(server):
    at_start = used_at_start()
    server.send("HSETEX", "big", "PX", 5, "FIELDS", 2000, *range(4000))
    server.send("HSETEX", "small", "PX", 5, "FIELDS", 20, *range(40))
    assert allocation.used_bytes() - at_start > 60_000
    server.advance(6)
    cycle(server)
    assert is_given_back(at_start)


def test_a_hash_without_times_takes_no_more_than_before(server):
    at_start = used_at_start()
    fill(server)
    plain = allocation.used_bytes() - at_start
    server.send_line("DEL h")
    fill(server)
    assert allocation.used_bytes() - at_start == plain
    assert server.state.databases[0].field_expiries.used == 0


@pytest.mark.parametrize(
    "line",
    [
        "HEXPIRE h -1 FIELDS 1 a", "HEXPIRE h x FIELDS 1 a", "HEXPIRE h 1 FIELDS 2 a",
        "HEXPIRE h 70368744177664 FIELDS 1 a", "HEXPIRE h 1 NX XX FIELDS 1 a",
        "HGETEX h EX -1 FIELDS 1 a", "HGETEX h EX 1 FIELDS 3 a", "HGETDEL h FIELDS 2 a",
        "HSETEX h EX 1 PX 1 FIELDS 1 a 1", "HSETEX h FNX FXX FIELDS 1 a 1", "HPERSIST h FIELDS 0 a",
        "HSETEX h FIELDS 1 a 1 b", "HSETEX new EX -1 FIELDS 1 a 1", "HTTL h FIELDS x a",
    ],
)  # fmt: skip
def test_a_refused_command_changes_nothing(server, line):
    fill(server)
    server.logged()
    assert server.send_line(line).startswith("-ERR")
    assert server.send_line("HGETALL h") == [b"a", b"va", b"b", b"vb", b"c", b"vc"]
    assert server.send_line("OBJECT ENCODING h") == b"listpack"
    assert server.send_line("EXISTS new") == 0
    assert server.logged() == []


@pytest.mark.parametrize("fields", [20, 2000])
def test_memory_usage_counts_the_times(server, fields):
    server.send("HSET", "h", *range(2 * fields))
    plain = server.send_line("MEMORY USAGE h")
    server.send("HEXPIRE", "h", 100, "FIELDS", fields, *range(0, 2 * fields, 2))
    assert server.send_line("MEMORY USAGE h") > plain + 8 * fields
