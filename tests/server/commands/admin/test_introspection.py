"""COMMAND: what it shows of the command table."""

import re
from copy import copy

import pytest

from protocol.replies import OK
from server.commands.admin.introspection import docs_of
from server.table.command import TABLE, Command, Flags
from server.table.keys import NOT_KEY, OW, RM, RO, RW


def every_row():
    return [row for parent in TABLE for row in (parent, *parent.subcommands.values())]


def as_dict(flat):
    return dict(zip(flat[::2], flat[1::2], strict=True))


# ---------------------------------------------------------------------- the declarations


@pytest.mark.parametrize("row", every_row(), ids=lambda row: row.name)
def test_every_command_can_be_documented(row):
    docs = docs_of(row)
    assert docs[b"summary"]
    assert row.subcommands or row.syntax


SPECS = [(row, spec) for row in every_row() for spec in row.keys if NOT_KEY not in spec.flags]


@pytest.mark.parametrize(("row", "spec"), SPECS, ids=lambda it: getattr(it, "name", None))
def test_every_key_spec_has_one_access(row, spec):
    accesses = [access for access in (RO, RW, OW, RM) if access in spec.flags]
    assert len(accesses) == 1
    if row.flags & Flags.READONLY and not row.flags & Flags.MAY_REPLICATE:
        assert accesses == [RO]


@pytest.mark.parametrize("row", every_row(), ids=lambda row: row.name)
def test_types_are_declared_for_existing_arguments_only(row):
    assert row.argument_types.keys() <= set(re.split(r"[][ ]", row.syntax))


# ---------------------------------------------------------------------- COMMAND INFO


def test_command_info_has_the_ten_elements_of_redis_7(server):
    (row,) = server.send_line("COMMAND INFO get")
    spec = [
        b"flags", [b"RO", b"access"],
        b"begin_search", [b"type", b"index", b"spec", [b"index", 1]],
        b"find_keys",
        [b"type", b"range", b"spec", [b"lastkey", 0, b"keystep", 1, b"limit", 0]],
    ]  # fmt: skip
    assert row[:2] == [b"get", 2]
    assert row[2] == [b"readonly", b"fast"]
    assert row[3:6] == [1, 1, 1]
    assert sorted(row[6]) == [b"@fast", b"@read", b"@string"]
    assert row[7:] == [[], [spec], []]


@pytest.mark.parametrize(
    ("name", "begin", "find"),
    [
        ("xread", [b"type", b"keyword", b"spec", [b"keyword", b"STREAMS", b"startfrom", 1]],
         [b"lastkey", -1, b"keystep", 1, b"limit", 2]),
        ("xreadgroup", [b"type", b"keyword", b"spec", [b"keyword", b"STREAMS", b"startfrom", 4]],
         [b"lastkey", -1, b"keystep", 1, b"limit", 2]),
        ("blmpop", [b"type", b"index", b"spec", [b"index", 2]],
         [b"keynumidx", 0, b"firstkey", 1, b"keystep", 1]),
        ("mset", [b"type", b"index", b"spec", [b"index", 1]],
         [b"lastkey", -1, b"keystep", 2, b"limit", 0]),
        ("blpop", [b"type", b"index", b"spec", [b"index", 1]],
         [b"lastkey", -2, b"keystep", 1, b"limit", 0]),
    ],
)  # fmt: skip
def test_key_specs_tell_where_the_keys_are(server, name, begin, find):
    spec = as_dict(server.send("COMMAND", "INFO", name)[0][8][0])
    assert spec[b"begin_search"] == begin
    assert as_dict(spec[b"find_keys"])[b"spec"] == find


def test_keys_that_are_used_differently_have_a_spec_each(server):
    specs = [as_dict(spec) for spec in server.send_line("COMMAND INFO lmove")[0][8]]
    assert [spec[b"flags"] for spec in specs] == [[b"RW", b"access", b"delete"], [b"RW", b"insert"]]
    assert [as_dict(spec[b"begin_search"])[b"spec"][1] for spec in specs] == [1, 2]


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("ping", [b"fast"]),
        ("exec", [b"noscript", b"loading", b"stale", b"skip_slowlog"]),
        ("script|flush", [b"noscript"]),
    ],
)
def test_internal_flags_are_not_shown(server, name, flags):
    assert server.send("COMMAND", "INFO", name)[0][2] == flags


@pytest.mark.parametrize(
    ("name", "categories"),
    [
        ("get", {b"@string", b"@read", b"@fast"}),
        ("multi", {b"@transaction", b"@fast"}),
        ("restore", {b"@keyspace", b"@write", b"@dangerous", b"@slow"}),
        ("waitaof", {b"@connection", b"@blocking", b"@slow"}),
        ("config|get", {b"@admin", b"@dangerous", b"@slow"}),
        ("blpop", {b"@list", b"@write", b"@blocking", b"@slow"}),
    ],
)
def test_acl_categories_come_from_the_group_and_the_flags(server, name, categories):
    assert set(server.send("COMMAND", "INFO", name)[0][6]) == categories


