"""CLIENT and its subcommands, as redis 7.0.15 and 7.4 answer them."""

from __future__ import annotations

import pytest

from server.table.command import TABLE
from tests.server.conftest import NOTHING

SYNTAX = "-ERR syntax error"
FIELDS_OF_8_8 = (
    "id addr laddr fd name age idle flags db sub psub ssub multi watch qbuf qbuf-free argv-mem"
    " multi-mem rbs rbp obl oll omem tot-mem events cmd user redir resp lib-name lib-ver io-thread"
    " tot-net-in tot-net-out tot-cmds read-events parse-batch-cmd-sum parse-batch-cnt"
)


def fields(line):
    return dict(pair.split("=", 1) for pair in line.decode().split())


def listed(server, *words):
    """What CLIENT LIST shows: id -> fields."""
    lines = server.send("CLIENT", "LIST", *words).splitlines()
    return {int(fields(line)["id"]): fields(line) for line in lines}


# ---------------------------------------------------------------------- ID, names and switches


def test_client_ids_grow(server):
    assert server.send_line("CLIENT ID") == 1
    assert server.client().send_line("CLIENT ID") == 2


def test_setname_and_getname(server):
    assert server.send_line("CLIENT GETNAME") is None
    assert server.send_line("CLIENT SETNAME worker") == b"OK"
    assert server.send_line("CLIENT GETNAME") == b"worker"
    assert server.send("CLIENT", "SETNAME", "") == b"OK"
    assert server.send_line("CLIENT GETNAME") is None


@pytest.mark.parametrize("name", ["a b", "a\nb", "\x7f", "é"])
def test_setname_refuses_unprintable_names(server, name):
    assert server.send("CLIENT", "SETNAME", name) == (
        "-ERR Client names cannot contain spaces, newlines or special characters."
    )
    assert server.send_line("CLIENT GETNAME") is None


def test_setinfo_sets_the_name_and_version_of_the_library(server):
    assert server.send_line("CLIENT SETINFO lib-name redis-py") == b"OK"
    assert server.send_line("CLIENT SETINFO LIB-VER 5.1.0") == b"OK"
    shown = fields(server.send_line("CLIENT INFO"))
    assert (shown["lib-name"], shown["lib-ver"]) == ("redis-py", "5.1.0")
    assert server.send("CLIENT", "SETINFO", "lib-name", "a b") == (
        "-ERR lib-name cannot contain spaces, newlines or special characters."
    )
    assert server.send_line("CLIENT SETINFO foo x") == "-ERR Unrecognized option 'foo'"


@pytest.mark.parametrize("what", ["NO-EVICT", "NO-TOUCH"])
def test_no_evict_and_no_touch_show_in_the_flags(server, what):
    letter = {"NO-EVICT": "e", "NO-TOUCH": "T"}[what]
    assert server.send("CLIENT", what, "ON") == b"OK"
    assert fields(server.send_line("CLIENT INFO"))["flags"] == letter
    assert server.send("CLIENT", what, "off") == b"OK"
    assert fields(server.send_line("CLIENT INFO"))["flags"] == "N"
    assert server.send("CLIENT", what, "foo") == SYNTAX


# ---------------------------------------------------------------------- LIST


def test_a_client_that_waits_says_for_which_keys(server):
    one, many, patterns = server.client(), server.client(), server.client()
    assert one.send("BLPOP", "a key", "x,y=%\xff", "0") is NOTHING
    assert many.send("BLPOP", *"abcdef", "0") is NOTHING
    assert patterns.send_line("XREAD BLOCK 0 MATCH orders:* $") is NOTHING
    shown = listed(server)
    assert shown[2]["waits"] == "a%20key,x%2Cy%3D%25%C3%BF"
    assert shown[3]["waits"] == "a,b,c,d,..."
    assert shown[4]["waits"] == "orders:*"
    assert "waits" not in shown[1]


def test_a_key_that_a_client_waits_for_is_cut(server):
    assert server.client().send("BLPOP", "k" * 101, "0") is NOTHING
    assert listed(server)[2]["waits"] == "k" * 100 + "..."


