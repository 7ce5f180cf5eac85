"""REPLCONF, PSYNC and WAIT, as replicas and those who wait for them use them."""

from __future__ import annotations

import re

import pytest

from server.client.client import MUTED, REPLICA
from tests.server.conftest import NOTHING

NOREPLICAS = "-NOREPLICAS Not enough good replicas to write."
ID = re.compile(rb"[0-9a-f]{40}")


class FakeReplica:
    """A replica that has all there is, and the bytes that it is sent."""

    def __init__(self, server, port=7001, is_penstock=True):
        self.server = server
        self.client = server.client()
        assert self.client.send("REPLCONF", "listening-port", port) == b"OK"
        assert self.client.send("REPLCONF", "capa", "eof", "capa", "psync2") == b"OK"
        if is_penstock:
            assert self.client.send("REPLCONF", "capa", "penstock") == b"OK"
        replication = server.state.replication
        if replication.history.backlog is None:
            replication._begin_backlog()
        offset = replication.feed.offset() + 1
        reply = self.client.raw("PSYNC", replication.history.id, offset)
        assert reply == b"+CONTINUE " + replication.history.id.encode() + b"\r\n"
        self.client.endpoint.send = lambda: None

    def ack(self, offset=None, *words):
        """Tell that all up to *offset* has been run; by default all there is."""
        if offset is None:
            offset = self.server.state.replication.feed.offset()
        self.client.send("REPLCONF", "ACK", offset, *words)

    def sent(self):
        self.server.state.replication.feed.send()
        return self.client.client.out.take()


def test_an_option_that_is_not_known_is_an_error(server):
    assert server.send("REPLCONF", "nosuch", 1) == "-ERR Unrecognized REPLCONF option: nosuch"
    assert server.send("REPLCONF", "listening-port") == "-ERR syntax error"
    assert server.send("REPLCONF") == b"OK"
    assert server.send("REPLCONF", "ip-address", "x" * 256).startswith("-ERR REPLCONF ip-address")
    line = "10.0.0.1\r\nrole:slave"
    assert server.send("REPLCONF", "ip-address", line) == "-ERR Invalid REPLCONF ip-address"
    assert server.send("REPLCONF", "capa", "nosuch") == b"OK"
    assert server.send("REPLCONF", "version", "9.1.2") == b"OK"


def test_a_primary_that_says_replconf_alone_is_no_fault(server, caplog):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    primary = server.client().client
    server.dispatcher.replaying.apply(primary, [b"REPLCONF"])
    server.dispatcher.replaying.apply(primary, [b"REPLCONF", b"GETACK", b"*"])
    assert server.state.replay_failures.total == 0
    assert server.state.replication.must_ack
    assert "bug in" not in caplog.text


