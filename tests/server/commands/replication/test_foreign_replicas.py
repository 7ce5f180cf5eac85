"""What a replica that is no Penstock gets of policies and schedules, or that it is refused."""

from __future__ import annotations

import logging

import pytest

from tests.server.commands.replication.test_serving import FakeReplica

POLICIES = (
    "XGROUP CFGSET s g VISIBILITY 1000",
    "XGROUP PAUSE s g",
    "XCFGSET s RETAIN-LENGTH 1000",
    "XADD s AT 9999999999999 * f v",
    "XSCHEDULE s other EVERY 1000 * f v",
    "XUNSCHEDULE s NAMES job",
    "XEXPIREAT s 9999999999999 1-0",
    "XNACK s g FAIL IDS 1 1-0 AT 9999999999999",
)
REFUSAL = "there are policies or schedules of streams, which only Penstock knows"


@pytest.fixture
def stream(server):
    """A server with a stream, a group and a job."""
    server.send_line("XADD s 1-0 f v")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g c STREAMS s >")
    server.send_line("XSCHEDULE s job EVERY 5000 * f v")
    return server


def commands(sent):
    """The commands in *sent*, which have no line ends in their words."""
    found, lines = [], sent.split(b"\r\n")
    at = 0
    while lines[at]:
        count = int(lines[at][1:])
        found.append(lines[at + 2 : at + 1 + 2 * count : 2])
        at += 1 + 2 * count
    return found


def names(sent):
    return [words[0] for words in commands(sent)]


@pytest.mark.parametrize("line", POLICIES)
def test_another_server_gets_fillers_of_the_same_length(stream, line):
    ours, foreign = FakeReplica(stream), FakeReplica(stream, 7002, is_penstock=False)
    stream.send_line("SET k v")
    stream.send_line(line)
    stream.send_line("SET k w")
    known, spared = ours.sent(), foreign.sent()
    assert len(known) == len(spared)
    assert known != spared
    differing = [
        (one, other)
        for one, other in zip(commands(known), commands(spared), strict=False)
        if one != other
    ]
    assert [other[0] for _, other in differing] == [b"PING"]
    assert names(spared)[-1] == b"SET"


def test_in_a_transaction_only_its_own_words_are_replaced(stream):
    foreign = FakeReplica(stream, is_penstock=False)
    stream.send_line("XADD s EXPIRE 1000 5-5 f v")
    assert names(foreign.sent()) == [b"MULTI", b"SELECT", b"XADD", b"PING", b"EXEC"]


def test_what_redis_knows_of_xcfgset_is_sent(stream):
    foreign = FakeReplica(stream, is_penstock=False)
    stream.send_line("XCFGSET s IDMP-DURATION 5")
    assert b"IDMP-DURATION" in foreign.sent()


def test_a_replica_that_comes_back_gets_the_fillers_from_the_backlog(stream):
    foreign = FakeReplica(stream, is_penstock=False)
    state = stream.state.replication
    at = state.feed.offset() + 1
    for line in POLICIES[:6]:
        stream.send_line(line)
        foreign.sent()
    foreign.client.leave()
    stream.send_line(POLICIES[6])  # nobody is there
    again = stream.client()
    again.send("REPLCONF", "capa", "psync2")
    reply = again.raw("PSYNC", state.history.id, at)
    head, _, sent = reply.partition(b"\r\n")
    assert head.startswith(b"+CONTINUE")
    assert set(names(sent)) <= {b"SELECT", b"PING", b"MULTI", b"EXEC"}
    assert len(sent) == state.history.offset + 1 - at
    later = stream.client()
    later.send("REPLCONF", "capa", "psync2")
    later.send("REPLCONF", "capa", "penstock")
    reply = later.raw("PSYNC", state.history.id, at)
    assert b"CFGSET" in reply


def test_each_length_has_a_filler():
    from server.parts.replication.own_words import filler  # noqa: PLC0415

    for size in range(40, 1200):
        assert len(filler(size)) == size
        assert set(names(filler(size))) == {b"PING"}


def test_another_server_is_refused_if_that_is_set(make_server, caplog):
    caplog.set_level(logging.WARNING)
    server = make_server(repl_foreign_replicas="refuse")
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    foreign = server.client()
    foreign.send("REPLCONF", "listening-port", 7001)
    assert b"NOMASTERLINK" not in foreign.raw("PSYNC", "?", -1)  # there is nothing to refuse it for
    server.send_line("XGROUP CFGSET s g VISIBILITY 1000")
    server.advance(1000)
    server.state.replication.tick(server.state.replication.now_ms())
    assert foreign.gone
    (warning,) = caplog.messages
    assert warning.startswith(f"Replica 10.0.0.1:7001 is not served: {REFUSAL}")
    again = server.client()
    assert again.send("PSYNC", "?", -1).startswith(f"-NOMASTERLINK {REFUSAL}")
    ours = server.client()
    ours.send("REPLCONF", "capa", "penstock")
    assert b"NOMASTERLINK" not in ours.raw("PSYNC", "?", -1)
    server.send_line("XGROUP CFGSET s g VISIBILITY 0")
    assert b"NOMASTERLINK" not in again.raw("PSYNC", "?", -1)