def test_tips_are_shown_in_the_order_of_their_declaration(server):
    (row,) = server.send_line("COMMAND INFO scan")
    assert row[7] == [
        b"nondeterministic_output", b"request_policy:special", b"response_policy:special",
    ]  # fmt: skip


def test_xreadgroup_shows_its_key_as_read_only_as_redis_does(server):
    (row,) = server.send_line("COMMAND INFO xreadgroup")
    assert b"write" in row[2]
    assert as_dict(row[8][0])[b"flags"] == [b"RO", b"access"]


def test_a_container_command_lists_its_subcommands(server):
    (row,) = server.send_line("COMMAND INFO CONFIG")
    assert {child[0] for child in row[9]} >= {b"config|get", b"config|set"}
    assert row[6] == [b"@slow"]


def test_command_info_finds_subcommands_by_full_name_and_answers_null_for_unknown_names(server):
    rows = server.send_line("COMMAND INFO config|get nosuch config|nosuch")
    assert rows[0][0] == b"config|get"
    assert rows[1:] == [None, None]


def test_command_describes_every_command_and_count_counts_them(server):
    assert len(server.send_line("COMMAND")) == len(TABLE)
    assert len(server.send_line("COMMAND INFO")) == len(TABLE)
    assert server.send_line("COMMAND COUNT") == len(TABLE)


def test_an_unknown_subcommand_is_refused(server):
    assert server.send_line("COMMAND foo") == "-ERR unknown subcommand 'foo'. Try COMMAND HELP."


def test_resp3_clients_get_sets_and_maps(server):
    server.owner.client.speak(3)
    raw = server.owner.raw("COMMAND", "INFO", "get")
    assert raw.startswith(b"*1\r\n*10\r\n$3\r\nget\r\n:2\r\n~2\r\n+readonly\r\n+fast\r\n:1\r\n")
    assert b"~1\r\n%3\r\n$5\r\nflags\r\n~2\r\n+RO\r\n+access\r\n" in raw


# ---------------------------------------------------------------------- COMMAND DOCS


def test_docs_have_summary_and_arguments(server):
    docs = as_dict(as_dict(server.send_line("COMMAND DOCS rename"))[b"rename"])
    assert docs[b"since"] == b"1.0.0"
    assert docs[b"group"] == b"generic"
    assert docs[b"arguments"] == [
        [b"name", b"key", b"type", b"key", b"key_spec_index", 0],
        [b"name", b"newkey", b"type", b"key", b"key_spec_index", 1],
    ]


def test_docs_show_deprecation(server):
    docs = as_dict(as_dict(server.send_line("COMMAND DOCS getset"))[b"getset"])
    assert docs[b"doc_flags"] == [b"deprecated"]
    assert docs[b"deprecated_since"] == b"6.2.0"


def test_docs_show_the_history(server):
    docs = as_dict(as_dict(server.send_line("COMMAND DOCS xtrim"))[b"xtrim"])
    assert docs[b"history"] == [
        [b"6.2.0", b"Trimming by MINID, and LIMIT."],
        [b"8.2.0", b"KEEPREF, DELREF and ACKED."],
    ]


def test_docs_show_penstock_s_own_words_in_the_history(server):
    docs = as_dict(as_dict(server.send_line("COMMAND DOCS xnack"))[b"xnack"])
    assert docs[b"history"] == [
        [b"Penstock 0.1.0", b"DELAY, AT: nobody is given the entries before that."],
        [b"Penstock 0.1.0", b"REASON: what a dead letter says of how it failed."],
    ]


def test_docs_say_by_which_spec_each_key_is_found(server):
    docs = as_dict(as_dict(server.send_line("COMMAND DOCS xgroup"))[b"xgroup"])
    arguments = as_dict(as_dict(docs[b"subcommands"])[b"xgroup|cfgset"])[b"arguments"]
    dead = next(row for row in map(as_dict, arguments) if b"DEADLETTER" in str(row).encode())
    assert as_dict(arguments[0])[b"key_spec_index"] == 0
    assert as_dict(dead[b"arguments"][0])[b"key_spec_index"] == 1


@pytest.mark.parametrize(
    ("name", "argument", "type_"),
    [
        ("xrange", b"start", b"string"),
        ("lrange", b"start", b"integer"),
        ("client|pause", b"timeout", b"integer"),
        ("blpop", b"timeout", b"double"),
        ("incrbyfloat", b"increment", b"double"),
    ],
)
def test_an_argument_has_the_type_of_its_name_unless_declared_otherwise(
    server, name, argument, type_
):
    docs = as_dict(as_dict(server.send("COMMAND", "DOCS", name))[name.encode()])
    types = {as_dict(a)[b"name"]: as_dict(a)[b"type"] for a in docs[b"arguments"]}
    assert types[argument] == type_


def test_docs_leave_out_unknown_commands_and_show_all_without_names(server):
    assert server.send_line("COMMAND DOCS nosuch") == []
    assert len(as_dict(server.send_line("COMMAND DOCS"))) == len(TABLE)


# ---------------------------------------------------------------------- COMMAND LIST


