"""Refusals that depend on a parameter, memory, rights, time or a limit: which origins get them.

What was refused to nobody when it ran first must not be refused when it is run again: the data
would be others than those that were acknowledged. CASES is the table of all such refusals, and each
of them is tried from each origin. A handler that asks for what they depend on is in KNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from protocol.replies import ErrorReply
from server.client.client import Client
from server.following.primary_stream import PrimaryStream
from storage.keyspace.key_lookups import STRING
from storage.payload import dump

ROOT = Path(__file__).parents[3]
ORIGINS = ("client", "exec", "script", "log", "primary")
FIRST = frozenset(("client", "exec", "script"))

LONG = b"x" * 20
DUMPED = dump(b"value")
WITHOUT_CHECKSUM = DUMPED[:-8] + bytes(8)

Words = list[bytes]


@dataclass(frozen=True)
class Case:
    """*words* are run where *state* holds, after *made*: they get the *error*."""

    what: str
    state: Callable[[Any], None]
    words: Words
    error: str
    made: Words | None = None


def short_strings(server: Any) -> None:
    server.state.config.proto_max_bulk_len = 10


def no_memory_left(server: Any) -> None:
    server.run_out_of_memory()


def disk_fails(server: Any) -> None:
    server.state.restrictions.refuse_writes(ErrorReply("MISCONF", "the disk fails"))


def lacks_replicas(server: Any) -> None:
    server.state.config.min_replicas_to_write = 1
    server.state.follow_config()


def is_loading(server: Any) -> None:
    server.state.restrictions.set_phase(loading=True)


def few_rights(server: Any) -> None:
    server.send_line("ACL SETUSER default -set -setbit resetkeys ~other*")


def checks_sums(server: Any) -> None:
    """As is the default: what was written without checksums was let in by another parameter."""


def nothing(server: Any) -> None:
    """All is as it always is."""


SETRANGE = [b"SETRANGE", b"k", b"20", b"x"]

CASES = [
    # parameters
    Case("proto-max-bulk-len", short_strings, [b"APPEND", b"k", LONG], "string exceeds",
         made=[b"SET", b"k", b"v"]),
    Case("proto-max-bulk-len", short_strings, SETRANGE, "string exceeds"),
    Case("proto-max-bulk-len", short_strings, [b"SETBIT", b"k", b"%d" % 2**32, b"0"],
         "bit offset"),
    Case("rdbchecksum", checks_sums, [b"RESTORE", b"k", b"0", WITHOUT_CHECKSUM], "DUMP payload"),
    # memory
    Case("maxmemory", no_memory_left, [b"SET", b"k", b"v"], "command not allowed when used memory"),
    # the disk, replicas
    Case("the disk fails", disk_fails, [b"SET", b"k", b"v"], "the disk fails"),
    Case("min-replicas-to-write", lacks_replicas, [b"SET", b"k", b"v"], "Not enough good replicas"),
    # rights
    Case("rights on commands", few_rights, [b"SET", b"other", b"v"], "permissions"),
    Case("rights on keys", few_rights, [b"INCR", b"k"], "permissions"),
    Case("rights on patterns of SORT", few_rights,
         [b"SORT", b"other", b"BY", b"w_*", b"STORE", b"other2"], "BY option of SORT denied"),
    # the syntax that is logged, and that no client may use
    Case("LIMIT of an exact trim", nothing,
         [b"XADD", b"k", b"MAXLEN", b"=", b"1", b"LIMIT", b"1", b"1-1", b"f", b"v"], "LIMIT"),
]  # fmt: skip

# Scripts are asked before they run, by their first line; an AOF of Redis before 7.0 may hold one.
SHEBANG = b"#!lua\nreturn redis.call('set', KEYS[1], 'v')"
EVAL_CASES = [
    Case("maxmemory, of a script", no_memory_left, [b"EVAL", SHEBANG, b"1", b"k"], "used memory"),
    Case("the disk fails, for a script", disk_fails, [b"EVAL", SHEBANG, b"1", b"k"],
         "the disk fails"),
    Case("maxmemory, in a script", no_memory_left,
         [b"EVAL", b"return redis.call('set', KEYS[1], 'v')", b"1", b"k"], "used memory"),
    Case("min-replicas-to-write, in a script", lacks_replicas,
         [b"EVAL", b"return redis.call('set', KEYS[1], 'v')", b"1", b"k"], "Not enough"),
    Case("proto-max-bulk-len, in a script", short_strings,
         [b"EVAL", b"return redis.call('setrange', KEYS[1], 20, 'x')", b"1", b"k"], "exceeds"),
]  # fmt: skip


def run_from(server: Any, origin: str, words: Words) -> str:
    """Run *words* as *origin* does; the text of the error, or ""."""
    if origin == "client":
        return text_of(server.send(*words))
    if origin == "exec":
        server.send("MULTI")
        queued = server.send(*words)
        done = server.send("EXEC")
        return text_of(queued) or text_of(done) or text_of(done[0])
    if origin == "script":
        call = b"return redis.call(unpack(ARGV))"
        return text_of(server.send("EVAL", call, 0, *words))
    if origin == "log":
        error: str = server.dispatcher.replaying.begin()(words)
    else:
        error = ""
        PrimaryStream(server.dispatcher, Client(0, 0)).take(on_the_wire(words))
    failed: int = server.state.replay_failures.total
    return error or "failed" * failed


def on_the_wire(words: Words) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)


def text_of(reply: Any) -> str:
    return reply if isinstance(reply, str) and reply.startswith("-") else ""


def name_of(case: Case) -> str:
    return f"{case.words[0].decode()} {case.what}"


@pytest.fixture
def made(make_server):
    """Makes a server with what a case needs."""

    def make(case):
        server = make_server()
        server.state.replication.history.keep_backlog(1000)
        if case.made:
            server.send(*case.made)
        case.state(server)
        return server

    return make


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_only_who_runs_a_command_first_is_refused(case, origin, made):
    error = run_from(made(case), origin, case.words)
    if origin in FIRST:
        assert case.error in error
    else:
        assert not error


@pytest.mark.parametrize("case", EVAL_CASES, ids=name_of)
def test_a_script_that_was_logged_is_not_refused_either(case, made):
    assert case.error in run_from(made(case), "client", case.words)
    server = made(case)
    assert not run_from(server, "log", case.words)
    assert server.state.databases[0].find(b"k", STRING) is not None


def test_who_has_waited_is_asked_for_memory_and_rights_again(server):
    """It was admitted when it came; see Admission."""
    memory, rights = server.client(), server.client()
    server.send_line("ACL SETUSER ann on nopass ~* +@all")
    rights.send_line("AUTH ann any")
    memory.send_line("BLMOVE a b LEFT LEFT 0")
    rights.send_line("BLPOP c 0")
    server.send_line("ACL SETUSER ann resetkeys")
    server.send_line("RPUSH c 1")
    assert "permissions" in rights.reply()
    server.run_out_of_memory()
    server.state.replication.history.keep_backlog(1000)
    run_from(server, "primary", [b"RPUSH", b"a", b"1"])
    assert "used memory" in memory.reply()


# ---------------------------------------------------------------------- handlers

# What a refusal must not be made of without asking where the command comes from.
STATE = ("config", "restrictions", "key_eviction", "flags", "user", "now_ms", "access")

# Functions of commands that an AOF or a primary holds, that read one of these and refuse something.
# Each is in CASES, or the reason says why it refuses all origins alike.
KNOWN = {
    "keys/dump_restore.py restore": "CASES",
    "keys/databases.py _flush": "it refuses words that are no option",
    "keys/sorting.py _check_rights": "CASES; who replays has all rights",
    "scripting/running.py _check": "EVAL_CASES",
    "scripting/running.py checked_flags": "EVAL_CASES",
    "hashes/time_steps.py absolute_ms": "a time that is logged is absolute",
    "strings/compared_strings.py delex": "its words alone; it is logged as DEL",
    "strings/many_strings.py msetex": "it is logged as MSET or SETs; see absolute_ms",
    "streams/adding/stream_once.py add_once": "an id that is logged is whole",
    "streams/adding/stream_steps.py add_entry": "an id that is logged is whole",
    "shared/side_rights.py check_written": "who replays has all rights",
    "streams/adding/add_options.py __init__": "a time that is logged is absolute, and bounded",
    "streams/adding/stream_schedules.py _check_cron": "it is not called for what is replayed",
    "streams/groups/stream_releases.py __init__": "a time that is logged is absolute, and bounded",
    "streams/groups/group_policies.py xextend": "it is logged as XCLAIM",
    "streams/stream_info.py xinfo_consumers": "it only reads",
    "scripting/eval.py _run_script": "its flags are the script's; see _check",
    "scripting/eval.py _call_function": "its flags are the function's; see _check",
    "scripting/functions.py function_stats": "it only reads",
    "scripting/scripts.py kill": "it is not logged",
}
NEVER_REPLAYED = ("admin", "cluster", "connection", "observe", "pubsub", "replication", "users")


def refusing_functions():
    """The functions of commands that may be replayed, read some state, and refuse something."""
    for path in sorted((ROOT / "server" / "commands").rglob("*.py")):
        family = path.relative_to(ROOT / "server" / "commands")
        if family.parts[0] in NEVER_REPLAYED:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and _reads_state(node) and _refuses(node):
                yield f"{family} {node.name}"


def _reads_state(function):
    return any(isinstance(n, ast.Attribute) and n.attr in STATE for n in ast.walk(function))


def _refuses(function):
    return any(isinstance(n, ast.Raise) for n in ast.walk(function))


def test_each_handler_that_refuses_by_the_state_of_the_server_is_in_the_table():
    assert set(refusing_functions()) == set(KNOWN)
