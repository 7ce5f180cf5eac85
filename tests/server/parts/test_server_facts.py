"""The facts of the server: all of INFO, and typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from server.config.addresses import NoAddresses
from server.observe.fact import TYPES, Facts, Family, Kind, Sample, Unit
from server.parts.persistence.append_only import Mode
from server.parts.persistence.load_progress import LoadProgress
from server.parts.replication.following import LinkState
from server.parts.replication.replica import Replica
from server.parts.server_facts import SECTIONS
from server.process import build
from server.process.server_clock import monotonic_ms
from server.process.shutdown import NoShutdown
from tests.server.conftest import SocketlessServer

ENTRIES = [(section, entry) for section in SECTIONS for entry in section.entries]
FACTS = [(section.name, fact) for section, entry in ENTRIES for fact in entry.facts.facts]
LINES = """
CONFIG SET slowlog-log-slower-than 0
SET a 1
SET b 1 PX 7000
GET nokey
NOSUCH
EVAL return(1) 0
CONFIG SET min-replicas-to-write 1
CONFIG SET maxmemory 100mb
HOTKEYS START METRICS 1 CPU
""".strip().splitlines()


def samples(server: SocketlessServer) -> Iterator[tuple[str, Sample]]:
    for section in SECTIONS:
        for sample in section.samples(server.state):
            yield section.name, sample


class Listens(NoAddresses):
    """At an address."""

    def __init__(self) -> None:
        self.descriptions = {"listener0": "name=tcp,bind=127.0.0.1,port=6379"}


class Waits(NoShutdown):
    """For its replicas."""

    left_ms = 10_000


@pytest.fixture
def primary(server: SocketlessServer) -> SocketlessServer:
    """One that has something to tell in each section, with a replica, and that stops."""
    for line in LINES:
        server.send_line(line)
    for line in ("CLIENT ACKS 1", "CONFIG SET replica-quorum-lease 1000"):
        server.client().send_line(line)
    state = server.state
    state.replication.replicas.joined(Replica(server.client().client), monotonic_ms())
    state.addresses = Listens()
    state.shutdown = Waits()
    state.persistence.append_only.mode = Mode.ON
    return server


@pytest.fixture
def replica(server: SocketlessServer) -> SocketlessServer:
    """One that loads data, and gets a copy of its primary's."""
    server.send_line("REPLICAOF 127.0.0.1 1")
    following = server.state.replication.following
    assert following is not None
    following.set_state(LinkState.SYNC, following.heard_ms)
    following.copy_bytes, following.copied_bytes = 1000, 333
    server.state.persistence.progress = LoadProgress(1000)
    return server


@pytest.fixture(params=["primary", "replica"])
def living(request: pytest.FixtureRequest) -> SocketlessServer:
    found: SocketlessServer = request.getfixturevalue(request.param)
    return found


def test_each_line_of_info_has_its_facts_and_each_fact_its_line(living: SocketlessServer) -> None:
    living.send("INFO")  # from now on it has called that one, too
    told = living.send("INFO", "everything").decode().split("\r\n")
    names = [line.partition(":")[0] for line in told if ":" in line]
    known = []
    for _section, entry in ENTRIES:
        found = entry.facts.samples(entry.find(living.state))
        if isinstance(entry.facts, Facts):
            known += [sample.fact.name for sample in found]
        else:
            prefix = entry.facts.prefix
            known += dict.fromkeys(prefix + sample.labels[0][1] for sample in found)
    assert names == known


def test_together_they_have_every_fact_that_is_declared(
    request: pytest.FixtureRequest,
) -> None:
    seen = {id(sample.fact) for _, sample in samples(request.getfixturevalue("primary"))}
    seen |= {id(sample.fact) for _, sample in samples(request.getfixturevalue("replica"))}
    unseen = {fact.name for _, fact in FACTS if id(fact) not in seen}
    assert not {name for name in unseen if build.uses_epoll() or "eventloop" not in name}


def test_a_value_has_the_type_of_its_unit(living: SocketlessServer) -> None:
    wrong = [
        (sample.fact.name, sample.value)
        for _, sample in samples(living)
        if type(sample.value) not in TYPES[sample.fact.unit]
    ]
    assert wrong == []


def test_a_fraction_is_shown_with_the_digits_of_its_form(living: SocketlessServer) -> None:
    wrong = [
        (sample.fact.name, sample.value)
        for _, sample in samples(living)
        if isinstance(sample.value, float) != sample.fact.form.startswith("%.")
    ]
    assert wrong == []


def test_what_is_no_number_is_text() -> None:
    assert [
        fact.name for _, fact in FACTS if (fact.kind is Kind.TEXT) != (fact.unit is Unit.TEXT)
    ] == []


def test_a_name_stands_for_one_fact() -> None:
    plain = [
        fact.name
        for _, entry in ENTRIES
        if isinstance(entry.facts, Facts)
        for fact in entry.facts.facts
    ]
    prefixes = [entry.facts.prefix for _, entry in ENTRIES if not isinstance(entry.facts, Facts)]
    assert len(set(plain)) == len(plain)
    assert len(set(prefixes)) == len(prefixes)


def test_a_meaning_is_one_short_phrase() -> None:
    for _, fact in FACTS:
        assert 3 < len(fact.meaning) <= 90, fact.name
        assert not fact.meaning.endswith(".")


def test_a_meaning_stands_alone() -> None:
    """In metrics and in the console there is no line before it."""
    for _, fact in FACTS:
        first = fact.meaning.split()[0]
        assert first not in ("As", "Its", "That", "Their", "These", "This", "Those"), fact.name


def test_no_counter_falls_while_the_server_works(primary: SocketlessServer) -> None:
    before = counters(primary)
    for line in ("SET a 2", "GET a", "GET c", "NOSUCH", "INFO"):
        primary.send_line(line)
    after = counters(primary)
    assert {name for name, value in before.items() if after[name] < value} == set()
    assert after["stats", "keyspace_hits", ()] == before["stats", "keyspace_hits", ()] + 1


def counters(server: SocketlessServer) -> dict[tuple[str, str, Any], float]:
    return {
        (section, sample.fact.name, sample.labels): float(sample.value)
        for section, sample in samples(server)
        if sample.fact.kind is Kind.COUNTER
    }


def test_a_family_names_its_subjects_by_labels(primary: SocketlessServer) -> None:
    keys = {
        sample.labels: sample.value
        for section, sample in samples(primary)
        if section == "keyspace" and sample.fact.name == "keys"
    }
    assert keys == {(("db", "0"),): 2}
    assert all(entry.facts.label for _, entry in ENTRIES if isinstance(entry.facts, Family))
