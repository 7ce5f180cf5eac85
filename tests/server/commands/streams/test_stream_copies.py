"""COPY and MOVE of streams include groups, consumers, pending entries, times and counters."""

from __future__ import annotations

import pytest

from tests.compat.random_commands import Draw

SEQUENCES = 15
COMMANDS = 60
STREAMS = [b"s", b"t", b"missing"]  # the names that random commands use


def full(house, key):
    return house.send("XINFO", "STREAM", key, "FULL", "COUNT", "0")


def value_digest(house, key):
    return house.send("DEBUG", "DIGEST-VALUE", key)


@pytest.fixture(params=range(SEQUENCES))
def after_random_commands(request, make_house):
    """A server after random stream commands, and more random commands to run on it."""
    house = make_house(enable_debug_command="yes")
    draw = Draw(f"copies-{request.param}")
    for command in draw.sequence("groups", COMMANDS):
        play(house, command)
    return house, draw.sequence("groups", COMMANDS)


def play(house, command):
    house.send(*command)
    if house.owner.waits:
        house.advance(5)
    house.owner.client.out.truncate(0)
    house.advance(1)


def streams_in(house):
    return [key for key in STREAMS if house.send("EXISTS", key)]


def test_a_copy_equals_its_original(after_random_commands):
    house, _ = after_random_commands
    for key in streams_in(house):
        house.send("COPY", key, "copy", "REPLACE")
        assert full(house, "copy") == full(house, key)
        assert value_digest(house, "copy") == value_digest(house, key)


def test_changes_of_the_original_do_not_change_the_copy(after_random_commands):
    house, more = after_random_commands
    copies = {}
    for key in streams_in(house):
        house.send("COPY", key, b"copy of " + key)
        copies[key] = full(house, key)
    for command in more:
        play(house, command)
    for key, before in copies.items():
        assert full(house, b"copy of " + key) == before


def test_changes_of_the_copy_do_not_change_the_original(after_random_commands):
    house, more = after_random_commands
    originals = {key: full(house, key) for key in streams_in(house)}
    for key in originals:
        house.send("RENAME", key, b"original " + key)
        house.send("COPY", b"original " + key, key)
    for command in more:
        play(house, command)
    for key, before in originals.items():
        assert full(house, b"original " + key) == before


def test_a_copy_behaves_like_its_original(after_random_commands):
    """Run the same commands on the original and on the copy: the results are equal."""
    house, more = after_random_commands
    for key in streams_in(house):
        house.send("COPY", key, key, "DB", "1")
    start_ms = house.now_ms
    ends = []
    for db in (0, 1):
        house.now_ms = start_ms
        house.send("SELECT", db)
        for command in more:
            play(house, command)
        ends.append([full(house, key) for key in streams_in(house)])
    assert ends[0] == ends[1]


def test_a_moved_stream_is_unchanged(after_random_commands):
    house, _ = after_random_commands
    for key in streams_in(house):
        before = full(house, key), value_digest(house, key)
        house.send("MOVE", key, 1)
        assert not house.send("EXISTS", key)
        house.send("SELECT", 1)
        assert (full(house, key), value_digest(house, key)) == before
        house.send("SELECT", 0)
