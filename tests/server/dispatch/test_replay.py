"""The log of a server, replayed on an empty server at another time, makes the same data."""

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
def server_from_log(make_house):
    """Makes a server that has replayed the log of another one, a day later."""

    def load(log):
        house = make_house()
        house.advance(A_DAY_MS)
        house.state.events.lookup.keeps_expired = True
        for unit in log:
            replay(house, unit)
        house.state.events.lookup.keeps_expired = False
        return house

    return load


def replay(house, unit):
    """Replay commands that were logged together, inside MULTI if there are several."""
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
    """XINFO STREAM FULL of each stream, without what is not logged."""
    guest = house.client()
    return {
        (db.index, key): as_logged(guest.send("XINFO", "STREAM", key, "FULL", "COUNT", "0"))
        for db in house.state.databases
        for key, value in db.table.items()
        if isinstance(value, Stream) and guest.send("SELECT", db.index) == b"OK"
    }


def as_logged(info):
    """Hide what is not logged: when consumers came last, and empty nodes of the radix tree."""
    if not isinstance(info, list):
        return info
    shown = [as_logged(item) for item in info]
    for name in (b"seen-time", b"active-time", b"radix-tree-keys", b"radix-tree-nodes"):
        if name in shown:
            shown[shown.index(name) + 1] = "not logged"
    return shown


def reads_history(command):
    """Whether *command* counts deliveries without logging them, as in Redis."""
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
def test_the_log_of_random_commands_makes_the_same_data(
    family, number, make_house, server_from_log
):
    commands = Draw(f"replay-{family}-{number}").sequence(family, COMMANDS)
    house = make_house()
    random.seed(number)
    log = run(house, [command for command in commands if not reads_history(command)])
    again = server_from_log(log)
    assert data_of(again) == data_of(house)
    assert streams_of(again) == streams_of(house)


def test_no_logged_command_is_refused(make_house, server_from_log):
    house = make_house()
    log = [
        unit
        for family in FAMILIES
        for unit in run(house, Draw(f"refused-{family}").sequence(family, COMMANDS))
    ]
    assert server_from_log(log).state.stats.errors == 0


def test_an_exact_trim_with_a_limit_is_replayed_since_redis_logs_it(server_from_log):
    house = server_from_log(
        [
            [(0, [b"XADD", b"s", b"1-1", b"a", b"b"])],
            [(0, [b"XADD", b"s", b"MAXLEN", b"=", b"1", b"LIMIT", b"10", b"2-1", b"a", b"b"])],
            [(0, [b"XADD", b"s", b"3-1", b"a", b"b"])],
            [(0, [b"XTRIM", b"s", b"MAXLEN", b"=", b"1", b"LIMIT", b"0"])],
        ]
    )
    assert house.send_line("XRANGE s - +") == [[b"3-1", [b"a", b"b"]]]


def replay_lines(house, lines):
    """Replay *lines* as a load does, which keeps expired keys."""
    house.state.events.lookup.keeps_expired = True
    for line in lines:
        assert house.dispatcher.replay(house.owner.client, line.encode().split()) is None
    house.state.events.lookup.keeps_expired = False


def test_a_past_expiry_in_a_replayed_transaction_deletes_nothing(house):
    """Once, the key was deleted at once, and later commands in the log did not find it."""
    replay_lines(
        house, ["MULTI", "SET k v", f"PEXPIREAT k {house.now_ms - 1}", "EXEC", "PERSIST k"]
    )
    assert house.send_line("GET k") == b"v"


def test_the_limit_of_an_exact_trim_is_ignored_in_a_replayed_transaction_too(house):
    replay_lines(house, ["MULTI", "XADD s MAXLEN = 5 LIMIT 10 1-1 f v", "EXEC"])
    assert house.send_line("XLEN s") == 1


def test_a_replayed_transaction_ignores_maxmemory(house):
    """Once, it was dropped, and the load was reported as a success."""
    house.run_out_of_memory()
    replay_lines(house, ["MULTI", "SET a 1", "SET b 2", "EXEC"])
    assert house.send_line("MGET a b") == [b"1", b"2"]
