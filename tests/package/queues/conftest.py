"""A server for the tests of this folder, whose clock they move; each test finds it empty."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.package.testing.conftest import module_server, server

__all__ = ["module_server", "server"]


@pytest.fixture
def away() -> int:
    """The port of a server that is away: nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])
