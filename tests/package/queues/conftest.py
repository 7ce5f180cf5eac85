"""A server for the tests of this folder, whose clock they move; each test finds it empty."""

from __future__ import annotations

from tests.package.testing.conftest import module_server, server

__all__ = ["module_server", "server"]
