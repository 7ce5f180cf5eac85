"""INFO, TIME and SHUTDOWN."""

import gc

import pytest

from server.process.shutdown import NoShutdown
from tests.server.given_back import KEPT


def sections(server, *names):
    """INFO as {title: {field: value}}."""
    found: dict[str, dict[str, str]] = {}
    for line in server.send("INFO", *names).decode().split("\r\n"):
        if line.startswith("# "):
            fields = found[line[2:]] = {}
        elif line:
            name, _, value = line.partition(":")
            fields[name] = value
    return found


# ---------------------------------------------------------------------- sections


def test_sections_come_in_the_order_of_redis(server):
    assert list(sections(server)) == [
        "Server", "Clients", "Memory", "Persistence", "Threads", "Stats", "Replication", "CPU",
        "Hotkeys", "Modules", "Errorstats", "Cluster", "Keyspace", "Keysizes",
    ]  # fmt: skip


def test_all_and_everything_have_commandstats_too(server):
    assert "Commandstats" not in sections(server, "default")
    assert "Commandstats" in sections(server, "all")
    assert sections(server, "EVERYTHING").keys() == sections(server, "all").keys()


def test_names_of_sections_ignore_case_and_each_comes_once(server):
    assert list(sections(server, "KEYSPACE", "server", "Server")) == ["Server", "Keyspace"]
    assert server.send("INFO", "nosuch") == b""


def test_no_field_is_shown_twice(server):
    names = [
        line.partition(b":")[0]
        for line in server.send("INFO", "everything").split(b"\r\n")
        if b":" in line
    ]
    assert len(names) == len(set(names))


def test_a_section_has_a_line_for_each_field(server):
    assert server.send("INFO", "cluster") == b"# Cluster\r\ncluster_enabled:0\r\n"


def test_resp3_clients_get_verbatim_text(server):
    server.owner.client.speak(3)
    assert server.owner.raw("INFO", "cluster").startswith(b"=34\r\ntxt:# Cluster\r\n")


# ---------------------------------------------------------------------- fields


def test_the_server_section_has_version_mode_and_run_id(server):
    fields = sections(server, "server")["Server"]
    assert fields["redis_version"] == "8.6.3"
    assert fields["redis_mode"] == "standalone"
    assert fields["penstock_compiled"] in ("yes", "no")
    assert len(fields["run_id"]) == 40


def test_uptime_is_counted_from_the_start(server):
    server.state.instance.started_ms = server.now_ms
    server.advance(90_000_000)
    fields = sections(server, "server")["Server"]
    assert (fields["uptime_in_seconds"], fields["uptime_in_days"]) == ("90000", "1")


def test_blocked_clients_and_their_keys_are_counted(server):
    guest, patient = server.client(), server.client()
    guest.send_line("BLPOP a b 0")
    patient.send_line("BLPOP a 100")
    clients = sections(server, "clients")["Clients"]
    assert clients["connected_clients"] == "3"
    assert clients["blocked_clients"] == "2"
    assert clients["clients_in_timeout_table"] == "1"
    assert clients["total_blocking_keys"] == "2"


def test_a_client_that_a_pause_holds_back_counts_as_blocked(server):
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.client().send_line("SET a 1")
    assert sections(server, "clients")["Clients"]["blocked_clients"] == "1"
    server.send_line("CLIENT UNPAUSE")
    assert sections(server, "clients")["Clients"]["blocked_clients"] == "0"


def test_watched_keys_are_counted(server):
    server.client().send_line("WATCH a b")
    clients = sections(server, "clients")["Clients"]
    assert (clients["watching_clients"], clients["total_watched_keys"]) == ("1", "2")


@pytest.fixture
def collected():
    """What other tests have left is freed now, not while this one counts."""
    gc.collect()