def test_a_replica_is_told_all_changes_and_answered_nothing(server):
    replica = FakeReplica(server)
    assert replica.client.client.flags & (REPLICA | MUTED) == REPLICA | MUTED
    server.send_line("SET k v")
    server.send_line("RPUSH l a")
    sent = replica.sent()
    assert sent.startswith(b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n")
    assert sent.endswith(b"*3\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n$1\r\na\r\n")
    replica.client.send("PING")
    replica.client.send("GET", "k")
    assert replica.client.client.out.size() == 0


def test_the_master_tells_of_its_replicas(server):
    replica = FakeReplica(server, 7005)
    server.send_line("SET k v")
    replica.ack()
    offset = server.state.replication.feed.offset()
    assert server.send("ROLE") == [b"master", offset, [[b"10.0.0.1", b"7005", b"%d" % offset]]]
    info = server.send_line("INFO replication").decode()
    assert f"slave0:ip=10.0.0.1,port=7005,state=online,offset={offset},lag=0" in info
    assert "connected_slaves:1" in info
    replica.client.leave()
    assert server.send("ROLE") == [b"master", offset, []]


def test_client_list_and_kill_know_replicas(server):
    replica = FakeReplica(server)
    assert b"flags=S" in server.send_line("CLIENT LIST TYPE replica")
    assert b"flags=S" not in server.send_line("CLIENT LIST TYPE normal")
    assert server.send_line("CLIENT KILL TYPE slave") == 1
    assert replica.client.gone


def test_wait_counts_those_who_have_what_this_client_has_written(server):
    replicas = [FakeReplica(server, 7001 + n) for n in range(2)]
    assert server.send_line("WAIT 2 0") == 2  # it has written nothing
    server.send_line("SET k v")
    guest = server.client()
    assert guest.send_line("WAIT 2 0") == 2
    server.send_line("WAIT 1 0")
    assert server.owner.waits
    assert b"GETACK" in replicas[0].sent()
    replicas[0].ack()
    assert server.owner.reply() == 1
    assert server.send_line("WAIT 1 0") == 1
    server.send_line("WAIT 2 50")
    server.advance(51)
    assert server.owner.reply() == 1


def test_wait_does_not_wait_in_a_transaction(server):
    FakeReplica(server)
    server.send_line("SET k v")
    server.send_line("MULTI")
    server.send_line("WAIT 1 0")
    assert server.send_line("EXEC") == [0]


def test_wait_without_replicas_lasts_until_the_time_is_up(server):
    assert server.send_line("WAIT 0 0") == 0
    guest = server.client()
    guest.send_line("WAIT 1 10")
    assert guest.waits
    server.advance(11)
    assert guest.reply() == 0


def test_an_offset_never_goes_back(server):
    replica = FakeReplica(server)
    server.send_line("SET k v")
    replica.ack()
    replica.ack(1)
    assert server.send_line("WAIT 1 0") == 1


def test_waitaof_counts_replicas_that_have_fsynced(server):
    replica = FakeReplica(server)
    server.send_line("SET k v")
    server.log.synced_offset = server.log.offset
    server.send_line("WAITAOF 1 1 0")
    replica.ack()
    assert server.owner.waits
    offset = server.owner.client.replicated_offset
    replica.ack(offset, "FACK", offset - 1)
    assert server.owner.waits
    replica.ack(offset, "FACK", offset)
    assert server.owner.reply() == [1, 1]


def test_writes_need_as_many_replicas_as_the_configuration_says(server):
    server.send_line("CONFIG SET min-replicas-to-write 1")
    assert server.send_line("SET k v") == NOREPLICAS
    assert server.send_line("GET k") is None
    assert "NOREPLICAS" in server.send("EVAL", "return redis.call('set', KEYS[1], 'w')", 1, "k")
    replica = FakeReplica(server)
    assert server.send_line("SET k v") == b"OK"
    assert b"min_slaves_good_slaves:1" in server.send_line("INFO replication")
    replica.client.leave()
    server.state.restrictions.tick(0)
    assert server.send_line("SET k v") == NOREPLICAS
    server.send_line("CONFIG SET min-replicas-max-lag 0")
    assert server.send_line("SET k v") == b"OK"


def test_messages_are_published_on_replicas_too_and_not_logged(server):
    replica = FakeReplica(server)
    server.logged()
    server.send_line("MULTI")
    server.send_line("PUBLISH c m")
    server.send_line("SET k v")
    server.send_line("EXEC")
    assert server.logged() == [b"SET k v"]
    sent = replica.sent()
    assert sent.index(b"PUBLISH") < sent.index(b"$3\r\nSET")  # in the order in which they ran


def test_a_client_with_unsent_replies_cannot_become_a_replica(server):
    guest = server.client()
    guest.client.out.raw(b"+OK\r\n")
    assert guest.send("PSYNC", "?", -1) == b"OK"
    assert guest.reply() == "-ERR SYNC and PSYNC are invalid with pending output"


def test_a_replica_without_a_link_serves_nobody(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    assert server.send("PSYNC", "?", -1).startswith("-NOMASTERLINK")


def test_psync_failover_is_for_replicas_of_this_history(server):
    assert server.send("PSYNC", "x" * 40, 1, "FAILOVER") == (
        "-ERR PSYNC FAILOVER can't be sent to a master."
    )
    server.send_line("REPLICAOF 10.0.0.9 7000")
    assert server.send("PSYNC", "x" * 40, 1, "FAILOVER") == (
        "-ERR PSYNC FAILOVER replid must match my replid."
    )


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("FAILOVER", "FAILOVER requires connected replicas."),
        ("FAILOVER ABORT", "No failover in progress."),
        ("FAILOVER x", "syntax error"),
        ("FAILOVER TO h", "syntax error"),
        ("FAILOVER TIMEOUT 0", "FAILOVER timeout must be greater than 0"),
        ("FAILOVER TO h 1 FORCE", "FAILOVER with force option requires both a timeout and target"),
        ("FAILOVER FORCE", "syntax error"),
    ],
)
def test_failover_says_what_it_lacks(server, line, error):
    assert server.send_line(line).startswith(f"-ERR {error}")


