"""The AOF of a server, replayed on an empty server at another time, makes the same data."""

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
def server_from_log(make_server):
    """Makes a server that has replayed the AOF of another one, a day later."""

    def load(log):
        server = make_server()
        server.advance(A_DAY_MS)
        server.state.events.lookup.keeps_expired = True
        for unit in log:
            replay(server, unit)
        server.state.events.lookup.keeps_expired = False
        return server

    return load


def replay(server, unit):
    """Replay commands that were logged together, inside MULTI if there are several."""
    client = server.owner.client
    words = [[b"SELECT", b"%d" % unit[0][0]], *(argv for _, argv in unit)]
    if len(unit) > 1:
        words = [[b"MULTI"]]
        for db, argv in unit:
            words += [[b"SELECT", b"%d" % db], argv]
        words.append([b"EXEC"])
    for argv in words:
        assert server.dispatcher.replaying.replay(client, argv) is None


def data_of(server):
    return digest.of_data(server.state.databases)


def streams_of(server):
    """XINFO STREAM FULL of each stream, without what is not logged."""
    guest = server.client()
    return {
        (db.index, key): as_logged(guest.send("XINFO", "STREAM", key, "FULL", "COUNT", "0"))
        for db in server.state.databases
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


def run(server, commands):
    log = []
    for command in commands:
        server.send(*command)
        if server.owner.waits:
            server.advance(WAIT_MS)
        server.owner.client.out.truncate(0)
        server.advance(random.randrange(3))
        log += server.log.units
        server.log.units.clear()
    return log


@pytest.mark.parametrize("number", range(SEQUENCES))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_log_of_random_commands_makes_the_same_data(
    family, number, make_server, server_from_log
):
    commands = Draw(f"replay-{family}-{number}").sequence(family, COMMANDS)
    server = make_server()
    random.seed(number)
    log = run(server, [command for command in commands if not reads_history(command)])
    again = server_from_log(log)
    assert data_of(again) == data_of(server)
    assert streams_of(again) == streams_of(server)


def test_no_logged_command_is_refused(make_server, server_from_log):
    server = make_server()
    log = [
        unit
        for family in FAMILIES
        for unit in run(server, Draw(f"refused-{family}").sequence(family, COMMANDS))
    ]
    assert server_from_log(log).state.stats.errors == 0


def test_an_exact_trim_with_a_limit_is_replayed_since_redis_logs_it(server_from_log):
    server = server_from_log(
        [
            [(0, [b"XADD", b"s", b"1-1", b"a", b"b"])],
            [(0, [b"XADD", b"s", b"MAXLEN", b"=", b"1", b"LIMIT", b"10", b"2-1", b"a", b"b"])],
            [(0, [b"XADD", b"s", b"3-1", b"a", b"b"])],
            [(0, [b"XTRIM", b"s", b"MAXLEN", b"=", b"1", b"LIMIT", b"0"])],
        ]
    )
    assert server.send_line("XRANGE s - +") == [[b"3-1", [b"a", b"b"]]]


def replay_lines(server, lines):
    """Replay *lines* as a load does, which keeps expired keys."""
    server.state.events.lookup.keeps_expired = True
    for line in lines:
        assert (
            server.dispatcher.replaying.replay(server.owner.client, line.encode().split()) is None
        )
    server.state.events.lookup.keeps_expired = False


def test_a_past_expiry_in_a_replayed_transaction_deletes_nothing(server):
    """Once, the key was deleted at once, and later commands in the AOF did not find it."""
    replay_lines(
        server, ["MULTI", "SET k v", f"PEXPIREAT k {server.now_ms - 1}", "EXEC", "PERSIST k"]
    )
    assert server.send_line("GET k") == b"v"


def test_the_limit_of_an_exact_trim_is_ignored_in_a_replayed_transaction_too(server):
    replay_lines(server, ["MULTI", "XADD s MAXLEN = 5 LIMIT 10 1-1 f v", "EXEC"])
    assert server.send_line("XLEN s") == 1


def test_a_replayed_transaction_ignores_maxmemory(server):
    """Once, it was dropped, and the load was reported as a success."""
    server.run_out_of_memory()
    replay_lines(server, ["MULTI", "SET a 1", "SET b 2", "EXEC"])
    assert server.send_line("MGET a b") == [b"1", b"2"]
