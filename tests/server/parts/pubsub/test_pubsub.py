"""Who is subscribed, without commands: registries, limits, memory, a subscriber's own commands."""

from __future__ import annotations

import sys

import pytest

from server.client.client import Client
from server.client.endpoint import Endpoint
from server.client.pushes import Pushes
from server.client.subscriptions import CHANNELS, NO_SUBSCRIPTIONS, PATTERNS, SHARD_CHANNELS
from server.config.parameter import OutputLimit
from server.config.parameters import Config
from server.observe.memory import Memory
from server.parts.pubsub.pubsub import PubSub

LIMITS = {"normal": OutputLimit(7000, 0, 0), "pubsub": OutputLimit(500_000, 0, 0)}
KINDS = (CHANNELS, PATTERNS, SHARD_CHANNELS)


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def pubsub(memory: Memory) -> PubSub:
    config = Config()
    config.client_output_buffer_limit = LIMITS
    made = PubSub(memory, Pushes())
    made.configured(config)
    return made


class Leaving(Endpoint):
    """The end of a connection that turns out to be broken when it is to be sent something."""

    def __init__(self, pubsub: PubSub, client: Client) -> None:
        super().__init__()
        self._pubsub = pubsub
        self._client = client

    def flush(self) -> None:
        self._pubsub.client_left(self._client)


def subscriber(pubsub: PubSub, kind: int = CHANNELS, *names: bytes) -> Client:
    """A client whose SUBSCRIBE is answered."""
    client = Client(1, 0)
    for name in names:
        pubsub.subscribe(client, kind, name)
    pubsub.pushes.end_command(client)
    return client


def test_a_message_reaches_the_subscribers_of_its_channel_alone(pubsub: PubSub) -> None:
    one, other = subscriber(pubsub, CHANNELS, b"a"), subscriber(pubsub, CHANNELS, b"b")
    assert pubsub.publish(b"a", b"x") == 1
    assert b"message" in one.out.take()
    assert other.out.take() == b""


def test_each_pattern_that_matches_has_a_message_of_its_own(pubsub: PubSub) -> None:
    client = subscriber(pubsub, PATTERNS, b"a*", b"*", b"b*")
    assert pubsub.publish(b"ab", b"x") == 2
    assert client.out.take().count(b"pmessage") == 2


def test_a_long_message_is_the_same_object_for_all_subscribers(pubsub: PubSub) -> None:
    clients = [subscriber(pubsub, CHANNELS, b"a") for _ in range(3)]
    assert pubsub.publish(b"a", bytes(100_000)) == 3
    pieces = [client.out.take_pieces() for client in clients]
    assert all(len(each) == 1 for each in pieces)
    assert pieces[0][0] is pieces[1][0] is pieces[2][0]


def test_a_name_without_subscribers_is_forgotten(pubsub: PubSub) -> None:
    one, other = subscriber(pubsub, PATTERNS, b"a"), subscriber(pubsub, PATTERNS, b"a")
    pubsub.unsubscribe(one, PATTERNS, b"a")
    assert list(pubsub.patterns) == [b"a"]
    pubsub.unsubscribe(other, PATTERNS, b"a")
    assert pubsub.patterns == {}


def test_the_number_of_subscribers_counts_each_client_once(pubsub: PubSub) -> None:
    client = subscriber(pubsub, CHANNELS, b"a", b"b")
    pubsub.subscribe(client, SHARD_CHANNELS, b"s")
    assert pubsub.clients == 1
    pubsub.unsubscribe_all(client)
    pubsub.unsubscribe_all(client)
    assert pubsub.clients == 0


def test_a_client_that_left_is_in_no_registry(pubsub: PubSub) -> None:
    client = subscriber(pubsub, CHANNELS, b"a")
    for kind in KINDS:
        pubsub.subscribe(client, kind, b"x")
    pubsub.client_left(client)
    pubsub.client_left(client)
    assert [pubsub.registry(kind) for kind in KINDS] == [{}, {}, {}]
    assert client.subscriptions is NO_SUBSCRIPTIONS


def test_the_limit_of_subscribers_holds_while_there_is_a_subscription(pubsub: PubSub) -> None:
    client = subscriber(pubsub, CHANNELS, b"a")
    assert client.out.limit == 500_000
    pubsub.unsubscribe(client, CHANNELS, b"a")
    assert client.out.limit == 7000


def test_a_message_beyond_the_limit_is_dropped_and_marks_the_subscriber(pubsub: PubSub) -> None:
    client = subscriber(pubsub, CHANNELS, b"a")
    pubsub.publish(b"a", bytes(500_000))
    assert client.out.overflown


def test_subscriptions_count_as_memory_of_the_clients(pubsub: PubSub, memory: Memory) -> None:
    client = subscriber(pubsub)
    for kind in KINDS:
        for _ in range(2):
            pubsub.subscribe(client, kind, bytes(100_000))
    assert 300_000 < memory.clients < 303_000
    pubsub.client_left(client)
    assert memory.clients == 0


def test_what_is_counted_for_a_subscription_is_what_it_takes(
    pubsub: PubSub, memory: Memory
) -> None:
    client = subscriber(pubsub, CHANNELS, b"first")
    before, names = memory.clients, [b"%04d" % number for number in range(1000)]
    taken = -sys.getsizeof(client.subscriptions.channels) - sys.getsizeof(pubsub.channels)
    for name in names:
        pubsub.subscribe(client, CHANNELS, name)
    taken += sys.getsizeof(client.subscriptions.channels) + sys.getsizeof(pubsub.channels)
    taken += sum(map(sys.getsizeof, pubsub.channels.values()))
    taken += sum(map(sys.getsizeof, names))
    assert 0.8 < taken / (memory.clients - before) < 1.2


def test_a_subscriber_that_leaves_amid_a_message_does_not_keep_it_from_the_others(
    pubsub: PubSub,
) -> None:
    one, other = subscriber(pubsub, CHANNELS, b"a"), subscriber(pubsub, CHANNELS, b"a")
    one.endpoint = Leaving(pubsub, one)
    assert pubsub.publish(b"a", b"x") == 2
    assert other.out.size()
    assert pubsub.publish(b"a", b"x") == 1
