"""/readyz: whether clients are served."""

from __future__ import annotations

import pytest

from server.metrics.health import Health, Readiness
from server.table import errors


class Answered:
    def respond(self, response):
        self.response = response


def asked(site):
    answered = Answered()
    site.serve(None, answered)
    return answered.response.status, answered.response.body


def test_a_server_that_serves_is_ready(server):
    assert asked(Readiness(server.state)) == (200, b"ok\n")
    assert asked(Health()) == (200, b"ok\n")


def test_not_while_data_are_loaded(server):
    server.state.restrictions.set_phase(loading=True)
    assert asked(Readiness(server.state)) == (503, b"loading the data: 0 %\n")
    assert asked(Health()) == (200, b"ok\n")
    server.state.restrictions.set_phase()
    assert asked(Readiness(server.state)) == (200, b"ok\n")


def test_not_while_the_server_stops(server):
    server.state.restrictions.set_phase(stopping=True)
    assert asked(Readiness(server.state)) == (503, b"stopping\n")


def test_not_while_writes_are_refused(server):
    server.state.restrictions.refuse_writes(errors.aof_write_failed("No space left on device"))
    status, text = asked(Readiness(server.state))
    assert status == 503
    assert text.startswith(b"writes are refused: ")


def test_not_while_replicas_are_missing(server):
    server.send_line("CONFIG SET min-replicas-to-write 1")
    status, text = asked(Readiness(server.state))
    assert (status, text) == (503, b"writes are refused: Not enough good replicas to write.\n")


@pytest.mark.parametrize("serves", ["yes", "no"])
def test_a_replica_without_its_primary_is_ready_if_it_serves_stale_data(server, serves):
    server.send_line(f"CONFIG SET replica-serve-stale-data {serves}")
    server.send_line("REPLICAOF 127.0.0.1 1")
    server.state.restrictions.follow_replication()
    status, text = asked(Readiness(server.state))
    if serves == "yes":
        assert (status, text) == (200, b"ok\n")
    else:
        assert status == 503
        assert text.startswith(b"replica: the link to the primary is down")
