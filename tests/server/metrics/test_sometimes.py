"""Names of the list that are there only at times: with replicas, an AOF, after a snapshot."""

from __future__ import annotations

import urllib.request

import pytest

from penstock.testing import PenstockServer
from tests.polling import until
from tests.ports import free_port
from tests.server.metrics.names import wanted_names
from tests.server.metrics.scraping import families

ON_PRIMARY = ("after a snapshot", "with an AOF", "after a rewrite", "after a page", "with epoll",
              "with a replica")  # fmt: skip


def page(port):
    """The labels of each name, and a value of it."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return {
        sample.name: (set(sample.labels), sample.value)
        for family in families(text).values()
        for sample in family.samples
    }


@pytest.fixture(scope="module")
def ports():
    return free_port(), free_port()


@pytest.fixture(scope="module")
def pair(ports):
    """The pages of a primary with an AOF, and of its replica, once they have all that they can."""
    here, there = ports
    options = [f"metrics-port {here}", "appendonly yes"]
    with PenstockServer(options=options, socket="tcp") as one, one.client() as primary:
        options = [f"metrics-port {there}", f"replicaof 127.0.0.1 {one.port}"]
        with PenstockServer(options=options, socket="tcp"):
            primary.set("key", 1)
            until(lambda: page(there).get("redis_master_link_up", (0, 0))[1], "a replica")
            primary.bgsave()
            until(lambda: not primary.info("persistence")["rdb_bgsave_in_progress"], "saved")
            primary.bgrewriteaof()
            until(lambda: "redis_aof_last_rewrite_duration_sec" in page(here), "rewritten")
            until(lambda: "redis_connected_slave_lag_seconds" in page(here), "told its offset")
            yield page(here), page(there)


@pytest.mark.parametrize(("name", "labels", "when"), [row for row in wanted_names() if row[2]])
def test_each_name_of_the_list_is_there_when_it_should(pair, name, labels, when):
    found = pair[0] if when in ON_PRIMARY else pair[1]
    assert found[name][0] == set(labels)


def test_a_primary_does_not_tell_of_a_primary(pair):
    assert not any(name.startswith("redis_master_link") for name in pair[0])
    assert pair[0]["redis_connected_slaves"][1] == 1
    assert pair[1]["redis_connected_slaves"][1] == 0


def test_fsyncs_are_measured(pair):
    assert pair[0]["penstock_aof_fsync_seconds_count"][1] > 0
    assert 0 < pair[0]["penstock_aof_fsync_seconds_sum"][1] < 60
    assert "penstock_aof_fsync_seconds_count" not in pair[1], "it has no AOF"


def test_forks_are_measured(pair):
    assert pair[0]["penstock_fork_seconds_count"][1] >= 2
    assert pair[0]["penstock_fork_last_seconds"][1] > 0
