"""Three redis-sentinels watch a primary and two replicas; the primary is killed under load."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from tests.crash.confirmed import ConfirmedTest
from tests.crash.failover import FailoverTest
from tests.polling import until
from tests.replication.deployment import DOWN_AFTER_MS, NAME, PENSTOCK, REDIS, Deployment

ALL_OURS = [PENSTOCK] * 3
MIXED = [PENSTOCK, REDIS, PENSTOCK]


@pytest.mark.parametrize("commands", [ALL_OURS, MIXED], ids=["penstock", "mixed"])
def test_what_wait_has_confirmed_is_on_the_new_primary(
    tmp_path: Path, commands: list[list[str]]
) -> None:
    test = FailoverTest(tmp_path, commands)
    test.run(1)
    assert test.confirmed
    assert test.longest_s < DOWN_AFTER_MS / 1000 + 10


@pytest.mark.parametrize(("fault", "way"), [("kill", "acks"), ("cut", "fsync"), ("cut", "default")])
def test_what_a_quorum_has_confirmed_outlives_a_primary_that_is_killed_or_cut_off(
    tmp_path: Path, fault: str, way: str
) -> None:
    test = ConfirmedTest(tmp_path, ALL_OURS, way)
    test.run([fault])
    assert test.confirmed
    assert test.reads


def test_a_group_goes_on_where_it_was(tmp_path: Path) -> None:
    """Pending entries, their owners and the group's position are on the new primary."""
    with Deployment(tmp_path, ALL_OURS) as deployment:
        old = deployment.nodes[0]
        group = {"groupname": "g", "consumername": "alice"}
        for number in range(20):
            old.client.xadd("jobs", {"number": number})
        old.client.xgroup_create("jobs", "g", "0")
        read = old.client.xreadgroup(**group, streams={"jobs": ">"}, count=12)
        ids = [entry for entry, _ in read[0][1]]
        old.client.xack("jobs", "g", *ids[:5])
        assert old.client.wait(2, 10_000) == 2
        client = deployment.finder(socket_timeout=5).master_for(NAME, socket_timeout=5)
        assert client.xlen("jobs") == 20
        old.kill()
        deployment.await_promotion(old)

        def pending() -> list[bytes] | None:
            try:
                return [
                    row["message_id"] for row in client.xpending_range("jobs", "g", "-", "+", 99)
                ]
            except RedisError:
                return None

        assert until(pending, "an answer through the client that knew the old primary") == ids[5:]
        rest = client.xreadgroup(**group, streams={"jobs": ">"}, count=99)
        assert [fields[b"number"] for _, fields in rest[0][1]] == [b"%d" % n for n in range(12, 20)]
        claimed = client.xautoclaim("jobs", "g", "bob", 0)
        assert len(claimed[1]) == 15


def test_an_old_primary_that_comes_back_is_made_a_replica(tmp_path: Path) -> None:
    with Deployment(tmp_path, ALL_OURS) as deployment:
        old = deployment.nodes[0]
        old.kill()
        new = deployment.await_promotion(old)
        old.start()  # it does not know that it has been replaced
        old.client.set("written", "to the wrong one")
        until(lambda: old.replication()["role"] == "slave", "the old primary as a replica")
        new.client.set("k", time.time())
        until(lambda: old.client.get("k") == new.client.get("k"), "the new data")
        assert old.client.get("written") is None
