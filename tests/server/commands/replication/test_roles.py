"""ROLE, REPLICAOF, and what a replica's clients may do."""

from __future__ import annotations

import pytest

from server.parts.replication.following import LinkState

READONLY = "-READONLY You can't write against a read only replica."
MASTERDOWN = "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
BECAME_REPLICA = (
    "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"
)


def come_up(server):
    """The link to the primary is up."""
    server.state.replication.following.set_state(LinkState.CONNECTED, 0)
    server.state.restrictions.follow_replication()


def test_a_server_begins_as_a_master_without_replicas(server):
    assert server.send("ROLE") == [b"master", 0, []]
    assert server.send_line("REPLICAOF NO ONE") == b"OK"
    assert server.send_line("SLAVEOF no one") == b"OK"
    assert server.send_line("REPLICAOF x y") == "-ERR Invalid master port"
    assert server.send("REPLICAOF", "two words", 1) == "-ERR Invalid master host"
    assert server.send_line("REPLICAOF x 65536") == "-ERR Invalid master port"


def test_a_replica_tells_whom_it_follows_and_how_far_it_is(server):
    assert server.send_line("REPLICAOF 10.0.0.9 7000") == b"OK"
    assert server.send("ROLE") == [b"slave", b"10.0.0.9", 7000, b"connect", -1]
    come_up(server)
    server.state.replication.history.offset = 123
    assert server.send("ROLE") == [b"slave", b"10.0.0.9", 7000, b"connected", 123]
    already = server.send_line("SLAVEOF 10.0.0.9 7000")
    assert already == b"OK Already connected to specified master"
    assert server.send_line("CONFIG GET replicaof") == [b"replicaof", b"10.0.0.9 7000"]
    assert server.send_line("REPLICAOF NO ONE") == b"OK"
    assert server.send("ROLE") == [b"master", 123, []]
    assert server.send_line("CONFIG GET replicaof") == [b"replicaof", b""]


def test_what_a_transaction_has_changed_before_replicaof_is_in_the_history(server):
    """Once, it was not: with an offset that hid it, a partial resync left the data different."""
    before = server.send_line("CLIENT OFFSET")[1]
    for line in ("MULTI", "SET k v", "REPLICAOF 10.0.0.9 7000"):
        server.send_line(line)
    assert server.send_line("EXEC") == [b"OK", b"OK"]
    assert server.send_line("CLIENT OFFSET")[1] > before
    assert server.transactions() == [[b"SET k v"]]


def test_a_transaction_writes_no_more_when_it_has_made_the_server_a_replica(server):
    """Once, it did: a partial resync left the data different from the primary's."""
    for line in ("MULTI", "REPLICAOF 10.0.0.9 7000", "SET k v", "GET k"):
        server.send_line(line)
    assert server.send_line("EXEC") == [b"OK", READONLY, None]
    server.send_line("CONFIG SET replica-read-only no")
    for line in ("MULTI", "REPLICAOF NO ONE", "REPLICAOF 10.0.0.9 7000", "SET k v"):
        server.send_line(line)
    assert server.send_line("EXEC") == [b"OK", b"OK", b"OK"]


