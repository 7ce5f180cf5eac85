"""DEBUG, SCRIPT FLUSH and FUNCTION FLUSH."""

import logging
import re
import time

import pytest

from server.parts.persistence.load_progress import LoadProgress


@pytest.fixture
def server(make_server):
    return make_server(enable_debug_command="yes")


# ---------------------------------------------------------------------- who may use it


def test_debug_is_refused_by_default(make_server):
    assert make_server().send_line("DEBUG SLEEP 0") == (
        '-ERR DEBUG command not allowed. If the enable-debug-command option is set to "local",'
        " you can run it from a local connection, otherwise you need to set this option in the"
        " configuration file, and then restart the server."
    )


def test_enable_debug_command_local_allows_local_clients_only(make_server):
    server = make_server(enable_debug_command="local")
    assert server.send_line("DEBUG SLEEP 0").startswith("-ERR DEBUG command not allowed")
    server.owner.client.address = "127.0.0.1:5000"
    assert server.send_line("DEBUG SLEEP 0") == b"OK"


@pytest.mark.parametrize("line", ["foo", "SLEEP", "SLEEP 1 2", "POPULATE 1 2 3 4"])
def test_unknown_subcommands_and_wrong_arity_are_refused(server, line):
    word = line.split()[0]
    assert server.send_line(f"DEBUG {line}") == (
        f"-ERR unknown subcommand or wrong number of arguments for '{word}'. Try DEBUG HELP."
    )


# ---------------------------------------------------------------------- subcommands


def test_error_answers_an_error_in_the_words_of_the_client(server):
    assert server.owner.raw(b"DEBUG", b"ERROR", b"LOADING a\r\nb") == b"-LOADING a  b\r\n"
    assert server.owner.raw(b"DEBUG", b"ERROR", b"") == b"-\r\n"


