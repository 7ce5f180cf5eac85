"""FAILOVER: the role goes to a replica that has everything, and clients carry on."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, ResponseError
from redis.retry import Retry

from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6
from tests.polling import until
from tests.replication.deployment import Node
from tests.replication.kinds import (
    OURS,
    Writer,
    await_link,
    await_same,
    counted,
    follow,
    node_of,
    started,
)

PAIRS = [
    (OURS, OURS),
    (OURS, REDIS_7),
    (REDIS_7, OURS),
    (OURS, REDIS_8),
    (REDIS_8, OURS),
    (OURS, REDIS_8_6),
    (REDIS_8_6, OURS),
]


def role(node: Node) -> str:
    return str(node.replication()["role"])


def hand_over(one: Node, other: Node) -> None:
    """FAILOVER from *one* to *other*, which is its only replica."""
    until(lambda: one.replication()["slave0"]["state"] == "online", "a replica")
    one.client.execute_command("FAILOVER", "TO", "127.0.0.1", other.port)
    until(lambda: (role(one), role(other)) == ("slave", "master"), "the other roles")


@pytest.mark.parametrize(("old_kind", "new_kind"), PAIRS)
def test_the_role_goes_over_and_back_without_a_copy(
    tmp_path: Path, old_kind: str, new_kind: str
) -> None:
    old, new = node_of(old_kind, tmp_path / "old"), node_of(new_kind, tmp_path / "new")
    writer = Writer(11)
    with started(old, new):
        writer.write(old.client, 100)
        await_link(new)
        for one, other in ((old, new), (new, old)):
            hand_over(one, other)
            await_link(one)
            writer.write(other.client, 100)
            await_same(one, other)
            assert one.replication()["master_failover_state"] == "no-failover"
        assert counted(old, "sync_full") == 1
        assert counted(new, "sync_full") == 0


def test_no_write_is_lost_while_the_role_goes_over(tmp_path: Path) -> None:
    """A write during it is answered OK, and the entry is on both; or it gets -READONLY."""
    old, new = node_of(OURS, tmp_path / "old"), node_of(OURS, tmp_path / "new")
    with started(old, new):
        await_link(new)
        written: list[bytes] = []

        def write() -> None:
            with contextlib.suppress(ReadOnlyError):
                while True:
                    written.append(old.client.xadd("s", {"n": len(written)}))

        thread = threading.Thread(target=write)
        thread.start()
        until(lambda: len(written) > 500, "some writes")
        old.client.execute_command("FAILOVER")
        thread.join(30)
        assert not thread.is_alive()
        await_link(old)
        assert [entry for entry, _ in new.client.xrange("s")] == written
        await_same(old, new)


def test_a_replica_that_never_catches_up_ends_the_failover(tmp_path: Path) -> None:
    old, new = node_of(OURS, tmp_path / "old"), node_of(REDIS_7, tmp_path / "new")
    with started(old, new):
        await_link(new)
        thread = threading.Thread(target=new.client.execute_command, args=("DEBUG", "SLEEP", 3))
        thread.start()
        until(lambda: old.replication()["slave0"]["state"] == "online", "a replica")
        old.client.set("k", 1)
        old.client.execute_command("FAILOVER", "TIMEOUT", 500)
        assert old.client.set("k", 2)  # it waits until the time is up
        assert role(old) == "master"
        assert old.replication()["master_failover_state"] == "no-failover"
        thread.join()


def test_a_server_that_is_asked_to_stop_waits_for_its_replicas(tmp_path: Path) -> None:
    old, new = node_of(OURS, tmp_path / "old"), node_of(REDIS_7, tmp_path / "new")
    with started(old, new):
        await_link(new)
        until(lambda: old.replication()["slave0"]["state"] == "online", "a replica")
        thread = threading.Thread(target=new.client.execute_command, args=("DEBUG", "SLEEP", 1))
        thread.start()
        old.client.set("last", "words")
        with pytest.raises(ResponseError, match="No shutdown in progress"):
            old.client.execute_command("SHUTDOWN", "ABORT")
        with pytest.raises(redis.ConnectionError):
            redis.Redis(port=old.port, retry=Retry(NoBackoff(), 0)).execute_command("SHUTDOWN")
        thread.join()
        assert new.client.get("last") == b"words"


def test_moving_from_redis_without_a_stop_and_back(tmp_path: Path) -> None:
    """The recipe of docs/replication.md."""
    redis, ours = node_of(REDIS_7, tmp_path / "redis"), node_of(OURS, tmp_path / "ours")
    writer = Writer(12)
    with started(redis):
        writer.write(redis.client, 200)
        ours.start()
        try:
            follow(ours, redis)
            await_link(ours)
            writer.write(redis.client, 200)
            redis.client.execute_command("FAILOVER", "TO", "127.0.0.1", ours.port)
            until(lambda: role(ours) == "master", "the new primary")
            writer.write(ours.client, 200)
            await_link(redis)
            await_same(redis, ours)
            # Back again: nothing that was written meanwhile is lost.
            ours.client.execute_command("FAILOVER", "TO", "127.0.0.1", redis.port)
            until(lambda: role(redis) == "master", "the old primary")
            writer.write(redis.client, 200)
            await_same(redis, ours)
        finally:
            ours.kill()
