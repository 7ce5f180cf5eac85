"""Loading a copy of the primary's data: what clients see while it is loaded."""

import pytest

from server.config.parameters import Config
from server.following.copy_loading import load_copy
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.server.conftest import SocketlessServer


@pytest.fixture
def replica(server):
    """A key of its old data has expired, of another a field; the primary has not said DEL yet."""
    server.send_line("SET key old PX 1000")
    server.send_line("HSET hash f v")
    server.send_line("HPEXPIRE hash 1000 FIELDS 1 f")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    server.advance(1001)
    server.send_line("CONFIG SET key-load-delay 1000")
    return server


@pytest.fixture
def saved_by_another(tmp_path):
    """The primary's copy, of a few keys."""
    theirs = SocketlessServer(Config())
    theirs.send_line("MSET key new a 1 b 2 c 3")
    theirs.send_line("HSET hash f new")
    path = tmp_path / "copy.rdb"
    path.write_bytes(b"".join(SnapshotWriter(theirs.state.databases, {})))
    return path


def seen(server):
    return [server.send_line(line) for line in ("GET key", "EXISTS key", "HGET hash f")]


def test_a_copy_that_is_loaded_beside_the_data_shows_nobody_what_has_expired(
    replica, saved_by_another
):
    replica.send_line("CONFIG SET repl-diskless-load swapdb")
    slices = 0
    for _ in load_copy(replica.state, saved_by_another):
        slices += 1
        assert seen(replica) == [None, 0, None]
    assert slices > 1
    assert seen(replica) == [b"new", 1, b"new"]


def test_while_a_copy_replaces_the_data_no_key_expires(replica, saved_by_another):
    """Nobody is served then; what looks at keys all the same leaves them to the primary."""
    slices = 0
    for _ in load_copy(replica.state, saved_by_another):
        slices += 1
        assert replica.state.events.lookup.keeps_expired
    assert slices > 1
    assert not replica.state.events.lookup.keeps_expired
