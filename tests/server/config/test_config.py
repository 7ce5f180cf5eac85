"""CONFIG: GET, SET, RESETSTAT and REWRITE."""

import logging
from pathlib import Path

import pytest

from server.config.accepted_parameters import (
    NO_CLUSTER,
    NO_IMPORT,
    NO_MARKS,
    NO_RDMA,
    NO_REPAIR,
    NO_SEED,
    NO_SOCKET_GROUP,
    NO_TLS_BUS,
)
from server.config.parameters import Config
from server.table.command import TABLE

DEFAULT_SAVE_POINTS = Config().save
FAILED = "-ERR CONFIG SET failed (possibly related to argument '{}') - {}"


def as_dict(flat):
    return dict(zip(flat[::2], flat[1::2], strict=True))


# ---------------------------------------------------------------------- CONFIG GET


def test_config_get_answers_a_name_once_and_as_it_was_spelled(server):
    assert server.send("CONFIG", "GET", "HZ", "hz") == [b"HZ", b"10"]


def test_patterns_match_aliases_too_which_show_the_same_value(server):
    assert as_dict(server.send("CONFIG", "GET", "list-max*")) == {
        b"list-max-listpack-size": b"-2",
        b"list-max-ziplist-size": b"-2",
    }


def test_several_patterns_show_each_parameter_once(server):
    found = server.send("CONFIG", "GET", "hz", "h?", "TIMEOUT", "nosuch")
    assert found == [b"hz", b"10", b"TIMEOUT", b"0"]


def test_resp3_clients_get_a_map(server):
    server.owner.client.speak(3)
    assert server.owner.raw("CONFIG", "GET", "hz") == b"%1\r\n$2\r\nhz\r\n$2\r\n10\r\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("client-output-buffer-limit",
         b"normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"),
        ("bind", b"127.0.0.1 -::1"),
        ("unixsocketperm", b"0"),
        ("appendonly", b"no"),
        ("hash-max-listpack-entries", b"512"),
        ("zset-max-ziplist-value", b"64"),
        ("notify-keyspace-events", b""),
    ],
)  # fmt: skip
def test_defaults_are_shown_as_redis_shows_them(server, name, value):
    assert server.send("CONFIG", "GET", name) == [name.encode(), value]


def test_every_default_is_shown_in_a_form_that_can_be_read_again():
    config = Config()
    for row in config:
        assert config.parse(row, config.show(row)) == row.default, row.name


# ---------------------------------------------------------------------- CONFIG SET


def test_all_parameters_of_one_call_are_set(server):
    assert server.send("CONFIG", "SET", "timeout", "7", "maxmemory", "1gb") == b"OK"
    assert server.send("CONFIG", "GET", "timeout", "maxmemory") == [
        b"timeout", b"7", b"maxmemory", b"1073741824",
    ]  # fmt: skip


def test_if_one_value_is_bad_none_is_set(server):
    reply = server.send("CONFIG", "SET", "timeout", "7", "maxmemory", "much")
    assert reply == FAILED.format("maxmemory", "argument must be a memory value")
    assert server.send("CONFIG", "GET", "timeout") == [b"timeout", b"0"]


def test_if_one_value_cannot_be_applied_none_is_set(server, make_server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = make_server(enable_protected_configs="yes")
    reply = server.send("CONFIG", "SET", "timeout", "7", "dir", "/no/such/place")
    assert reply == FAILED.format("dir", "No such file or directory")
    assert server.send("CONFIG", "GET", "timeout") == [b"timeout", b"0"]
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        ("nosuch 1", "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'"),
        ("a b c", "-ERR syntax error"),
        ("hz 5 HZ 6", FAILED.format("HZ", "duplicate parameter")),
        ("databases 3 nosuch 2", FAILED.format("databases", "can't set immutable config")),
        ("hz x databases 3", FAILED.format("databases", "can't set immutable config")),
        ("dir /", FAILED.format("dir", "can't set protected config")),
        ("hz abc", FAILED.format("hz", "argument couldn't be parsed into an integer")),
        ("hz 007", FAILED.format("hz", "argument couldn't be parsed into an integer")),
        ("maxclients 0", FAILED.format(
            "maxclients", "argument must be between 1 and 4294967295 inclusive")),
        ("proto-max-bulk-len 1", FAILED.format(
            "proto-max-bulk-len",
            "argument must be between 1048576 and 9223372036854775807 inclusive")),
        ("protected-mode maybe", FAILED.format(
            "protected-mode", "argument must be 'yes' or 'no'")),
        ("appendfsync often", FAILED.format(
            "appendfsync", "argument(s) must be one of the following: everysec, always, no")),
        ("notify-keyspace-events Kq", FAILED.format(
            "notify-keyspace-events",
            "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")),
        ("save 60", FAILED.format("save", "Invalid save parameters")),
    ],
)  # fmt: skip
def test_refusals_are_worded_as_redis_words_them(server, words, reply):
    assert server.send_line(f"CONFIG SET {words}") == reply


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("normal 1 2", "Wrong number of arguments in buffer limit configuration."),
        ("odd 1 2 3", "Invalid client class specified in buffer limit configuration."),
        ("normal 1 2x 3",
         "Error in hard, soft or soft_seconds setting in buffer limit configuration."),
    ],
)  # fmt: skip
def test_bad_output_limits_are_refused(server, value, why):
    reply = server.send("CONFIG", "SET", "client-output-buffer-limit", value)
    assert reply == FAILED.format("client-output-buffer-limit", why)


