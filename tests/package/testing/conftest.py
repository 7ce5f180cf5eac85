"""One server for the tests of this folder; each test finds it as it began."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.testing import PenstockServer


@pytest.fixture(scope="module")
def module_server() -> Iterator[PenstockServer]:
    # What is slow on a busy machine is not what these tests are about.
    with PenstockServer(options=["slowlog-log-slower-than 10000000"]) as server:
        yield server


@pytest.fixture
def server(module_server: PenstockServer) -> Iterator[PenstockServer]:
    module_server.reset()
    yield module_server
    module_server.reset()
