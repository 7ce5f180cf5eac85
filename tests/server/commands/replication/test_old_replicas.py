"""What replicas can read: which version each is taken for, and which are not served.

Whose copy would come through a pipe waits for others, and so no child is forked here.
"""

from __future__ import annotations

import logging

import pytest

from tests.server.commands.replication.test_serving import FakeReplica

REDIS_8 = ("REPLCONF", "capa", "eof", "capa", "psync2", "capa", "rdb-channel-repl")
VALKEY = ("REPLCONF", "version", "9.1.2")
OF_8_6 = ("REPLCONF", "capa", "eof", "capa", "psync2", "capa", "rdb-12", "capa", "rdb-13")
REDIS_8_8 = (*OF_8_6, "capa", "rdb-14")
OURS = (*REDIS_8_8, "capa", "penstock")
TOO_OLD = "there are hashes with fields that expire"


def expire_a_field(server):
    server.send_line("HSET h f v")
    server.send_line("HEXPIRE h 1000 FIELDS 1 f")


def reads(server, *words):
    client = server.client()
    client.send(*words or ("REPLCONF", "capa", "eof", "capa", "psync2"))
    return client.client.replica.reads(server.state.config)


def test_a_replica_is_as_old_as_what_it_says(make_server):
    server = make_server()
    assert reads(server) == 10
    assert reads(server, *VALKEY) == 11
    assert reads(server, *REDIS_8) == 12
    assert reads(server, *OF_8_6) == 13
    assert reads(server, *OURS) == 14
    newer = make_server(repl_oldest_replica="7.4")
    assert reads(newer) == 12
    assert reads(newer, *VALKEY) == 11
    newest = make_server(repl_oldest_replica="8.6")
    assert reads(newest) == reads(newest, *REDIS_8) == 13
    assert reads(make_server(repl_oldest_replica="8.8")) == 14


@pytest.mark.parametrize("words", [(), VALKEY], ids=["Redis 7.0", "Valkey"])
def test_one_that_is_too_old_for_fields_that_expire_is_refused(server, words, caplog):
    """Once, it was sent a copy that it could not read, again and again."""
    caplog.set_level(logging.WARNING)
    expire_a_field(server)
    for _ in range(3):
        replica = server.client()
        replica.send("REPLCONF", "listening-port", 7001)
        if words:
            replica.send(*words)
        assert replica.send("PSYNC", "?", -1).startswith(f"-NOMASTERLINK {TOO_OLD}")
        assert replica.send("SYNC").startswith("-NOMASTERLINK")
    (warning,) = caplog.messages
    assert warning.startswith(f"Replica 10.0.0.1:7001 is not served: {TOO_OLD}")
    assert not server.state.replication.replicas.all


@pytest.mark.parametrize("words", [REDIS_8, OURS], ids=["Redis 8", "Penstock"])
def test_one_that_knows_them_is_served(server, words):
    expire_a_field(server)
    replica = server.client()
    replica.send(*words)
    assert b"NOMASTERLINK" not in replica.raw("PSYNC", "?", -1)
    assert len(server.state.replication.replicas.all) == 1


@pytest.mark.parametrize("words", [(), VALKEY, REDIS_8], ids=["Redis 7.0", "Valkey", "Redis 8.0"])
def test_one_that_is_too_old_for_idempotent_producers_is_refused(server, words):
    server.send_line("XADD s IDMP p a * f v")
    replica = server.client()
    replica.send("REPLCONF", "capa", "eof", "capa", "psync2")
    if words:
        replica.send(*words)
    assert replica.send("PSYNC", "?", -1).startswith("-NOMASTERLINK there are streams with idempo")
    server.send_line("DEL s")
    assert b"NOMASTERLINK" not in replica.raw("PSYNC", "?", -1)


def test_one_that_knows_idempotent_producers_is_served(server):
    server.send_line("XADD s IDMP p a * f v")
    replica = server.client()
    replica.send(*OURS)
    assert b"NOMASTERLINK" not in replica.raw("PSYNC", "?", -1)


def release_an_entry(server):
    server.send_line("XADD s 1-0 f v")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XNACK s g FAIL IDS 1 1 FORCE")


def test_one_that_is_too_old_for_released_entries_is_refused(server):
    release_an_entry(server)
    replica = server.client()
    replica.send(*OF_8_6)
    assert replica.send("PSYNC", "?", -1).startswith("-NOMASTERLINK there are streams with entries")
    server.send_line("XCLAIM s g c 0 1 JUSTID")
    assert b"NOMASTERLINK" not in replica.raw("PSYNC", "?", -1)


def test_one_that_knows_released_entries_is_served(server):
    release_an_entry(server)
    replica = server.client()
    replica.send(*OURS)
    assert b"NOMASTERLINK" not in replica.raw("PSYNC", "?", -1)


def test_one_that_is_online_is_disconnected_when_the_first_entry_is_released(server):
    replica = FakeReplica(server)
    release_an_entry(server)
    server.state.replication.tick(0)
    assert replica.client.gone
    server.send_line("DEL s")


def test_who_wants_a_file_only_is_served(server):
    expire_a_field(server)
    tool = server.client()
    tool.send("REPLCONF", "rdb-only", 1, "capa", "eof")
    assert b"NOMASTERLINK" not in tool.raw("SYNC")


def test_one_that_is_online_is_disconnected_when_the_first_field_expires(server):
    replica = FakeReplica(server)
    server.state.replication.tick(0)
    assert not replica.client.gone
    expire_a_field(server)
    server.state.replication.tick(0)
    assert replica.client.gone


def test_it_is_served_again_when_there_are_none(server):
    expire_a_field(server)
    replica = server.client()
    replica.send("REPLCONF", "capa", "eof")
    assert replica.send("PSYNC", "?", -1).startswith("-NOMASTERLINK")
    server.send_line("DEL h")
    assert b"NOMASTERLINK" not in replica.raw("PSYNC", "?", -1)
