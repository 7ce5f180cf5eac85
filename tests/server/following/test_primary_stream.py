"""The stream of a primary: what was run counts, whatever ends the link."""

import pytest

from protocol.requests import ProtocolError
from server.client.client import Client
from server.following.primary_stream import BrokenStreamError, PrimaryStream

INCR = b"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"
MULTI = b"*1\r\n$5\r\nMULTI\r\n"
EXEC = b"*1\r\n$4\r\nEXEC\r\n"
NO_SUCH_DB = b"*2\r\n$6\r\nSELECT\r\n$2\r\n99\r\n"


@pytest.fixture
def follow(server):
    """Makes a stream of a primary's changes for *server*."""
    server.state.replication.history.keep_backlog(1000)
    server.send_line("REPLICAOF 10.0.0.9 7000")

    def make():
        return PrimaryStream(server.dispatcher, Client(0, 0))

    return make


def offset(server):
    return server.state.replication.history.offset


@pytest.mark.parametrize(
    ("rest", "error"), [(NO_SUCH_DB, BrokenStreamError), (b"*x\r\n", ProtocolError)]
)
def test_what_was_run_before_the_stream_broke_does_not_come_again(server, follow, rest, error):
    stream = follow()
    with pytest.raises(error):
        stream.take(INCR + INCR + rest + INCR)
    assert server.send_line("GET n") == b"2"
    assert offset(server) == 2 * len(INCR)


@pytest.mark.parametrize("cut", range(1, len(INCR)))
def test_a_part_of_a_command_counts_when_it_is_whole(server, follow, cut):
    stream = follow()
    stream.take(INCR + INCR[:cut])
    assert offset(server) == len(INCR)
    stream.take(INCR[cut:])
    assert offset(server) == 2 * len(INCR)
    assert server.send_line("GET n") == b"2"


def test_a_transaction_counts_when_it_was_run(server, follow):
    stream = follow()
    stream.take(INCR + MULTI + INCR)
    stream.take(INCR)
    assert offset(server) == len(INCR)
    stream.take(EXEC)
    assert offset(server) == len(INCR + MULTI + INCR + INCR + EXEC)
    assert server.send_line("GET n") == b"3"


def test_data_that_are_replaced_are_of_no_history_until_the_copy_is_whole(server, follow):
    replication = server.state.replication
    name = replication.history.id
    follow().take(INCR)
    assert replication.history.continues(name, offset(server) + 1)
    replication.data_replaced()
    assert not replication.history.continues(name, offset(server) + 1)
    assert replication.history.id != name


def test_no_parameter_of_the_replica_bounds_what_its_primary_sends(make_server):
    """The primary has run it: refused here, it would come again and again."""
    server = make_server(proto_max_bulk_len=1 << 20, client_query_buffer_limit=1 << 20)
    server.state.replication.history.keep_backlog(1000)
    size = (1 << 20) + 1
    stream = PrimaryStream(server.dispatcher, Client(0, 0))
    stream.take(MULTI + b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n" % size + bytes(size) + b"\r\n")
    stream.take(EXEC)
    assert server.send_line("STRLEN k") == size


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)


def test_what_looks_at_keys_between_commands_removes_none_that_has_expired(server, follow):
    """Once, a reader that waited on a replica, or INFO keysizes, removed keys of the primary's."""
    stream = follow()
    stream.take(command(b"XADD", b"s", b"1-1", b"f", b"v"))
    past_ms = server.state.events.clock.now_ms - 1
    reader = server.client()
    reader.send_line("XREAD BLOCK 0 STREAMS s $")
    stream.take(command(b"PEXPIREAT", b"s", b"%d" % past_ms))
    stream.take(command(b"XADD", b"s", b"2-1", b"f", b"v"))
    database = server.state.databases[0]
    assert database.peek(b"s") is None
    assert len(database) == 1
    stream.take(command(b"PERSIST", b"s"))
    assert server.send_line("XLEN s") == 2


def test_a_pause_of_writes_keeps_what_has_expired(server):
    """Once, what looked at keys between two commands removed it, and logged that."""
    server.send_line("SET k v PX 10")
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.advance(20)
    database = server.state.databases[0]
    assert database.peek(b"k") is None
    assert len(database) == 1