def test_output_limits_of_one_class_leave_the_others_alone(server):
    server.send("CONFIG", "SET", "client-output-buffer-limit", "replica 2mb 1mb 5")
    limits = server.state.config.client_output_buffer_limit
    assert limits["slave"] == (2 * 1024**2, 1024**2, 5)
    assert limits["normal"] == (0, 0, 0)


def test_a_name_and_its_alias_are_no_duplicates(server):
    reply = server.send_line("CONFIG SET list-max-listpack-size 5 list-max-ziplist-size 6")
    assert reply == b"OK"
    assert server.state.config.list_max_listpack_size == 6


def test_hz_is_limited_to_1_and_500(server):
    server.send_line("CONFIG SET hz 1000")
    assert server.send_line("CONFIG GET hz") == [b"hz", b"500"]


@pytest.mark.parametrize(
    ("name", "value", "missing"),
    [
        ("tls-cluster", "yes", "this server is no cluster node, and its MIGRATE speaks no TLS"),
        ("import-mode", "yes", "this server cannot put off what expires"),
    ],
)  # fmt: skip
def test_a_parameter_of_a_missing_feature_keeps_its_default(server, name, value, missing):
    before = server.send("CONFIG", "GET", name)
    assert server.send("CONFIG", "SET", name, value) == FAILED.format(name, missing)
    assert server.send("CONFIG", "GET", name) == before
    assert server.send("CONFIG", "SET", name, before[1]) == b"OK"


@pytest.mark.parametrize(
    "line",
    [
        "slowlog-log-slower-than 0", "slowlog-max-len 10", "latency-monitor-threshold 100",
        "activedefrag yes", "lazyfree-lazy-user-del yes",
        "oom-score-adj yes", "dynamic-hz no", "hll-sparse-max-bytes 100", "lua-time-limit 1000",
        "repl-diskless-sync-delay 0", "replica-serve-stale-data no", "masterauth secret",
        "cluster-node-timeout 100", "tls-cert-file server.crt", "acllog-max-len 1",
        "list-compress-depth 2",
        "commandlog-request-larger-than -1", "hide-user-data-from-log yes",
    ],
)  # fmt: skip
def test_a_harmless_parameter_without_effect_can_be_set_and_is_shown(server, line):
    assert server.send_line(f"CONFIG SET {line}") == b"OK"
    assert server.send_line(f"CONFIG GET {line.split()[0]}") == [w.encode() for w in line.split()]


def test_names_of_valkey_are_aliases(server):
    server.send_line("CONFIG SET primaryauth secret commandlog-execution-slower-than 7")
    assert server.send_line("CONFIG GET masterauth slowlog-log-slower-than") == [
        b"masterauth", b"secret", b"slowlog-log-slower-than", b"7",
    ]  # fmt: skip


def test_no_name_means_two_parameters():
    names = [name for row in Config() for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("cluster-enabled yes", f"can't set immutable config: {NO_CLUSTER}"),
        ("socket-mark-id 7", f"can't set immutable config: {NO_MARKS}"),
        ("hash-seed x", f"can't set immutable config: {NO_SEED}"),
        ("unixsocketgroup wheel", f"can't set immutable config: {NO_SOCKET_GROUP}"),
        ("rdma-port 5", NO_RDMA),
        ("import-mode yes", NO_IMPORT),
        ("tls-cluster yes", NO_TLS_BUS),
        ("aof-load-corrupt-tail-max-size 1kb", NO_REPAIR),
        # What switches nothing on is refused, or accepted, in Redis's words.
        ("cluster-enabled no", "can't set immutable config"),
        ("cluster-enabled perhaps", "can't set immutable config"),
        ("socket-mark-id -1", "can't set immutable config"),
    ],
)
def test_who_switches_on_a_missing_feature_is_told_what_is_missing(server, words, why):
    name = words.split()[0]
    assert server.send_line(f"CONFIG SET {words}") == FAILED.format(name, why)


