"""COPY and MOVE of streams include groups, consumers, pending entries, times and counters."""

from __future__ import annotations

import pytest

from tests.compat.random_commands import Draw

SEQUENCES = 15
COMMANDS = 60
STREAMS = [b"s", b"t", b"missing"]  # the names that random commands use


def full(server, key):
    return server.send("XINFO", "STREAM", key, "FULL", "COUNT", "0")


def value_digest(server, key):
    return server.send("DEBUG", "DIGEST-VALUE", key)


@pytest.fixture(params=range(SEQUENCES))
def after_random_commands(request, make_server):
    """A server after random stream commands, and more random commands to run on it."""
    server = make_server(enable_debug_command="yes")
    draw = Draw(f"copies-{request.param}")
    for command in draw.sequence("groups", COMMANDS):
        play(server, command)
    return server, draw.sequence("groups", COMMANDS)


def play(server, command):
    server.send(*command)
    if server.owner.waits:
        server.advance(5)
    server.owner.client.out.truncate(0)
    server.advance(1)


def streams_in(server):
    return [key for key in STREAMS if server.send("EXISTS", key)]


def test_a_copy_equals_its_original(after_random_commands):
    server, _ = after_random_commands
    for key in streams_in(server):
        server.send("COPY", key, "copy", "REPLACE")
        assert full(server, "copy") == full(server, key)
        assert value_digest(server, "copy") == value_digest(server, key)


def test_changes_of_the_original_do_not_change_the_copy(after_random_commands):
    server, more = after_random_commands
    copies = {}
    for key in streams_in(server):
        server.send("COPY", key, b"copy of " + key)
        copies[key] = full(server, key)
    for command in more:
        play(server, command)
    for key, before in copies.items():
        assert full(server, b"copy of " + key) == before


def test_changes_of_the_copy_do_not_change_the_original(after_random_commands):
    server, more = after_random_commands
    originals = {key: full(server, key) for key in streams_in(server)}
    for key in originals:
        server.send("RENAME", key, b"original " + key)
        server.send("COPY", b"original " + key, key)
    for command in more:
        play(server, command)
    for key, before in originals.items():
        assert full(server, b"original " + key) == before


def test_a_copy_behaves_like_its_original(after_random_commands):
    """Run the same commands on the original and on the copy: the results are equal."""
    server, more = after_random_commands
    for key in streams_in(server):
        server.send("COPY", key, key, "DB", "1")
    start_ms = server.now_ms
    ends = []
    for db in (0, 1):
        server.now_ms = start_ms
        server.send("SELECT", db)
        for command in more:
            play(server, command)
        ends.append([full(server, key) for key in streams_in(server)])
    assert ends[0] == ends[1]


def test_a_moved_stream_is_unchanged(after_random_commands):
    server, _ = after_random_commands
    for key in streams_in(server):
        before = full(server, key), value_digest(server, key)
        server.send("MOVE", key, 1)
        assert not server.send("EXISTS", key)
        server.send("SELECT", 1)
        assert (full(server, key), value_digest(server, key)) == before
        server.send("SELECT", 0)
