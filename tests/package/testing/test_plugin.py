"""The fixtures of the pytest plugin, in a session of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 120

STOPS = """
import pytest

def address(penstock):
    return penstock.url, penstock.port

@pytest.fixture(scope="session")
def at_first(penstock_server):
    return address(penstock_server)

def test_stops_it(at_first, penstock, penstock_client, penstock_async_client):
    penstock_client.set("k", "v")
    penstock.stop()

def test_finds_a_new_one(at_first, penstock, penstock_client):
    assert penstock_client.get("k") is None
    assert address(penstock) == at_first

@pytest.mark.penstock(options=["hz 20"])
@pytest.mark.parametrize("time", [1, 2])
def test_stops_another_one(time, penstock):
    assert penstock.call("PING") == b"PONG"
    penstock.stop()

def test_stops_the_sessions(penstock_server):
    penstock_server.stop()

def test_finds_it_too(at_first, penstock, penstock_client):
    assert penstock_client.ping()
    assert address(penstock) == at_first
"""


def test_a_server_that_a_test_has_stopped_is_there_for_the_next(tmp_path: Path) -> None:
    (tmp_path / "test_stops.py").write_text(STOPS)
    plugins = (
        [] if entry_points(group="pytest11", name="penstock") else ["-ppenstock.pytest_plugin"]
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert "6 passed" in done.stdout, done.stdout + done.stderr