def test_cmd_is_the_last_command_even_if_it_was_queued_postponed_or_refused(server):
    queuing, held, refused = server.client(), server.client(), server.client()
    queuing.send_line("MULTI")
    queuing.send_line("GET a")
    server.send_line("CLIENT PAUSE 1000 WRITE")
    held.send_line("SET a 1")
    refused.send_line("XINFO STREAM")
    shown = listed(server)
    assert [shown[guest.client.id]["cmd"] for guest in (queuing, held, refused)] == [
        "get",
        "set",
        "xinfo|stream",
    ]


def test_cmd_is_exec_after_a_transaction(server):
    guest = server.client()
    for line in ("MULTI", "GET a", "EXEC"):
        guest.send_line(line)
    assert listed(server)[guest.client.id]["cmd"] == "exec"


def test_the_fields_are_those_of_redis_8_6(server):
    assert " ".join(fields(server.send_line("CLIENT INFO"))) == FIELDS_OF_8_8


def test_client_info_is_verbatim_text(server):
    server.send_line("HELLO 3")
    assert b"txt:id=1 addr=10.0.0.1:5001 laddr=10.0.0.2:6379 " in server.owner.raw("CLIENT", "INFO")


def test_client_list_shows_the_state_of_each_client(server):
    guest = server.client()
    guest.send_line("HELLO 3 SETNAME worker")
    guest.send_line("SELECT 3")
    guest.send_line("WATCH a b")
    guest.send_line("MULTI")
    guest.send_line("SET a 12345")
    server.advance(2500)
    shown = listed(server)[guest.client.id]
    assert shown["name"] == "worker"
    assert (shown["db"], shown["multi"], shown["watch"]) == ("3", "1", "2")
    assert (shown["age"], shown["idle"]) == ("2", "2")
    assert (shown["flags"], shown["resp"], shown["multi-mem"]) == ("x", "3", "9")
    assert shown["cmd"] == "set"


def test_cmd_is_the_running_command_and_null_before_the_first_one(server):
    assert fields(server.send_line("CLIENT INFO"))["cmd"] == "client|info"
    silent = server.client()
    assert listed(server)[silent.client.id]["cmd"] == "NULL"


def test_the_flags_show_that_a_watched_key_has_changed(server):
    guest = server.client()
    guest.send_line("WATCH a")
    server.send_line("SET a 1")
    assert listed(server)[guest.client.id]["flags"] == "d"


def test_client_list_by_id_and_by_type(server):
    for _ in range(3):
        server.client()
    assert list(listed(server)) == [1, 2, 3, 4]
    assert list(listed(server, "ID", 3, 99, 1)) == [3, 1]
    assert list(listed(server, "TYPE", "NORMAL")) == [1, 2, 3, 4]
    assert list(listed(server, "TYPE", "replica")) == []


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("TYPE foo", "-ERR Unknown client type 'foo'"),
        ("TYPE", SYNTAX),
        ("ID", SYNTAX),
        ("ID x", "-ERR Invalid client ID"),
        ("ID 1 x", "-ERR Invalid client ID"),
        ("FOO", SYNTAX),
    ],
)
def test_client_list_refuses(server, words, answer):
    assert server.send_line(f"CLIENT LIST {words}") == answer


# ---------------------------------------------------------------------- REPLY


def test_reply_off_and_on(server):
    assert server.send_line("CLIENT REPLY OFF") == NOTHING
    assert server.send_line("PING") == NOTHING
    assert server.send_line("foo") == NOTHING
    assert server.send_line("CLIENT REPLY SKIP") == NOTHING
    assert server.send_line("PING") == NOTHING
    assert server.send_line("CLIENT REPLY ON") == b"OK"
    assert server.send_line("PING") == b"PONG"


def test_reply_skip_swallows_the_next_reply(server):
    assert server.send_line("CLIENT REPLY SKIP") == NOTHING
    assert server.send_line("PING") == NOTHING
    assert server.send_line("PING") == b"PONG"


def test_two_skips_swallow_one_reply(server):
    server.send_line("CLIENT REPLY SKIP")
    server.send_line("CLIENT REPLY SKIP")
    assert server.send_line("PING") == NOTHING
    assert server.send_line("PING") == b"PONG"


def test_reply_off_inside_a_transaction_swallows_its_reply(server):
    server.send_line("MULTI")
    server.send_line("CLIENT REPLY OFF")
    assert server.send_line("EXEC") == NOTHING


