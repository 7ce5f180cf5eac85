"""How replicas are looked after, by a clock of the test's own."""

from server.client.client import Client
from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.parts.propagation.propagation import Propagation
from server.parts.replication.feed import Feed
from server.parts.replication.history import History
from server.parts.replication.replica import Replica, Stage
from server.parts.replication.replicas import Replicas

UP_FOR_MS = 40_000_000  # a machine that has run for half a day
PERIOD_MS = 10_000


class Pings(Feed):
    """A feed that counts the PINGs it is asked for."""

    def __init__(self) -> None:
        super().__init__(Propagation(), History("a" * 40))
        self.pings = 0

    def ping(self) -> None:
        self.pings += 1


def online() -> Replica:
    client = Client(1, 0)
    client.endpoint = Endpoint()
    replica = Replica(client)
    replica.stage = Stage.ONLINE
    return replica


def test_the_first_ping_comes_a_period_after_the_first_replica():
    feed = Pings()
    replicas = Replicas(Config(), feed)
    replicas.joined(online(), UP_FOR_MS)
    replicas.tick(UP_FOR_MS + PERIOD_MS - 1, pings=True)
    assert feed.pings == 0
    replicas.joined(online(), UP_FOR_MS + PERIOD_MS - 1)  # not the first: the period goes on
    replicas.tick(UP_FOR_MS + PERIOD_MS, pings=True)
    assert feed.pings == 1
    replicas.tick(UP_FOR_MS + 2 * PERIOD_MS - 1, pings=True)
    assert feed.pings == 1
    replicas.tick(UP_FOR_MS + 2 * PERIOD_MS, pings=True)
    assert feed.pings == 2
