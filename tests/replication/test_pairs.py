"""Each server as a primary of each other, as far as one of the two is ours."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.compat.oracles import REDIS_7
from tests.polling import until
from tests.replication.deployment import Node
from tests.replication.kinds import (
    OURS,
    PAIRS,
    Writer,
    await_link,
    await_same,
    counted,
    follow,
    node_of,
    started,
)


@pytest.mark.parametrize(("primary_kind", "replica_kind"), PAIRS)
def test_all_changes_arrive_and_roles_can_be_exchanged(
    tmp_path: Path, primary_kind: str, replica_kind: str
) -> None:
    primary = node_of(primary_kind, tmp_path / "primary")
    replica = node_of(replica_kind, tmp_path / "replica")
    writer = Writer(1)
    with started(primary, replica):
        writer.write(primary.client, 200)
        await_link(replica)
        writer.write(primary.client, 300)
        assert primary.client.wait(1, 20_000) == 1
        await_same(primary, replica)

        # The link is cut: what came meanwhile is sent, and no copy.
        for _ in range(3):
            primary.client.execute_command("CLIENT", "KILL", "TYPE", "replica")
            writer.write(primary.client, 50)
        await_link(replica)
        await_same(primary, replica)
        assert counted(primary, "sync_full") == 1
        assert counted(primary, "sync_partial_ok") >= 1

        # The roles are exchanged, and back again, without a copy.
        for old, new in ((primary, replica), (replica, primary)):
            new.client.execute_command("REPLICAOF", "NO", "ONE")
            follow(old, new)
            await_link(old)
            writer.write(new.client, 100)
            await_same(new, old)
        assert counted(primary, "sync_full") == 1
        assert counted(replica, "sync_full") == 0


@pytest.mark.parametrize(
    ("primary_kind", "replica_kind"), [(OURS, OURS), (OURS, REDIS_7), (REDIS_7, OURS)]
)
def test_a_copy_by_file_arrives_too(tmp_path: Path, primary_kind: str, replica_kind: str) -> None:
    primary = node_of(primary_kind, tmp_path / "primary", "--repl-diskless-sync", "no")
    replica = node_of(replica_kind, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        Writer(2).write(primary.client, 200)
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        replica.client.set("elsewhere", 1)
        primary.client.set("here", 1)
        follow(replica, primary)
        await_link(replica)
        Writer(3).write(primary.client, 200)
        await_same(primary, replica)
        assert not list(tmp_path.glob("*/temp-*"))
        assert counted(primary, "sync_full") == 2


@pytest.mark.parametrize("middle_kind", [OURS, REDIS_7])
def test_a_replica_of_a_replica_gets_the_same_bytes(tmp_path: Path, middle_kind: str) -> None:
    first = node_of(OURS, tmp_path / "first")
    middle = node_of(middle_kind, tmp_path / "middle")
    last = node_of(OURS, tmp_path / "last")
    writer = Writer(4)
    fifth = redis.Redis(port=first.port, db=5)
    with started(first, middle):
        await_link(middle)
        fifth.set("selected", "before the copy of the last")
        await_same(first, middle)
        last.start("--replicaof", f"127.0.0.1 {middle.port}")
        try:
            await_link(last)
            fifth.set("no-select", "comes before this")
            await_same(first, last)
            writer.write(first.client, 300)
            await_same(first, last)
            offsets = [node.replication()["master_repl_offset"] for node in (middle, last)]
            assert offsets[0] == offsets[1]
            # The one in the middle goes: the last follows the first, and needs no copy.
            middle.kill()
            follow(last, first)
            await_link(last)
            writer.write(first.client, 100)
            await_same(first, last)
            assert counted(first, "sync_partial_ok") == 1
        finally:
            last.kill()


def test_many_replicas_share_one_copy(tmp_path: Path) -> None:
    options = ("--repl-diskless-sync-delay", "60", "--repl-diskless-sync-max-replicas", "4")
    primary = node_of(OURS, tmp_path / "primary", *options)
    replicas = [node_of(OURS, tmp_path / f"replica-{n}") for n in range(4)]
    with started(primary, *replicas):
        for replica in replicas:
            await_link(replica)
        Writer(5).write(primary.client, 200)
        assert primary.client.wait(4, 20_000) == 4
        for replica in replicas:
            await_same(primary, replica)
        assert int(primary.client.info("stats")["total_forks"]) == 1
        role = primary.client.execute_command("ROLE")
        assert role[0] == b"master"
        assert sorted(int(row[1]) for row in role[2]) == sorted(node.port for node in replicas)


def test_a_replica_that_was_killed_gets_a_copy(tmp_path: Path) -> None:
    primary, replica = node_of(OURS, tmp_path / "primary"), node_of(OURS, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        replica.kill()
        Writer(6).write(primary.client, 100)
        replica.start("--replicaof", f"127.0.0.1 {primary.port}")
        await_link(replica)
        await_same(primary, replica)
        until(lambda: counted(primary, "sync_full") == 2, "two full copies")


@pytest.mark.parametrize(
    ("primary_kind", "replica_kind"), [(OURS, OURS), (OURS, REDIS_7), (REDIS_7, OURS)]
)
def test_who_was_stopped_and_has_saved_goes_on(
    tmp_path: Path, primary_kind: str, replica_kind: str
) -> None:
    primary = node_of(primary_kind, tmp_path / "primary")
    replica = node_of(replica_kind, tmp_path / "replica")
    follows = ("--replicaof", f"127.0.0.1 {primary.port}")
    with started(primary, replica):
        await_link(replica)
        Writer(6).write(primary.client, 100)
        redis.Redis(port=primary.port, db=5).set("five", 5)
        await_same(primary, replica)
        stop(replica)
        redis.Redis(port=primary.port, db=5).set("six", 6)  # no SELECT in the stream before it
        replica.start(*follows)
        await_link(replica)
        Writer(7).write(primary.client, 100)
        await_same(primary, replica)
        assert counted(primary, "sync_full") == 1
        stop(primary)
        primary.start()
        await_link(replica)
        Writer(8).write(primary.client, 100)
        await_same(primary, replica)
        assert counted(primary, "sync_full") == 0
        assert counted(primary, "sync_partial_ok") == 1


def stop(node: Node) -> None:
    """SHUTDOWN SAVE, and wait for the end."""
    with contextlib.suppress(redis.ConnectionError):
        once = redis.Redis(port=node.port, retry=Retry(NoBackoff(), 0), socket_timeout=60)
        once.execute_command("SHUTDOWN", "SAVE")
    node.wait()