def test_hello_tells_the_role(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    reply = server.send_line("HELLO 2")
    assert reply[reply.index(b"role") + 1] == b"replica"


def test_a_replica_refuses_writes_wherever_they_come_from(server):
    server.send_line("SET k v")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    assert server.send_line("SET k w") == READONLY
    assert server.send_line("GET k") == b"v"
    assert server.send_line("BLPOP k 0") == READONLY
    server.send_line("MULTI")
    assert server.send_line("SET k w") == READONLY
    assert server.send_line("EXEC").startswith("-EXECABORT")
    assert "READONLY" in server.send("EVAL", "return redis.call('set', KEYS[1], 'w')", 1, "k")
    assert server.send("EVAL", "return redis.call('get', KEYS[1])", 1, "k") == b"v"


def test_a_transaction_that_was_queued_before_is_refused_as_a_whole(server):
    guest = server.client()
    guest.send_line("MULTI")
    guest.send_line("SET k w")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    assert guest.send_line("EXEC").startswith("-EXECABORT")


def test_a_replica_that_is_not_read_only_takes_writes(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    server.send_line("CONFIG SET replica-read-only no")
    assert server.send_line("SET k w") == b"OK"
    server.send_line("CONFIG SET replica-read-only yes")
    assert server.send_line("SET k w") == READONLY


def test_stale_data_are_not_served_if_the_configuration_says_so(server):
    server.send_line("SET k v")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    server.send_line("CONFIG SET replica-serve-stale-data no")
    assert server.send_line("GET k") == MASTERDOWN
    assert server.send("PING") == MASTERDOWN
    assert server.send_line("INFO replication") is not None
    assert server.send("EVAL", "return redis.call('get', KEYS[1])", 1, "k").startswith(
        "-MASTERDOWN"
    )
    come_up(server)
    assert server.send_line("GET k") == b"v"


def test_an_expired_key_of_a_replica_is_hidden_and_stays_until_the_primary_says_so(server):
    server.send_line("SET k v PX 100")
    server.send_line("HSET h f v")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    server.advance(200)
    server.logged()
    assert server.send_line("GET k") is None
    assert server.send_line("EXISTS k") == 0
    assert server.logged() == []
    assert len(server.state.databases[0]) == 2
    primary = server.client().client
    server.dispatcher.replaying.apply(primary, [b"DEL", b"k"])
    assert server.state.replay_failures.total == 0
    assert len(server.state.databases[0]) == 1


def test_what_a_primary_sends_sees_keys_that_have_expired_here(server):
    server.send_line("SET k 5 PX 100")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    server.advance(200)
    primary = server.client().client
    server.dispatcher.replaying.apply(primary, [b"INCR", b"k"])
    server.dispatcher.replaying.apply(primary, [b"PERSIST", b"k"])
    assert server.state.replay_failures.total == 0
    assert server.send_line("GET k") == b"6"


def test_who_waits_is_told_that_the_server_is_a_replica_now(server):
    guests = [server.client() for _ in range(3)]
    guests[0].send_line("BLPOP list 0")
    guests[1].send_line("XREAD BLOCK 0 STREAMS s $")
    guests[2].send_line("WAIT 1 0")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    for guest in guests:
        assert guest.reply() == BECAME_REPLICA
        assert guest.client.close_after_reply
    assert server.state.blocking.waiting == 0


def test_who_waits_for_an_offset_waits_on_when_a_replica_follows_another_primary(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    name, offset = server.send("CLIENT", "OFFSET")
    guest, other = server.client(), server.client()
    guest.send_line(f"WAITOFFSET {name.decode()} {offset + 1} 0")
    other.send_line("XREAD BLOCK 0 STREAMS s $")
    server.send_line("REPLICAOF 10.0.0.8 7000")
    assert guest.waits
    assert other.reply() == BECAME_REPLICA
    server.state.replication.history.append(b"x")
    server.dispatcher.waits.serve_keyless()
    assert guest.reply() == 1


def test_a_reader_may_wait_on_a_replica_and_gets_what_the_primary_sends(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    guest = server.client()
    guest.send_line("XREAD BLOCK 0 STREAMS s $")
    assert guest.waits
    server.dispatcher.replaying.apply(server.client().client, [b"XADD", b"s", b"1-1", b"f", b"v"])
    assert guest.reply() == [[b"s", [[b"1-1", [b"f", b"v"]]]]]


NO_CHANGES = (
    "SHUTDOWN",
    "CONFIG GET dir",
    "DEBUG SLEEP 9",
    "GET k",
    "EVAL return 0",
    "NOSUCH",
    "SET",
)


@pytest.mark.parametrize("line", NO_CHANGES)
def test_a_primary_may_not_send_what_is_no_change(line, server, caplog):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    caplog.clear()
    server.dispatcher.replaying.apply(server.client().client, line.encode().split())
    (complaint,) = caplog.messages
    assert complaint.startswith("== CRITICAL == This replica is sending an error to its master: ")
    assert server.state.replay_failures.total == 1


def test_a_blocking_command_of_a_primary_does_not_wait(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    primary = server.client().client
    assert server.dispatcher.replaying.apply(primary, [b"BLPOP", b"k", b"0"]) is None
    assert primary.waiter is None
    assert server.state.blocking.waiting == 0


def test_what_a_primary_sends_is_logged(make_server):
    server = make_server()
    server.send_line("REPLICAOF 10.0.0.9 7000")
    primary = server.client().client
    for words in (b"MULTI", b"INCR n", b"RPUSH l a b", b"EXEC", b"LPOP l"):
        assert server.dispatcher.replaying.apply(primary, words.split()) is None
    assert server.transactions() == [[b"INCR n", b"RPUSH l a b"], [b"LPOP l"]]
    assert primary.out.size() == 0


def test_a_monitor_sees_what_the_primary_sends(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    guest = server.client()
    assert guest.send("MONITOR") == b"OK"
    primary = server.client().client
    primary.address = "10.0.0.9:7000"
    server.dispatcher.replaying.apply(primary, [b"SET", b"k", b"v"])
    assert guest.reply().endswith(b'[0 10.0.0.9:7000] "SET" "k" "v"')


def test_keys_of_a_replica_are_not_evicted(server):
    server.send_line("SET k v")
    server.send_line("CONFIG SET maxmemory-policy allkeys-lru")
    server.send_line("REPLICAOF 10.0.0.9 7000")
    server.run_out_of_memory()
    assert server.send_line("GET k") == b"v"
    assert server.dispatcher.replaying.apply(server.client().client, [b"SET", b"l", b"w"]) is None
    assert server.send_line("GET l") == b"w"


def test_wait_is_an_error_on_a_replica(server):
    server.send_line("REPLICAOF 10.0.0.9 7000")
    assert server.send_line("WAIT 1 0").startswith("-ERR WAIT cannot be used with replica")
    assert server.send_line("WAITAOF 0 1 0").startswith("-ERR WAITAOF cannot be used with replica")