def test_maxmemory_takes_effect_at_once(server):
    server.send_line("CONFIG SET maxmemory 1")
    assert server.send_line("SET key value").startswith("-OOM")
    server.send_line("CONFIG SET maxmemory 0")
    assert server.send_line("SET key value") == b"OK"


def test_loglevel_takes_effect_at_once(server):
    log = logging.getLogger("penstock")
    before = log.level
    try:
        server.send_line("CONFIG SET loglevel warning")
        assert not log.isEnabledFor(logging.INFO)
        server.send_line("CONFIG SET loglevel debug")
        assert log.isEnabledFor(logging.DEBUG)
    finally:
        log.setLevel(before)


def test_more_clients_than_the_system_has_files_for_are_refused(server):
    reply = server.send_line("CONFIG SET maxclients 4294967295")
    assert "The operating system is not able to handle" in reply
    assert server.state.config.maxclients == 10000


def test_enable_protected_configs_allows_to_set_dir(make_server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = make_server(enable_protected_configs="yes")
    (tmp_path / "below").mkdir()
    assert server.send("CONFIG", "SET", "dir", "below") == b"OK"
    assert server.send("CONFIG", "GET", "dir")[1] == str(tmp_path / "below").encode()


@pytest.mark.parametrize(
    ("address", "allowed"),
    [("127.0.0.1:5000", True), ("[::1]:5000", True), ("/run/penstock.sock:0", True),
     ("10.0.0.1:5000", False), ("[2001:db8::1]:5000", False), ("?:0", False)],
)  # fmt: skip
def test_enable_protected_configs_local_allows_local_clients_only(
    make_server, tmp_path, monkeypatch, address, allowed
):
    monkeypatch.chdir(tmp_path)
    server = make_server(enable_protected_configs="local")
    server.owner.client.address = address
    assert (server.send("CONFIG", "SET", "dir", str(tmp_path)) == b"OK") is allowed


# ---------------------------------------------------------------------- RESETSTAT, REWRITE and HELP


def test_resetstat_sets_the_counters_to_zero(server):
    server.send_line("SET key value")
    server.send_line("GET key")
    server.send_line("LPUSH key x")
    assert server.send_line("CONFIG RESETSTAT") == b"OK"
    assert (server.state.events.hits, server.state.stats.errors) == (0, 0)
    row = TABLE.find(b"set")
    assert row is not None
    assert server.state.command_stats.of(row).calls == 0


def test_rewrite_needs_a_config_file(server):
    assert server.send_line("CONFIG REWRITE") == "-ERR The server is running without a config file"


def test_rewrite_writes_the_parameters_that_were_set(make_server, tmp_path):
    server = make_server(save=DEFAULT_SAVE_POINTS)
    path = tmp_path / "redis.conf"
    path.write_text("# mine\ntimeout 1\n")
    server.state.config.file = str(path)
    server.send("CONFIG", "SET", "timeout", "9", "requirepass", 'a "word"')
    assert server.send_line("CONFIG REWRITE") == b"OK"
    assert path.read_text() == (
        '# mine\ntimeout 9\n\n# Generated by CONFIG REWRITE\nrequirepass "a \\"word\\""\n'
    )
    assert list(tmp_path.iterdir()) == [path]


def test_the_default_save_points_are_those_of_redis(make_server):
    server = make_server(save=DEFAULT_SAVE_POINTS)
    assert server.send_line("CONFIG GET save") == [b"save", b"3600 1 300 100 60 10000"]


def test_a_failed_rewrite_says_why(server, tmp_path):
    server.state.config.file = str(tmp_path / "gone" / "redis.conf")
    reply = server.send_line("CONFIG REWRITE")
    assert reply == "-ERR Rewriting config file: No such file or directory"


def test_help_names_every_subcommand(server):
    lines = server.send_line("CONFIG HELP")
    assert lines[0] == b"CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    assert b"SET parameter value [parameter value ...]" in lines


def test_an_unknown_subcommand_is_refused(server):
    assert server.send_line("CONFIG foo") == "-ERR unknown subcommand 'foo'. Try CONFIG HELP."


def test_the_form_of_the_log_can_be_changed_and_where_it_goes_cannot(server):
    """As in Valkey; and as in Redis, for syslog."""
    for name, value in (("log-format", "logfmt"), ("log-timestamp-format", "iso8601")):
        assert server.send("CONFIG", "SET", name, value) == b"OK"
        assert server.send("CONFIG", "GET", name) == [name.encode(), value.encode()]
    assert server.send("CONFIG", "SET", "log-format", "xml") == FAILED.format(
        "log-format", "argument(s) must be one of the following: legacy, logfmt, json"
    )
    for name in ("syslog-enabled", "syslog-ident", "syslog-facility", "logfile", "pidfile"):
        refused = server.send("CONFIG", "SET", name, "yes")
        assert refused == FAILED.format(name, "can't set immutable config")
