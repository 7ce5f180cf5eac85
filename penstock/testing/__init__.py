"""A real server for tests: PenstockServer for any program, and what the pytest fixtures use.

with PenstockServer() as server:
    client = redis.Redis.from_url(server.url)
"""

from penstock.testing.errors import ServerError, StartFailed
from penstock.testing.server import PenstockServer
from penstock.testing.snapshots import Snapshot

__all__ = ["PenstockServer", "ServerError", "Snapshot", "StartFailed"]