def test_list_can_be_filtered(server):
    assert b"xread" in server.send_line("COMMAND LIST")
    assert sorted(server.send_line("COMMAND LIST FILTERBY PATTERN xr[ae]*")) == [
        b"xrange", b"xread", b"xreadgroup", b"xredrive", b"xrevrange",
    ]  # fmt: skip
    assert b"config|get" in server.send_line("COMMAND LIST FILTERBY ACLCAT admin")
    assert b"get" not in server.send_line("COMMAND LIST FILTERBY ACLCAT admin")
    assert server.send_line("COMMAND LIST FILTERBY MODULE json") == []


@pytest.mark.parametrize("words", ["foo", "FILTERBY", "FILTERBY PATTERN", "FILTERBY foo bar"])
def test_a_bad_filter_is_a_syntax_error(server, words):
    assert server.send_line(f"COMMAND LIST {words}") == "-ERR syntax error"


# ---------------------------------------------------------------------- COMMAND GETKEYS


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("mset a 1 b 2", [b"a", b"b"]),
        ("object encoding a", [b"a"]),
        ("lmpop 2 a b left", [b"a", b"b"]),
        ("blpop a b 0", [b"a", b"b"]),
        ("xread count 1 streams a b 0 0", [b"a", b"b"]),
        ("xread streams a b 0", [b"a"]),
        ("xreadgroup group STREAMS c streams a >", [b"a"]),
    ],
)
def test_getkeys_finds_the_keys_that_the_command_uses(server, line, keys):
    assert server.send_line(f"COMMAND GETKEYS {line}") == keys


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("nosuch a", "Invalid command specified"),
        ("config nosuch a", "Invalid command specified"),
        ("config get a", "The command has no key arguments"),
        ("get a b", "Invalid number of arguments specified for command"),
        ("xread streams a", "Invalid number of arguments specified for command"),
        ("lmpop 5 a b", "Invalid arguments specified for command"),
        ("zinterstore d 99999999999999999999 a", "Invalid arguments specified for command"),
    ],
)
def test_getkeys_refuses_a_command_that_could_not_run(server, line, error):
    assert server.send_line(f"COMMAND GETKEYS {line}") == f"-ERR {error}"


@pytest.mark.parametrize("line", ["eval s 0", "eval s 9 a", "evalsha s 0 a", "fcall_ro f 0"])
def test_getkeys_of_a_script_without_keys_is_an_empty_list(server, line):
    assert server.send_line(f"COMMAND GETKEYS {line}") == []


def test_getkeysandflags_shows_the_flags_of_each_key(server):
    assert server.send_line("COMMAND GETKEYSANDFLAGS lmove a b left right") == [
        [b"a", [b"RW", b"access", b"delete"]],
        [b"b", [b"RW", b"insert"]],
    ]


def test_migrate_has_one_key_or_the_keys_option(server):
    one = [b"a", [b"RW", b"access", b"delete"]]
    ask = "COMMAND", "GETKEYSANDFLAGS", "migrate", "h", "1"
    assert server.send(*ask, "a", "0", "1") == [one]
    other = [b"b", one[1]]
    assert server.send(*ask, "", "0", "1", "AUTH", "KEYS", "keys", "a", "b") == [one, other]
    assert server.send(*ask, "a", "0", "1", "KEYS", "b") == (
        "-ERR Invalid arguments specified for command"
    )


def test_set_has_the_access_flag_only_with_get(server):
    assert server.send_line("COMMAND GETKEYSANDFLAGS set a b") == [[b"a", [b"OW", b"update"]]]
    assert server.send_line("COMMAND GETKEYSANDFLAGS set a b GET") == [
        [b"a", [b"RW", b"access", b"update"]]
    ]


def test_command_list_has_the_subcommands(server):
    listed = server.send_line("COMMAND LIST")
    assert {b"config", b"config|get", b"xgroup|create", b"get"} <= set(listed)
    assert len(listed) == len(set(listed))
    assert sorted(listed) == sorted(server.send_line("COMMAND LIST FILTERBY PATTERN *"))
    assert server.send_line("COMMAND COUNT") == sum(b"|" not in name for name in listed)


# ---------------------------------------------------------------------- replies that are kept


@pytest.mark.parametrize("line", ["COMMAND", "COMMAND INFO", "COMMAND DOCS"])
def test_replies_about_all_commands_are_the_same_the_second_time(line, server):
    first = server.owner.raw(*line.split())
    assert server.owner.raw(*line.split()) == first
    server.owner.client.speak(3)
    assert server.owner.raw(*line.split()) != first
    server.owner.client.speak(2)
    assert server.owner.raw(*line.split()) == first


def test_a_command_that_is_declared_later_is_in_the_reply(server, monkeypatch):
    before = server.send_line("COMMAND")
    for name in ("_rows", "_all_rows", "by_spelling"):
        monkeypatch.setattr(TABLE, name, copy(getattr(TABLE, name)))
    row = Command("later", arity=1, flags=Flags(0), group="generic", since="1")
    row.attach(lambda _call: OK)
    TABLE.add(row)
    after = server.send_line("COMMAND")
    assert len(after) == len(before) + 1
    assert b"later" in [shown[0] for shown in after]