def test_used_memory_counts_the_data_and_not_the_interpreter(collected, server):
    before = {name: int(value) for name, value in _numbers(server).items()}
    assert before["used_memory_rss"] > 1024**2 > before["used_memory_startup"] > 0
    server.send("SET", "key", b"x" * 5_000_000)
    after = _numbers(server)
    assert 5_000_000 <= after["used_memory"] - before["used_memory"] < 5_001_000
    assert after["used_memory_dataset"] - before["used_memory_dataset"] > 5_000_000
    assert after["used_memory_peak"] >= after["used_memory"]
    server.send_line("UNLINK key")
    assert 0 <= _numbers(server)["used_memory"] - before["used_memory"] <= KEPT
    assert _numbers(server)["used_memory_peak"] == after["used_memory_peak"]


def _numbers(server):
    fields = sections(server, "memory")["Memory"]
    return {name: int(value) for name, value in fields.items() if value.isdigit()}


def test_hits_misses_and_errors_are_counted(server):
    for line in ("SET a 1", "GET a", "GET b", "LPUSH a x", "NOSUCH"):
        server.send_line(line)
    stats = sections(server, "stats")["Stats"]
    assert (stats["keyspace_hits"], stats["keyspace_misses"]) == ("1", "1")
    assert stats["total_error_replies"] == "2"
    errors = sections(server, "errorstats")["Errorstats"]
    assert errors == {"errorstat_ERR": "count=1", "errorstat_WRONGTYPE": "count=1"}


def test_persistence_counts_the_changes_since_the_last_save(server):
    server.send_line("SET a 1")
    persistence = sections(server, "persistence")["Persistence"]
    assert persistence["loading"] == "0"
    assert persistence["aof_enabled"] == "0"
    assert int(persistence["rdb_changes_since_last_save"]) == 1


def test_commandstats_tell_how_often_a_command_was_slow_once_it_was(server):
    server.send("PING")
    assert "slowlog" not in sections(server, "commandstats")["Commandstats"]["cmdstat_ping"]
    server.send_line("CONFIG SET slowlog-log-slower-than 0")
    server.send("PING")
    told = sections(server, "commandstats")["Commandstats"]["cmdstat_ping"]
    assert ",slowlog_count=1,slowlog_time_ms_sum=0,slowlog_time_ms_max=0" in told


def test_commandstats_have_a_line_for_each_command_called_or_rejected(server):
    server.send_line("CONFIG RESETSTAT")
    for line in ("SET a 1", "SET a 2", "SET a", "LPUSH a x", "CONFIG GET hz"):
        server.send_line(line)
    stats = sections(server, "commandstats")["Commandstats"]
    assert stats["cmdstat_set"].startswith("calls=2,usec=")
    assert stats["cmdstat_set"].split(",")[3:5] == ["rejected_calls=1", "failed_calls=0"]
    assert stats["cmdstat_lpush"].split(",")[3:5] == ["rejected_calls=0", "failed_calls=1"]
    assert "cmdstat_config|get" in stats
    assert "cmdstat_get" not in stats


def test_keyspace_shows_the_databases_that_have_keys(server):
    assert sections(server, "keyspace")["Keyspace"] == {}
    server.send_line("SET a 1")
    server.send_line("SET b 1 PX 5000")
    server.send_line("SET c 1 PX 7000")
    server.send_line("SELECT 3")
    server.send_line("SET d 1")
    assert sections(server, "keyspace")["Keyspace"] == {
        "db0": "keys=3,expires=2,avg_ttl=6000,subexpiry=0",
        "db3": "keys=1,expires=0,avg_ttl=0,subexpiry=0",
    }


# ---------------------------------------------------------------------- TIME and SHUTDOWN


def test_time_is_seconds_and_microseconds(server):
    server.now_ms = 1_700_000_001_234
    assert server.send_line("TIME") == [b"1700000001", b"234000"]


@pytest.fixture
def stopped(server):
    """The options of each call that stops the server. Every such call succeeds."""
    calls = []

    class Stops(NoShutdown):
        def begin(self, options):
            calls.append(options)
            return True

    server.state.shutdown = Stops()
    return calls