def test_sleep_stops_the_server_for_that_long(server, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    assert server.send_line("DEBUG SLEEP 0.25") == b"OK"
    assert slept == [0.25]
    assert server.send_line("DEBUG SLEEP soon") == "-ERR value is not a valid float"


def test_set_active_expire_stops_and_starts_the_expiry_cycle(server):
    server.send_line("DEBUG SET-ACTIVE-EXPIRE 0")
    assert not server.state.config.switches.active_expire
    server.send_line("DEBUG SET-ACTIVE-EXPIRE 1")
    assert server.state.config.switches.active_expire


def test_quicklist_packed_threshold_gives_large_elements_their_own_nodes(server):
    try:
        assert server.send_line("DEBUG QUICKLIST-PACKED-THRESHOLD 10b") == b"OK"
        server.send("RPUSH", "list", *["x" * 5000] * 2)  # more than one listpack
        server.send("RPUSH", "list", "small", "x" * 10, "small")
        assert b"ql_nodes:5" in server.send_line("DEBUG OBJECT list")
        server.send("RPUSH", "short", "small", "x" * 10, "small")
        assert server.send_line("OBJECT ENCODING short") == b"listpack"
    finally:
        assert server.send_line("DEBUG QUICKLIST-PACKED-THRESHOLD 0") == b"OK"
    server.send("RPUSH", "later", "small", "x" * 10, "small")
    assert b"ql_nodes:1" in server.send_line("DEBUG OBJECT later")


@pytest.mark.parametrize("size", ["x", "5gb", "-1"])
def test_quicklist_packed_threshold_has_bounds(server, size):
    assert server.send_line(f"DEBUG QUICKLIST-PACKED-THRESHOLD {size}") == (
        "-ERR argument must be a memory value bigger than 1 and smaller than 4gb"
    )


def test_debug_object_shows_the_encoding(server):
    server.send_line("SET text hello")
    line = server.send_line("DEBUG OBJECT text").decode()
    assert line.startswith("Value at:0x")
    assert " refcount:1 encoding:embstr " in line


def test_debug_object_shows_the_nodes_of_a_list(server):
    server.send_line("RPUSH list 1 2 3")
    line = server.send_line("DEBUG OBJECT list")
    assert b" ql_nodes:1 ql_avg_node:3.00 ql_listpack_max:-2 ql_compressed:0 " in line


@pytest.mark.parametrize("action", ["OBJECT", "LISTPACK"])
def test_a_missing_key_is_an_error(server, action):
    assert server.send_line(f"DEBUG {action} nosuch") == "-ERR no such key"


def test_a_listpack_is_described_in_the_log(server, caplog):
    server.send_line("RPUSH list 1 two")
    with caplog.at_level(logging.WARNING, "penstock"):
        assert server.send_line("DEBUG LISTPACK list") == b"Listpack structure written to the log"
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["listpack: 14 bytes, 2 elements", "     6: 1", "     8: b'two'"]


def test_debug_listpack_refuses_other_encodings(server):
    server.send_line("SET text hello")
    assert server.send_line("DEBUG LISTPACK text") == "-ERR Not a listpack encoded object."


def test_populate_makes_keys_and_leaves_existing_ones(server):
    server.send_line("SET key:1 mine")
    assert server.send_line("DEBUG POPULATE 3") == b"OK"
    assert server.send_line("MGET key:0 key:1 key:2") == [b"value:0", b"mine", b"value:2"]


def test_populate_takes_a_prefix_and_a_size(server):
    server.send_line("DEBUG POPULATE 1 a 10")
    server.send_line("DEBUG POPULATE 1 b 3")
    assert server.send_line("MGET a:0 b:0") == [b"value:0\0\0\0", b"val"]


@pytest.mark.parametrize("line", ["x", "-1", "1 a b", "1 a -1"])
def test_populate_refuses_bad_numbers(server, line):
    assert server.send_line(f"DEBUG POPULATE {line}") == (
        "-ERR value is out of range, must be positive"
    )


def test_populate_refuses_values_beyond_the_maximum_size(server):
    assert "exceeds maximum allowed size" in server.send_line("DEBUG POPULATE 1 a 600000000")


PROTOCOL_REPLIES = [
    ("string", b"$11\r\nHello World\r\n", b"$11\r\nHello World\r\n"),
    ("integer", b":12345\r\n", b":12345\r\n"),
    ("double", b"$5\r\n3.141\r\n", b",3.141\r\n"),
    ("null", b"$-1\r\n", b"_\r\n"),
    ("array", b"*3\r\n:0\r\n:1\r\n:2\r\n", b"*3\r\n:0\r\n:1\r\n:2\r\n"),
    ("set", b"*3\r\n:0\r\n:1\r\n:2\r\n", b"~3\r\n:0\r\n:1\r\n:2\r\n"),
    ("map", b"*6\r\n:0\r\n:0\r\n:1\r\n:1\r\n:2\r\n:0\r\n",
     b"%3\r\n:0\r\n#f\r\n:1\r\n#t\r\n:2\r\n#f\r\n"),
    ("attrib", b"$39\r\nSome real reply following the attribute\r\n",
     b"|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n"
     b"$39\r\nSome real reply following the attribute\r\n"),
    ("push", b"-ERR RESP2 is not supported by this command\r\n",
     b">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n"
     b"$40\r\nSome real reply following the push reply\r\n"),
    ("verbatim", b"$25\r\nThis is a verbatim\nstring\r\n",
     b"=29\r\ntxt:This is a verbatim\nstring\r\n"),
    ("true", b":1\r\n", b"#t\r\n"),
    ("false", b":0\r\n", b"#f\r\n"),
    ("bignum", b"$37\r\n1234567999999999999999999999999999999\r\n",
     b"(1234567999999999999999999999999999999\r\n"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "resp2", "resp3"), PROTOCOL_REPLIES)
def test_protocol_answers_every_type_as_redis_does(server, kind, resp2, resp3):
    """The bytes are those of redis 7.0.15."""
    assert server.owner.raw("DEBUG", "PROTOCOL", kind) == resp2
    server.owner.client.speak(3)
    assert server.owner.raw("DEBUG", "PROTOCOL", kind) == resp3


def test_protocol_refuses_other_types(server):
    assert server.send_line("DEBUG PROTOCOL foo").startswith("-ERR Wrong protocol type name.")


def test_debug_help_shows_subcommands(server):
    lines = server.send_line("DEBUG HELP")
    assert b"SLEEP <seconds>" in lines
    assert b"HELP" in lines


# ---------------------------------------------------------------------- scripts


@pytest.mark.parametrize("line", ["SCRIPT FLUSH", "SCRIPT FLUSH async", "FUNCTION FLUSH SYNC"])
def test_script_flush_and_function_flush_answer_ok(server, line):
    assert server.send_line(line) == b"OK"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("SCRIPT FLUSH foo", "SCRIPT FLUSH only support SYNC|ASYNC option"),
        ("SCRIPT FLUSH SYNC x", "SCRIPT FLUSH only support SYNC|ASYNC option"),
        ("FUNCTION FLUSH foo", "FUNCTION FLUSH only supports SYNC|ASYNC option"),
        ("FUNCTION FLUSH SYNC x",
         "unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP."),
        ("SCRIPT foo", "unknown subcommand 'foo'. Try SCRIPT HELP."),
    ],
)  # fmt: skip
def test_script_flush_and_function_flush_check_their_mode(server, line, error):
    assert server.send_line(line) == f"-ERR {error}"


