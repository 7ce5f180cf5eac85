"""The health of consumer groups: its numbers. Its pictures are in test_health_pictures.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from pyspark_penstock.cli.health import lines
from pyspark_penstock.cli.main import main
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.health import (
    AGES,
    TOP,
    DeadConsumer,
    GroupHealth,
    PendingSummary,
    Redelivered,
    age_of,
    health,
    worst_first,
)
from tests.compat.processes import ServerProcess, redis_tool
from tests.spark.documented import PIPELINE, block

Options = dict[str, str]


def group_with_pending(client: redis.Redis) -> None:
    """Add a stream of ten entries with a group.

    Four entries are pending for the consumer ann; one of them was delivered three times.
    """
    for ms in range(1, 11):
        client.xadd("in", {"ms": ms}, id=f"{ms}-0")
    client.xgroup_create("in", "workers", id="0")
    client.xreadgroup("workers", "ann", {"in": ">"}, count=4)
    for _ in range(2):
        client.xclaim("in", "workers", "ann", 0, ["2-0"])


def test_health_has_lag_pending_and_redelivered_entries(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    (found,) = health(at, ["in"])
    assert (found.lag, found.pending, found.redelivered) == (6, 4, 1)
    assert [(e.id, e.consumer, e.deliveries) for e in found.most_redelivered] == [("2-0", "ann", 3)]
    assert sum(found.ages) == 4


def test_an_idle_consumer_with_pending_entries_is_dead(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_createconsumer("in", "workers", "bob")
    (now,) = health(at, min_idle_ms=0)
    (later,) = health(at, min_idle_ms=3_600_000)
    assert [(consumer.name, consumer.pending) for consumer in now.dead] == [("ann", 4)]
    assert (now.stuck, later.stuck, later.dead) == (4, 0, ())


def test_health_can_be_limited_to_one_group(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in", "audit", id="$")
    assert [found.group for found in health(at, group="audit")] == ["audit"]
    assert {found.group for found in health(at)} == {"audit", "workers"}


def test_streams_can_be_given_as_globs(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in[1]", "brackets", id="0", mkstream=True)
    assert [found.stream for found in health(at, ["i?", "in"])] == ["in"]
    assert [found.stream for found in health(at, ["in[1]"])] == ["in[1]"]
    with pytest.raises(OptionError, match=r"no stream matches 'ord\*'"):
        health(at, ["ord*"])


def test_a_missing_stream_or_group_is_refused(client: redis.Redis, at: Options) -> None:
    with pytest.raises(OptionError, match="no stream 'nowhere'"):
        health(at, ["nowhere"])
    with pytest.raises(OptionError, match="group 'nobody'"):
        health(at, group="nobody")


def test_a_server_without_groups_has_no_rows(client: redis.Redis, at: Options) -> None:
    client.xadd("in", {"a": 1})
    assert health(at) == []


def test_each_age_falls_into_exactly_one_range() -> None:
    limits = [limit for _, limit in AGES if limit is not None]
    assert [age_of(limit - 1) for limit in limits] == list(range(len(limits)))
    assert age_of(limits[-1]) == len(AGES) - 1


def test_only_the_most_redelivered_entries_are_listed() -> None:
    summary = PendingSummary(min_idle_ms=0)
    for times in range(50):
        summary.add(Redelivered(f"{times}-0", "ann", times, 0))
    assert summary.redelivered == 48
    assert [e.deliveries for e in summary.most_redelivered()] == list(range(49, 49 - TOP, -1))


def test_groups_come_worst_first(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xgroup_create("in", "behind", id="0")
    client.xgroup_create("in", "done", id="$")
    assert [found.group for found in health(at, min_idle_ms=0)] == ["workers", "behind", "done"]
    assert [found.group for found in health(at)] == ["behind", "workers", "done"]


def test_entries_that_were_trimmed_undelivered_are_lost(client: redis.Redis, at: Options) -> None:
    group_with_pending(client)
    client.xtrim("in", maxlen=3, approximate=False)
    (found,) = health(at)
    assert (found.lost, found.pending) == (3, 4)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[ServerProcess]:
    """A second server, with a stream that the first one lacks."""
    process = ServerProcess([redis_tool("redis-server")], tmp_path)
    with redis.Redis(port=process.port) as client:
        client.xadd("there", {"a": 1})
        client.xgroup_create("there", "g", id="0")
    yield process
    process.stop()


def test_the_groups_of_several_servers_are_one_table_with_its_sums(
    client: redis.Redis, at: Options, other: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    group_with_pending(client)
    here, there = f"127.0.0.1:{at['port']}", f"127.0.0.1:{other.port}"
    servers = {"servers": f"{here},{there}"}
    assert [(g.server, g.stream) for g in health(servers)] == [(here, "in"), (there, "there")]
    assert [g.server for g in health(servers, ["there"])] == [there]  # it is at one of them
    with pytest.raises(OptionError, match="no stream 'nowhere'"):
        health(servers, ["nowhere"])
    assert main(["health", "--option", f"servers={here},{there}"]) == 0
    head, *rows, redelivered = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["server", "stream", "group", "lag"]
    assert rows[-1].split() == [
        "(2", "streams)", "(2", "groups)", "7", "4", "0", "1", "0", "0",
    ]  # fmt: skip
    assert redelivered.startswith(f"{here} in / workers: 2-0 was given out 3 times")


def test_the_documented_table_is_what_is_printed() -> None:
    worst = Redelivered("1795261957287-0", "ann", 7, 250_000)
    dead = DeadConsumer("ann", 12, 250_000)
    none = (0,) * len(AGES)
    groups = [
        GroupHealth("orders", "workers", 1_204, 2, 31, 12, 250_000, none, 3, (worst,), (dead,)),
        GroupHealth("orders", "audit", 20_117, 1, 0, 0, 0, none, 0, (), ()),
    ]
    assert worst_first(groups[::-1]) == groups
    assert lines(groups) == block(PIPELINE, "stream ").splitlines()