def test_failover_needs_a_replica_of_that_address(server):
    replica = FakeReplica(server)
    assert server.send_line("FAILOVER TO 10.0.0.1 9") == (
        "-ERR FAILOVER target HOST and PORT is not a replica."
    )
    server.send_line("SET k v")
    assert server.send_line("FAILOVER TIMEOUT 1000000") == b"OK"
    assert server.send_line("FAILOVER") == "-ERR FAILOVER already in progress."
    assert b"master_failover_state:waiting-for-sync" in server.send_line("INFO replication")
    guest = server.client()
    guest.send_line("SET k w")
    assert guest.client.postponed  # it is held back
    assert server.send_line("FAILOVER ABORT") == b"OK"
    assert guest.reply() == b"OK"
    assert server.send_line("FAILOVER") == b"OK"
    guest.send_line("SET k x")
    replica.ack()
    assert server.send("ROLE")[0] == b"slave"
    assert b"master_failover_state:failover-in-progress" in server.send_line("INFO replication")
    server.turn(server.state.replication.failover.end)
    assert guest.reply().startswith("-READONLY")


@pytest.mark.parametrize("lines", [("SET k v", "FAILOVER"), ("FAILOVER", "SET k v")])
def test_a_failover_in_a_transaction_hands_over_what_that_has_changed(server, lines):
    """Once, the role went over at once: the change was on the old primary alone."""
    replica = FakeReplica(server)
    replica.ack()
    for line in ("MULTI", *lines):
        server.send_line(line)
    assert server.send_line("EXEC") == [b"OK", b"OK"]
    assert server.send("ROLE")[0] == b"master"
    assert b"$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n" in replica.sent()
    replica.ack()
    assert server.send("ROLE")[0] == b"slave"


def test_a_failover_and_a_pause_of_clients_do_not_end_each_other(server):
    """Once, FAILOVER ABORT ended CLIENT PAUSE, and CLIENT UNPAUSE let writes run in a FAILOVER."""
    FakeReplica(server)
    server.send_line("SET k v")
    guest = server.client()
    for line in ("CLIENT PAUSE 1000 WRITE", "FAILOVER", "FAILOVER ABORT"):
        assert server.send_line(line) == b"OK"
    assert guest.send_line("SET k w") == NOTHING
    assert server.send_line("FAILOVER") == b"OK"
    server.advance(1000)
    assert server.send_line("CLIENT UNPAUSE") == b"OK"
    assert guest.reply() == NOTHING
    assert server.send_line("FAILOVER ABORT") == b"OK"
    assert guest.reply() == b"OK"


def test_a_refused_failover_makes_the_server_a_primary_again(server):
    replica = FakeReplica(server)
    server.send_line("SET k v")
    server.send_line("FAILOVER")
    guest = server.client()
    guest.send_line("SET k x")
    replica.ack()
    assert server.send("ROLE")[0] == b"slave"
    server.turn(server.state.replication.failover.was_refused)
    assert server.send("ROLE")[0] == b"master"
    assert guest.reply() == b"OK"


def test_nobody_pays_while_there_is_no_replica(make_server):
    server = make_server()
    server.state.propagation.set_durability(None)
    assert not server.state.propagation.is_on
    replica = FakeReplica(server)
    assert server.state.propagation.is_on
    replica.client.leave()
    replication = server.state.replication
    replication.tick(1000)
    replication.tick(1000 + 3600 * 1000)
    assert replication.history.backlog is None
    assert not server.state.propagation.is_on