def test_script_and_function_have_help(server):
    assert b"FLUSH [ASYNC | SYNC]" in server.send_line("SCRIPT HELP")
    assert b"FLUSH [ASYNC | SYNC]" in server.send_line("FUNCTION HELP")


@pytest.mark.parametrize(
    ("line", "name", "set_to", "default"),
    [
        ("DEBUG PAUSE-CRON 1", "cron", False, True),
        ("DEBUG PAUSE-CRON 0", "cron", True, True),
        ("DEBUG SET-SKIP-CHECKSUM-VALIDATION 1", "checksums", False, True),
        ("DEBUG SET-ACTIVE-EXPIRE 0", "active_expire", False, True),
        ("DEBUG AOF-FLUSH-SLEEP 500000", "flush_sleep_s", 0.5, 0.0),
        ("DEBUG AOF-FLUSH-SLEEP -1", "flush_sleep_s", 0.0, 0.0),
        ("DEBUG AOF-FLUSH-SLEEP x", "flush_sleep_s", 0.0, 0.0),
    ],
)
def test_debug_sets_a_switch(server, line, name, set_to, default):
    switches = server.state.config.switches
    assert getattr(switches, name) == default
    assert server.send_line(line) == b"OK"
    assert getattr(switches, name) == set_to


def test_set_skip_checksum_validation_lets_restore_take_a_wrong_checksum(server):
    server.send_line("SET k v")
    payload = server.send_line("DUMP k")
    wrong = payload[:-1] + bytes([payload[-1] ^ 1])
    assert server.send("RESTORE", "l", 0, wrong).startswith("-ERR DUMP payload version or checksum")
    server.send_line("DEBUG SET-SKIP-CHECKSUM-VALIDATION 1")
    assert server.send("RESTORE", "l", 0, wrong) == b"OK"
    server.send_line("DEBUG SET-SKIP-CHECKSUM-VALIDATION 0")
    assert server.send("RESTORE", "m", 0, wrong).startswith("-ERR DUMP payload version or checksum")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("PEAK-RESET-TIME 100", b"OK"),
        ("PEAK-RESET-TIME never", b"OK"),
        ("PEAK-RESET-TIME reset", b"OK"),
        ("PEAK-RESET-TIME x", "-ERR value is not an integer or out of range"),
        ("RESIZING 0", b"OK"),
    ],
)
def test_replybuffer_is_accepted_without_effect(server, words, answer):
    assert server.send_line(f"DEBUG REPLYBUFFER {words}") == answer


def test_debug_object_shows_the_last_use_and_the_size_when_it_is_saved(server):
    server.send_line("SET a hello")
    server.advance(5000)
    line = server.send_line("DEBUG OBJECT a")
    last_use_s = server.now_ms // 1000 - 5 & (2**24 - 1)
    assert b" encoding:embstr serializedlength:6 " in line
    assert line.endswith(b" lru:%d lru_seconds_idle:5" % last_use_s)


def test_debug_object_shows_whether_lists_are_to_be_compressed(server):
    server.send("RPUSH", "list", *["x" * 100] * 1000)
    assert b" ql_compressed:0 " in server.send_line("DEBUG OBJECT list")
    server.send_line("CONFIG SET list-compress-depth 1")
    assert b" ql_compressed:1 " in server.send_line("DEBUG OBJECT list")


def test_set_disable_deny_scripts_lets_scripts_call_what_is_not_for_them(server):
    script = "return redis.call('CLIENT', 'ID')"
    assert b"not allowed from script" in server.send("EVAL", script, 0).encode()
    assert server.send_line("DEBUG SET-DISABLE-DENY-SCRIPTS 1") == b"OK"
    assert server.send("EVAL", script, 0) == 1
    assert server.send_line("DEBUG SET-DISABLE-DENY-SCRIPTS 0") == b"OK"
    assert b"not allowed from script" in server.send("EVAL", script, 0).encode()