@pytest.mark.parametrize(
    "line", ["SHUTDOWN", "SHUTDOWN NOSAVE", "shutdown nosave now force", "SHUTDOWN SAVE FORCE"]
)
def test_shutdown_stops_the_server_and_answers_nothing(server, stopped, line):
    assert server.owner.raw(*line.split()) == b""
    assert stopped == [frozenset(line.upper().encode().split()[1:])]
    assert server.owner.client.close_after_reply


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("SHUTDOWN foo", "-ERR syntax error"),
        ("SHUTDOWN SAVE NOSAVE", "-ERR syntax error"),
        ("SHUTDOWN ABORT NOW", "-ERR syntax error"),
        ("SHUTDOWN ABORT", "-ERR No shutdown in progress."),
    ],
)
def test_a_refused_shutdown_does_not_stop_the_server(server, stopped, line, error):
    assert server.send_line(line) == error
    assert not stopped


def test_a_server_that_cannot_save_does_not_shut_down(server):
    class Refuses(NoShutdown):
        def begin(self, _options):
            return False

    server.state.shutdown = Refuses()
    assert server.send_line("SHUTDOWN") == "-ERR Errors trying to SHUTDOWN. Check logs."
    assert not server.owner.client.close_after_reply


def test_shutdown_is_refused_inside_multi(server):
    server.send_line("MULTI")
    assert server.send_line("SHUTDOWN") == "-ERR Command not allowed inside a transaction"


def calls_of(server, name):
    """(calls, rejected, failed) of a command in INFO commandstats; None if it has no line."""
    line = sections(server, "commandstats")["Commandstats"].get(f"cmdstat_{name}")
    if line is None:
        return None
    fields = dict(pair.split("=") for pair in line.split(","))
    return tuple(int(fields[key]) for key in ("calls", "rejected_calls", "failed_calls"))


@pytest.fixture
def counting(server):
    """A server whose statistics were reset: all tests share one command table."""
    server.send_line("CONFIG RESETSTAT")
    return server


def test_a_command_that_blocked_is_counted_once(counting):
    guest = counting.client()
    guest.send_line("BLPOP a 0")
    processed = counting.state.stats.commands
    assert calls_of(counting, "blpop") is None
    counting.send_line("RPUSH a x")
    assert guest.reply() == [b"a", b"x"]
    assert calls_of(counting, "blpop") == (1, 0, 0)
    assert counting.state.stats.commands - processed == 4  # INFO, RPUSH, BLPOP, INFO


@pytest.mark.parametrize("lines", [["MULTI", "RPUSH a x", "DEL a", "EXEC"], ["SET a x"]])
def test_a_command_that_is_still_blocked_is_not_counted(counting, lines):
    guest = counting.client()
    guest.send_line("BLPOP a 0")
    for line in lines:
        counting.send_line(line)
    assert guest.waits
    assert calls_of(counting, "blpop") is None


def test_a_blocked_command_that_times_out_is_counted_once(counting):
    counting.client().send_line("BLPOP a 1")
    counting.advance(1000)
    assert calls_of(counting, "blpop") == (1, 0, 0)


def test_a_blocked_command_is_not_counted_if_its_client_disconnects(counting):
    guest = counting.client()
    guest.send_line("BLPOP a 0")
    guest.leave()
    assert calls_of(counting, "blpop") is None


def test_the_error_of_client_unblock_is_counted(counting):
    guest = counting.client()
    guest.send_line("BLPOP a 0")
    counting.send("CLIENT", "UNBLOCK", guest.client.id, "ERROR")
    assert guest.reply().startswith("-UNBLOCKED")
    assert calls_of(counting, "blpop") == (1, 0, 1)
    assert sections(counting, "errorstats")["Errorstats"] == {"errorstat_UNBLOCKED": "count=1"}
    assert sections(counting, "stats")["Stats"]["total_error_replies"] == "1"


def test_a_blocked_xreadgroup_whose_group_goes_is_one_failed_call(counting):
    counting.send_line("XGROUP CREATE s g $ MKSTREAM")
    guest = counting.client()
    guest.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
    counting.send_line("DEL s")
    assert guest.reply().startswith("-NOGROUP")
    assert calls_of(counting, "xreadgroup") == (1, 0, 1)
