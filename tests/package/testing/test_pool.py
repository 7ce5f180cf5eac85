"""A session of tests has a server for all, and a few for those who want another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.testing import ServerError
from penstock.testing.pool import MOST_SERVERS, ServerPool

SETTINGS: dict[str, Any] = {"options": [], "data": None, "clock": None, "socket": "unix"}


@pytest.fixture
def pool() -> Iterator[ServerPool]:
    pool = ServerPool(SETTINGS)
    yield pool
    pool.stop()


def test_those_who_want_the_same_share_one(pool: ServerPool) -> None:
    here = Path()
    assert pool.default() is pool.default()
    own = pool.with_changes({"options": ["hz 20"]}, here)
    assert own is pool.with_changes({"options": ["hz 20"]}, here)
    assert own is not pool.default()


def test_the_one_goes_that_was_not_used_for_the_longest_time(pool: ServerPool) -> None:
    servers = [
        pool.with_changes({"options": [f"hz {n}"]}, Path()) for n in range(1, MOST_SERVERS + 1)
    ]
    pool.with_changes({"options": ["hz 1"]}, Path())
    pool.with_changes({"options": ["hz 100"]}, Path())
    assert servers[0].call("PING") == b"PONG"
    with pytest.raises(ServerError, match="not running"):
        servers[1].call("PING")


def test_a_server_that_a_test_has_stopped_is_started_again(pool: ServerPool) -> None:
    changes = {"options": ["hz 20"]}
    for server in (pool.default(), pool.with_changes(changes, Path())):
        server.stop()
    for server in (pool.default(), pool.with_changes(changes, Path())):
        assert server.call("PING") == b"PONG"


@pytest.mark.parametrize(
    "changes", [{"opions": []}, {"clock": "noon"}, {"clock": "2030-01-01"}, {"socket": "udp"}]
)
def test_a_marker_that_makes_no_sense_is_refused(
    pool: ServerPool, changes: dict[str, object]
) -> None:
    with pytest.raises(ServerError):
        pool.with_changes(changes, Path())
