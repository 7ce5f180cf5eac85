"""What is logged, run again on an empty server at another time, makes the same data."""

from __future__ import annotations

import random

import pytest

from storage import digest
from storage.stream.stream import Stream
from tests.compat.random_commands import FAMILIES, Draw

SEQUENCES = 12
COMMANDS = 80
A_DAY_MS = 86_400_000
WAIT_MS = 5  # longer than any wait in a random command


@pytest.fixture
def rewound(make_house):
    """Makes a house where all has happened that was logged in another one."""

    def rewind(log):
        house = make_house()
        house.advance(A_DAY_MS)
        house.state.events.lookup.keeps_expired = True
        for unit in log:
            replay(house, unit)
        house.state.events.lookup.keeps_expired = False
        return house

    return rewind


def replay(house, unit):
    """Run what was logged together, in MULTI if that is more than one command."""
    client = house.owner.client
    words = [[b"SELECT", b"%d" % unit[0][0]], *(argv for _, argv in unit)]
    if len(unit) > 1:
        words = [[b"MULTI"]]
        for db, argv in unit:
            words += [[b"SELECT", b"%d" % db], argv]
        words.append([b"EXEC"])
    for argv in words:
        assert house.dispatcher.replay(client, argv) is None


def data_of(house):
    return digest.of_data(house.state.databases)


def streams_of(house):
    """Of each stream all that XINFO tells, but for what nobody logs."""
    guest = house.client()
    return {
        (db.index, key): as_logged(guest.send("XINFO", "STREAM", key, "FULL", "COUNT", "0"))
        for db in house.state.databases
        for key, value in db.table.items()
        if isinstance(value, Stream) and guest.send("SELECT", db.index) == b"OK"
    }


def as_logged(info):
    """Without when consumers came last, and where a node without living entries may still be."""
    if not isinstance(info, list):
        return info
    shown = [as_logged(item) for item in info]
    for name in (b"seen-time", b"active-time", b"radix-tree-keys", b"radix-tree-nodes"):
        if name in shown:
            shown[shown.index(name) + 1] = "not logged"
    return shown


def reads_history(command):
    """Whether deliveries are counted that nobody logs: redis does not either."""
    return command[0] == b"XREADGROUP" and command[-1] != b">"


def run(house, commands):
    log = []
    for command in commands:
        house.send(*command)
        if house.owner.waits:
            house.advance(WAIT_MS)
        house.owner.client.out.truncate(0)
        house.advance(random.randrange(3))
        log += house.log.units
        house.log.units.clear()
    return log


@pytest.mark.parametrize("number", range(SEQUENCES))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_log_of_random_commands_makes_the_same_data(family, number, make_house, rewound):
    commands = Draw(f"replay-{family}-{number}").sequence(family, COMMANDS)
    house = make_house()
    random.seed(number)
    log = run(house, [command for command in commands if not reads_history(command)])
    again = rewound(log)
    assert data_of(again) == data_of(house)
    assert streams_of(again) == streams_of(house)


def test_nothing_in_the_log_is_refused(make_house, rewound):
    house = make_house()
    log = [
        unit
        for family in FAMILIES
        for unit in run(house, Draw(f"refused-{family}").sequence(family, COMMANDS))
    ]
    assert rewound(log).state.stats.errors == 0


def test_redis_logs_an_exact_trim_with_a_limit(rewound):
    house = rewound(
        [
            [(0, [b"XADD", b"s", b"1-1", b"a", b"b"])],
            [(0, [b"XADD", b"s", b"MAXLEN", b"=", b"1", b"LIMIT", b"10", b"2-1", b"a", b"b"])],
            [(0, [b"XADD", b"s", b"3-1", b"a", b"b"])],
            [(0, [b"XTRIM", b"s", b"MAXLEN", b"=", b"1", b"LIMIT", b"0"])],
        ]
    )
    assert house.send_line("XRANGE s - +") == [[b"3-1", [b"a", b"b"]]]


def replayed(house, lines):
    """Run *lines* as a log has them, while what has expired is kept."""
    house.state.events.lookup.keeps_expired = True
    for line in lines:
        assert house.dispatcher.replay(house.owner.client, line.encode().split()) is None
    house.state.events.lookup.keeps_expired = False


def test_an_expiry_that_has_passed_deletes_nothing_in_a_logged_transaction(house):
    """The key was deleted at once, and what the log does with it later found nothing."""
    replayed(house, ["MULTI", "SET k v", f"PEXPIREAT k {house.now_ms - 1}", "EXEC", "PERSIST k"])
    assert house.send_line("GET k") == b"v"


def test_a_limit_that_redis_has_logged_is_passed_over_in_a_transaction_too(house):
    replayed(house, ["MULTI", "XADD s MAXLEN = 5 LIMIT 10 1-1 f v", "EXEC"])
    assert house.send_line("XLEN s") == 1


def test_a_logged_transaction_is_run_whatever_maxmemory_says(house):
    """It was dropped, and the load was said to have succeeded."""
    house.run_out_of_memory()
    replayed(house, ["MULTI", "SET a 1", "SET b 2", "EXEC"])
    assert house.send_line("MGET a b") == [b"1", b"2"]
