"""Pub/sub against a naive model: a list of who is subscribed to what."""

from __future__ import annotations

import re

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from server.client.client import Client
from server.client.pushes import Pushes
from server.client.subscriptions import CHANNELS, PATTERNS, SHARD_CHANNELS
from server.config.parameters import Config
from server.observe.memory import Memory
from server.parts.pubsub.message import Message
from server.parts.pubsub.pubsub import PubSub
from storage import glob
from tests.worth import rounds

KINDS = st.sampled_from((CHANNELS, PATTERNS, SHARD_CHANNELS))
NAMES = st.sampled_from((b"", b"a", b"ab", b"b", b"a*", b"*", b"?"))
CLIENTS = st.integers(0, 4)


class PubSubMachine(RuleBasedStateMachine):
    """Clients subscribe, publish and leave; all get what the model says, in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()
        self.pubsub = PubSub(self.memory, Pushes())
        self.pubsub.configured(Config())
        self.clients = [Client(number, 0) for number in range(5)]
        for client in self.clients[::2]:
            client.speak(3)
        self.model: list[tuple[Client, int, bytes]] = []

    @rule(number=CLIENTS, kind=KINDS, name=NAMES)
    def subscribe(self, number: int, kind: int, name: bytes) -> None:
        client = self.clients[number]
        self.pubsub.subscribe(client, kind, name)
        self.pubsub.pushes.end_command(client)
        if (client, kind, name) not in self.model:
            self.model.append((client, kind, name))

    @rule(number=CLIENTS, kind=KINDS, name=NAMES)
    def unsubscribe(self, number: int, kind: int, name: bytes) -> None:
        client = self.clients[number]
        self.pubsub.unsubscribe(client, kind, name)
        self.model = [one for one in self.model if one != (client, kind, name)]

    @rule(number=CLIENTS)
    def leave(self, number: int) -> None:
        self.pubsub.client_left(self.clients[number])
        self.model = [one for one in self.model if one[0] is not self.clients[number]]

    @rule(channel=NAMES)
    def publish(self, channel: bytes) -> None:
        expected = [
            (client, [b"message", name] if kind == CHANNELS else [b"pmessage", name, channel])
            for client, kind, name in self.model
            if (kind == CHANNELS and name == channel)
            or (kind == PATTERNS and glob.match(name, channel))
        ]
        self.check(self.pubsub.publish(channel, b"text"), expected)

    @rule(channel=NAMES)
    def publish_to_shard(self, channel: bytes) -> None:
        expected = [(c, [b"smessage", name]) for c, kind, name in self.model
                    if kind == SHARD_CHANNELS and name == channel]  # fmt: skip
        self.check(self.pubsub.publish_to_shard(channel, b"text"), expected)

    def check(self, receivers: int, expected: list[tuple[Client, list[bytes]]]) -> None:
        assert receivers == len(expected)
        for client in self.clients:
            words = [words for c, words in expected if c is client]
            messages = [Message([*each, b"text"]).encoded(client.resp) for each in words]
            assert sorted(messages) == sorted(self.split(client))

    def split(self, client: Client) -> list[bytes]:
        """The messages that *client* was sent; none of the names here looks like their heads."""
        mark = b">" if client.resp == 3 else rb"\*"
        return [part for part in re.split(rb"(?=%b[34]\r\n)" % mark, client.out.take()) if part]

    @invariant()
    def registries_hold_what_the_model_holds(self) -> None:
        for kind in (CHANNELS, PATTERNS, SHARD_CHANNELS):
            held = {(c, name) for name, some in self.pubsub.registry(kind).items() for c in some}
            assert held == {(c, name) for c, k, name in self.model if k == kind}
            for client in self.clients:
                names = [name for c, k, name in self.model if c is client and k == kind]
                assert list(client.subscriptions.of(kind)) == names

    @invariant()
    def memory_is_counted_while_somebody_is_subscribed(self) -> None:
        assert self.pubsub.clients == len({client for client, _, _ in self.model})
        assert (self.memory.clients > 0) == bool(self.model)

    def teardown(self) -> None:
        for client in self.clients:
            self.pubsub.client_left(client)
        assert self.memory.clients == 0


TestPubSub = PubSubMachine.TestCase
TestPubSub.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