@pytest.mark.parametrize(
    "words",
    [
        "'SCRIPT', 'FLUSH'", "'FUNCTION', 'FLUSH'", "'EVAL', 'return 1', 0", "'FCALL', 'f', 0",
        "'DEBUG', 'RELOAD'", "'DEBUG', 'LOADAOF'",
    ],
)  # fmt: skip
def test_whatever_scripts_may_call_they_do_not_end_what_they_run_in(server, words):
    library = f"redis.register_function('f', function() return redis.call({words}) end)"
    server.send("FUNCTION", "LOAD", "#!lua name=one\n" + library)
    server.send_line("DEBUG SET-DISABLE-DENY-SCRIPTS 1")
    for call in (("EVAL", f"return redis.call({words})", 0), ("FCALL", "f", 0)):
        assert "not allowed from script" in server.send(*call)
    assert server.send("EVAL", "return 1", 0) == 1


def test_debug_log_writes_a_message_to_the_log(server, caplog):
    assert server.send("DEBUG", "LOG", "hello there") == b"OK"
    assert "DEBUG LOG: hello there" in caplog.text


def test_change_repl_id_gives_the_history_another_name(server):
    before = server.state.replication.history.id
    assert server.send_line("DEBUG CHANGE-REPL-ID") == b"OK"
    assert server.state.replication.history.id != before


def test_debug_replicate_sends_replicas_what_is_not_run_here(server):
    feed = server.state.replication.feed
    feed.is_attached = True
    server.state.propagation.attach(feed)
    assert server.send_line("DEBUG REPLICATE SET a b") == b"OK"
    assert server.send_line("EXISTS a") == 0
    feed.send()
    assert feed.history.offset > 0


@pytest.mark.parametrize("line", ["RELOAD", "RELOAD NOSAVE", "LOADAOF", "POPULATE 10"])
def test_while_data_are_loaded_none_are_put_in_their_place(server, line):
    server.send_line("SET k v")
    server.state.persistence.progress = LoadProgress(1000)
    assert server.send_line(f"DEBUG {line}").startswith("-LOADING")
    server.state.persistence.progress = None
    assert server.send_line("KEYS *") == [b"k"]


def test_what_had_expired_before_a_reload_goes_by_a_del_that_is_logged(server, folder):
    """Once, it was not loaded: INCR made a new key here, and the log had it count on from 41."""
    server.send_line("SET k 41 PX 10")
    server.pass_time(20)
    assert server.send_line("DEBUG RELOAD") == b"OK"
    assert server.send_line("INCR k") == 1
    assert server.transactions()[-1] == [b"DEL k", b"INCR k"]


def test_sdslen_tells_lengths_and_that_no_room_is_left(server):
    server.send("SET", "key", "x" * 40_000)
    told = server.send_line("DEBUG SDSLEN key").decode()
    pattern = (
        r"key_sds_len:3, key_sds_avail:0, key_zmalloc: \d+,"
        r" val_sds_len:40000, val_sds_avail:0, val_zmalloc: 400\d\d"
    )
    assert re.fullmatch(pattern, told)


def test_quicklist_writes_the_nodes_of_a_list_to_the_log(server, caplog):
    server.send("RPUSH", "list", *["x" * 3000] * 4)
    assert server.send_line("DEBUG QUICKLIST list") == b"Quicklist structure written to the log"
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == "quicklist: 4 elements in 2 nodes"
    assert len(said) == 3
    server.send("RPUSH", "short", "a")
    assert server.send_line("DEBUG QUICKLIST short") == "-ERR Not a quicklist encoded object."


def test_set_allow_access_expired_lets_commands_see_what_has_expired(server):
    server.send_line("SET a 1 PX 10")
    server.send_line("HSET h f v g v")
    server.send_line("HPEXPIRE h 10 FIELDS 1 f")
    server.send_line("DEBUG SET-ALLOW-ACCESS-EXPIRED 1")
    server.advance(20)
    assert server.send_line("GET a") == b"1"
    assert server.send_line("HGET h f") == b"v"
    server.send_line("DEBUG SET-ALLOW-ACCESS-EXPIRED 0")
    assert server.send_line("GET a") is None
    assert server.send_line("HGET h f") is None
