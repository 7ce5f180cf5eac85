"""Libraries of functions: kept in snapshots and logs, changed whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from protocol.replies import ErrorReply
from server.parts.persistence.log_commands import CommandPieces
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter

ONE = b"#!lua name=one\nredis.register_function('f', function() return 'one' end)"
TWO = b"#!lua name=two\nredis.register_function('g', function() return 'two' end)"


def test_a_library_that_fails_leaves_the_old_one(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    for broken in (
        b"#!lua name=one\nredis.register_function('f', function() return 'new' end) error('x')",
        b"#!lua name=one\nreturn (",
        b"#!lua name=one\nlocal x = 1",
    ):
        assert server.send("FUNCTION", "LOAD", "REPLACE", broken).startswith("-ERR")
    assert server.send("FCALL", "f", 0) == b"one"


def test_an_endless_library_is_ended(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    endless = b"#!lua name=one\nwhile true do end"
    assert server.send("FUNCTION", "LOAD", "REPLACE", endless) == (
        "-ERR Error registering functions: ERR FUNCTION LOAD timeout"
    )
    assert server.send("FCALL", "f", 0) == b"one"


def test_a_library_is_loaded_after_a_function_was_killed(server: Any) -> None:
    """Once, the end that it was told ended the next library too."""
    server.state.scripting.run.end_if_unwritten()
    long = ONE + b" for i = 1, 100000 do end"
    assert server.send("FUNCTION", "LOAD", long) == b"one"


def test_two_functions_of_one_name_but_for_its_case(server: Any) -> None:
    both = ONE + b" redis.register_function('F', function() return 'F' end)"
    assert server.send("FUNCTION", "LOAD", both) == b"one"
    assert server.send("FCALL", "f", 0) == server.send("FCALL", "F", 0) == b"F"
    assert server.send("FUNCTION", "DELETE", "one") == b"OK"
    assert server.send("FCALL", "f", 0) == "-ERR Function not found"


def test_a_function_that_was_called_last_goes_with_its_library(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    assert server.send("FCALL", "f", 0) == b"one"
    server.send("FUNCTION", "LOAD", "REPLACE", ONE.replace(b"'one'", b"'new'"))
    assert server.send("FCALL", "f", 0) == b"new"
    server.send("FUNCTION", "DELETE", "one")
    assert server.send("FCALL", "f", 0) == "-ERR Function not found"
    server.send("FUNCTION", "LOAD", ONE)
    assert server.send("FCALL", "f", 0) == b"one"
    server.send("FUNCTION", "FLUSH")
    assert server.send("FCALL", "f", 0) == "-ERR Function not found"


def test_a_function_of_another_library_is_not_taken(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    other = TWO.replace(b"'g'", b"'F'")
    assert server.send("FUNCTION", "LOAD", other) == "-ERR Function F already exists"
    assert server.send("FUNCTION", "LOAD", TWO) == b"two"


def test_dump_and_restore(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    dumped = server.send("FUNCTION", "DUMP")
    assert server.send("FUNCTION", "RESTORE", dumped) == "-ERR Library one already exists"
    server.send("FUNCTION", "LOAD", TWO)
    assert server.send("FUNCTION", "RESTORE", dumped, "REPLACE") == b"OK"
    assert server.send("FCALL", "g", 0) == b"two"
    assert server.send("FUNCTION", "RESTORE", dumped, "FLUSH") == b"OK"
    assert server.send("FCALL", "g", 0) == "-ERR Function not found"
    assert server.send("FCALL", "f", 0) == b"one"


def test_what_is_restored_replaces_all_of_its_names_at_once(server: Any) -> None:
    """A function may go from one of these libraries to another."""
    moved = ONE.replace(b"'f'", b"'g'"), TWO.replace(b"'g'", b"'f'")
    for source in moved:
        server.send("FUNCTION", "LOAD", source)
    dumped = server.send("FUNCTION", "DUMP")
    server.send("FUNCTION", "FLUSH")
    for source in (ONE, TWO):
        server.send("FUNCTION", "LOAD", source)
    assert server.send("FUNCTION", "RESTORE", dumped, "REPLACE") == b"OK"
    assert (server.send("FCALL", "g", 0), server.send("FCALL", "f", 0)) == (b"one", b"two")
    memory = server.state.scripting.memory_of_functions()[1]
    server.send("FUNCTION", "DELETE", "two")
    server.send("FUNCTION", "DELETE", "one")
    assert server.state.scripting.memory_of_functions()[1] == 0 < memory


def test_of_a_payload_that_does_not_fit_nothing_is_loaded(server: Any) -> None:
    for source in (ONE, TWO):
        server.send("FUNCTION", "LOAD", source)
    dumped = server.send("FUNCTION", "DUMP")
    server.send("FUNCTION", "FLUSH")
    server.send("FUNCTION", "LOAD", TWO.replace(b"name=two", b"name=third"))
    for policy in ("APPEND", "REPLACE"):
        refusal = server.send("FUNCTION", "RESTORE", dumped, policy)
        assert refusal == "-ERR Function g already exists"
    assert server.send("FCALL", "f", 0) == "-ERR Function not found"
    assert server.send("FUNCTION", "LOAD", ONE) == b"one"


@pytest.mark.parametrize("at", [0, 1, 5, -12, -9, -1])
def test_a_payload_that_was_changed_is_refused(server: Any, at: int) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    payload = bytearray(server.send("FUNCTION", "DUMP"))
    payload[at] ^= 1
    assert server.send("FUNCTION", "RESTORE", bytes(payload), "FLUSH").startswith("-ERR DUMP")
    assert server.send("FCALL", "f", 0) == b"one"


def test_libraries_stand_in_a_snapshot(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    server.send("FUNCTION", "LOAD", TWO)
    libraries = server.state.persistence.functions.library_sources
    saved = b"".join(SnapshotWriter(server.state.databases, {}, libraries=libraries))
    reader = SnapshotReader(saved)
    assert list(reader) == []
    assert reader.functions == [ONE, TWO]


def test_libraries_stand_in_a_log_without_preamble(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    libraries = server.state.persistence.functions.library_sources
    logged = b"".join(CommandPieces(server.state.databases, libraries))
    assert logged.startswith(b"*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n")


def test_what_was_saved_replaces_a_library_of_its_name_if_so(make_server: Any) -> None:
    server = make_server()
    server.send("FUNCTION", "LOAD", ONE.replace(b"'one'", b"'old'"))
    with pytest.raises(ErrorReply, match="Library 'one' already exists"):
        server.state.persistence.functions.load_stored(ONE, False)
    assert server.send("FCALL", "f", 0) == b"old"
    server.state.persistence.functions.load_stored(ONE, True)
    assert server.send("FCALL", "f", 0) == b"one"


def test_a_reload_takes_the_libraries_of_the_snapshot_and_no_others(
    make_server: Any, folder: Path
) -> None:
    server = make_server(enable_debug_command="yes")
    reload = ("DEBUG", "RELOAD", "NOSAVE")
    server.send("FUNCTION", "LOAD", ONE)
    server.send("SAVE")
    assert server.send(*reload, "NOFLUSH").startswith("-ERR Error trying to load the RDB dump")
    assert server.state.persistence.progress is None  # a load that has failed is over, too
    assert server.send("FCALL", "f", 0) == b"one"
    server.send("FUNCTION", "LOAD", TWO)
    assert server.send(*reload, "NOFLUSH", "MERGE") == b"OK"
    assert server.send("FCALL", "g", 0) == b"two"
    assert server.send(*reload) == b"OK"
    assert server.send("FCALL", "f", 0) == b"one"
    assert server.send("FCALL", "g", 0) == "-ERR Function not found"
    assert server.send("DEBUG", "RELOAD") == b"OK"
    assert server.send("FCALL", "f", 0) == b"one"


def test_flushall_leaves_functions(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    server.send("FLUSHALL")
    assert server.send("FCALL", "f", 0) == b"one"


def test_functions_keep_what_they_share_among_themselves(server: Any) -> None:
    server.send(
        "FUNCTION",
        "LOAD",
        "#!lua name=n\nlocal n = 0 redis.register_function('n', function() n = n + 1 return n end)",
    )
    assert [server.send("FCALL", "n", 0) for _ in range(3)] == [1, 2, 3]


def test_a_million_calls_do_not_grow_lua(server: Any) -> None:
    server.send("FUNCTION", "LOAD", ONE)
    for _ in range(2000):
        server.send("FCALL", "f", 0)
    before = server.state.scripting.vm_memory
    for _ in range(20_000):
        server.send("FCALL", "f", 0)
    assert server.state.scripting.vm_memory < before + 100_000
