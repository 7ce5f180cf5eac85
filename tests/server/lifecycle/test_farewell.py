"""The wait of a server that is asked to stop while its replicas lack something."""

from __future__ import annotations

from typing import Any

from server.lifecycle.farewell import Farewell
from tests.server.conftest import SocketlessServer


def test_it_tells_how_long_a_server_that_stops_still_waits(
    server: SocketlessServer, monkeypatch: Any
) -> None:
    now_ms = 1000
    farewell = Farewell(server.dispatcher, server.roles, lambda options: True, lambda: now_ms)
    monkeypatch.setattr(server.state.replication, "are_behind", lambda: True)
    assert farewell.left_ms is None
    assert farewell.begin(frozenset())
    now_ms += 4000
    assert farewell.left_ms == 6000
    now_ms += 7000
    assert farewell.left_ms == 0
    farewell.abort()
    assert farewell.left_ms is None
