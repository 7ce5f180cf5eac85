"""Replicas of other makes, and a primary whose streams have policies and schedules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.polling import until
from tests.replication.deployment import Node
from tests.replication.kinds import KINDS, OURS, await_link, node_of, started

OTHERS = [kind for kind in KINDS if kind != OURS]


def set_policies(primary: Node, key: str) -> None:
    """A stream with a policy of each sort, and with effects of them."""
    call = primary.client.execute_command
    call("XADD", key, "1-0", "f", "v")
    call("XGROUP", "CREATE", key, "g", "0")
    call("XGROUP", "CFGSET", key, "g", "VISIBILITY", "1", "MAXPENDING", "5")
    call("XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">")
    call("XCFGSET", key, "RETAIN-LENGTH", "10")
    call("XSCHEDULE", key, "job", "EVERY", "3600000", "*", "f", "w")
    call("XADD", key, "AT", "9999999999999", "*", "f", "x")
    call("XADD", key, "EXPIRE", "100000", "2-0", "f", "y")


def assert_it_has_the_effects(replica: Node, primary: Node, key: str) -> None:
    primary.client.set("k", key)
    until(lambda: replica.client.get("k") == key.encode(), "the last change")
    assert replica.client.xrange(key) == primary.client.xrange(key)
    assert replica.client.xpending(key, "g")["pending"] == 1
    assert replica.client.info("stats")["unexpected_error_replies"] == 0

    def same() -> bool:
        here, there = primary.replication(), replica.replication()
        return bool(here["master_repl_offset"] == there["slave_repl_offset"])

    until(same, "the same offset")


@pytest.mark.parametrize("kind", OTHERS)
def test_another_server_follows_with_the_effects_alone(tmp_path: Path, kind: str) -> None:
    """Once, it was sent the policies, too, and logged an error for each."""
    primary, replica = node_of(OURS, tmp_path / "primary"), node_of(kind, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        set_policies(primary, "s")
        assert_it_has_the_effects(replica, primary, "s")
        primary.client.execute_command("CLIENT", "KILL", "TYPE", "replica")
        set_policies(primary, "t")
        assert_it_has_the_effects(replica, primary, "t")
        assert primary.client.info("stats")["sync_partial_ok"] == 1


@pytest.mark.parametrize("kind", OTHERS)
def test_another_server_is_refused_by_name_if_that_is_set(tmp_path: Path, kind: str) -> None:
    primary = node_of(OURS, tmp_path / "primary", "--repl-foreign-replicas", "refuse")
    replica = node_of(kind, tmp_path / "replica")
    with started(primary, replica):
        await_link(replica)
        set_policies(primary, "s")
        until(lambda: replica.replication()["master_link_status"] == "down", "the end of the link")
        text = "is not served: there are policies or schedules of streams"
        until(lambda: text in (tmp_path / "primary" / "log").read_text(), "the reason")
        primary.client.delete("s")
        await_link(replica)