def test_reply_refuses_other_modes(server):
    assert server.send_line("CLIENT REPLY foo") == SYNTAX


# ---------------------------------------------------------------------- KILL


def test_kill_by_address(server):
    guest = server.client()
    assert server.send("CLIENT", "KILL", guest.client.address) == b"OK"
    assert guest.gone
    assert server.send("CLIENT", "KILL", guest.client.address) == "-ERR No such client"


def test_a_client_that_kills_itself_by_address_gets_the_reply(server):
    assert server.send("CLIENT", "KILL", server.owner.client.address) == b"OK"
    assert server.owner.client.close_after_reply
    assert not server.owner.gone


@pytest.mark.parametrize(
    ("words", "killed"),
    [
        ("ID 2", {2}),
        ("ID 1", set()),
        ("ID 1 SKIPME NO", {1}),
        ("ID 99", set()),
        ("TYPE normal", {2, 3}),
        ("TYPE normal SKIPME no", {1, 2, 3}),
        ("TYPE pubsub", set()),
        ("USER default", {2, 3}),
        ("ADDR 10.0.0.1:5003", {3}),
        ("LADDR 10.0.0.2:6379", {2, 3}),
        ("ADDR 10.0.0.1:5003 ID 2", set()),
        ("MAXAGE 60", {2}),
        ("ID 2 ID 3", {3}),
    ],
)
def test_kill_by_filters(server, words, killed):
    old = server.client()
    server.advance(60_000)
    young = server.client()
    server.owner.client.created_ms = server.now_ms
    assert server.send_line(f"CLIENT KILL {words}") == len(killed)
    gone = {guest.client.id for guest in (old, young) if guest.gone}
    assert gone | ({1} if server.owner.client.close_after_reply else set()) == killed


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("ID 0", "-ERR client-id should be greater than 0"),
        ("ID x", "-ERR client-id should be greater than 0"),
        ("TYPE foo", "-ERR Unknown client type 'foo'"),
        ("USER foo", "-ERR No such user 'foo'"),
        ("SKIPME foo", SYNTAX),
        ("FOO bar", SYNTAX),
        ("ID 99 FOO", SYNTAX),
        ("ID 99 ADDR", SYNTAX),
        ("MAXAGE x", "-ERR maxage is not an integer or out of range"),
        ("MAXAGE 0", "-ERR maxage should be greater than 0"),
    ],
)
def test_a_refused_kill_kills_no_client(server, words, answer):
    guest = server.client()
    assert server.send_line(f"CLIENT KILL {words}") == answer
    assert not guest.gone


# ---------------------------------------------------------------------- UNBLOCK and PAUSE


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("UNBLOCK x", "-ERR value is not an integer or out of range"),
        ("UNBLOCK 1 foo", "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
        ("UNBLOCK x foo", "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"),
        ("UNBLOCK 99", 0),
        ("UNBLOCK 1", 0),
        (
            "unblock 1 timeout x",
            "-ERR unknown subcommand or wrong number of arguments for 'unblock'. Try CLIENT HELP.",
        ),
        ("PAUSE x", "-ERR timeout is not an integer or out of range"),
        ("PAUSE x foo", "-ERR CLIENT PAUSE mode must be WRITE or ALL"),
        ("PAUSE -1", "-ERR timeout is negative"),
        ("PAUSE 9223372036854775807", "-ERR timeout is out of range"),
        (
            "pause 0 write x",
            "-ERR unknown subcommand or wrong number of arguments for 'pause'. Try CLIENT HELP.",
        ),
        ("PAUSE 0", b"OK"),
        ("UNPAUSE", b"OK"),
        ("foo", "-ERR unknown subcommand 'foo'. Try CLIENT HELP."),
    ],
)
def test_unblock_and_pause_check_their_arguments(server, words, answer):
    assert server.send_line(f"CLIENT {words}") == answer
    assert not server.state.pausing.active


# ---------------------------------------------------------------------- HELP


def test_help_shows_each_subcommand_and_what_it_does(server):
    lines = server.send_line("CLIENT HELP")
    at = lines.index(b"UNBLOCK client-id [TIMEOUT | ERROR]")
    assert lines[at + 1].startswith(b"    Ends a client's wait")
    row = TABLE.find(b"client")
    assert row is not None
    assert len(lines) == 1 + 2 * len(row.subcommands)
