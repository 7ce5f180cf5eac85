"""A server that has begun uncompiled, while its core is compiled beside it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from build_core.compilation import SUFFIX
from tests.ports import free_port
from tests.worth import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="there is no compiled core")

ROOT = Path(__file__).parents[3]
PACKAGES = ("octets", "penstock", "protocol", "server", "storage")
READY = "Ready to accept connections"
# EVAL imports what runs Lua.
REQUESTS = b"EVAL \"return redis.call('incr', 'n')\" 0\r\nINFO server\r\nQUIT\r\n"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """The application without its compiled modules."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
    return tmp_path


@pytest.fixture
def port(sources: Path) -> Iterator[int]:
    """The port of a server that runs from *sources*, and is ready."""
    port = free_port()
    run = [sys.executable, "-m", "server", "--port", str(port), "--save", ""]
    with subprocess.Popen(run, cwd=sources, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert any(READY in line for line in server.stdout)
        yield port
        server.send_signal(signal.SIGTERM)


def test_modules_that_are_compiled_while_it_runs_are_not_mixed_in(sources: Path, port: int) -> None:
    for package in PACKAGES:
        for module in (ROOT / package).rglob(f"*{SUFFIX}"):
            (sources / module.relative_to(ROOT)).symlink_to(module)
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(REQUESTS)
        replies = b"".join(iter(lambda: client.recv(65536), b""))
    assert replies.startswith(b":1\r\n")
    assert b"penstock_compiled:no" in replies
