"""Pub/sub: who is subscribed to which channels and patterns, and the way of a message to them.

    channels         news   -> {client: None, client: None}     in the order of their SUBSCRIBEs
    patterns         n*     -> {client: None}
    shard_channels   news   -> {client: None}                   apart from the channels

A name is there as long as it has a subscriber. Each client knows its own names, too
(server/client/subscriptions.py), so that nothing is searched when it leaves.
"""

from __future__ import annotations

from typing import TypeAlias

from server.client.client import SUBSCRIBED, Client
from server.client.pushes import Pushes
from server.client.subscriptions import (
    CHANNELS,
    NO_SUBSCRIPTIONS,
    PATTERNS,
    SHARD_CHANNELS,
    Subscriptions,
)
from server.config.parameters import Config, OutputLimit
from server.observe.memory import Memory
from server.observe.part import Part
from server.parts.pubsub.message import Message
from storage import glob

Registry: TypeAlias = dict[bytes, dict[Client, None]]

SUBSCRIBER_BYTES = 320  # bytes of a subscriber's sets of names, when they are empty
SUBSCRIPTION_BYTES = 330  # bytes that a name with one subscriber takes besides its text


class PubSub(Part):
    """Subscriptions, and messages to subscribers. *memory* counts what subscriptions take."""

    __slots__ = (
        "_limits",
        "_memory",
        "channels",
        "clients",
        "patterns",
        "pushes",
        "shard_channels",
    )

    def __init__(self, memory: Memory, pushes: Pushes) -> None:
        self._memory = memory
        self.pushes = pushes
        self._limits: dict[str, OutputLimit] = {}
        self.channels: Registry = {}
        self.patterns: Registry = {}
        self.shard_channels: Registry = {}
        self.clients = 0  # how many have subscriptions

    # ------------------------------------------------------------------ messages

    def publish(self, channel: bytes, message: bytes) -> int:
        """Send *message* to the subscribers of *channel*, and of the patterns that match it.

        Returns how many times it is sent. O(subscribers + patterns).
        """
        receivers = 0
        subscribers = self.channels.get(channel)
        if subscribers is not None:
            receivers = self._send(Message([b"message", channel, message]), subscribers)
        if self.patterns:
            for pattern, subscribers in list(self.patterns.items()):
                if glob.match(pattern, channel):
                    words = [b"pmessage", pattern, channel, message]
                    receivers += self._send(Message(words), subscribers)
        return receivers

    def publish_to_shard(self, channel: bytes, message: bytes) -> int:
        """Send *message* to the subscribers of a shard channel, which no pattern matches.

        Returns how many times it is sent. O(subscribers).
        """
        subscribers = self.shard_channels.get(channel)
        if subscribers is None:
            return 0
        return self._send(Message([b"smessage", channel, message]), subscribers)

    def _send(self, message: Message, subscribers: dict[Client, None]) -> int:
        """Add *message* to what each of *subscribers* is sent. Returns how many they are."""
        clients = []  # a copy: one that cannot be sent anything may leave meanwhile
        for client in subscribers:
            clients.append(client)  # noqa: PERF402  compiled, list() is slower
        for client in clients:
            self.pushes.send(client, message.encoded(client.resp))
        return len(clients)

    # ------------------------------------------------------------------ subscriptions

    def registry(self, kind: int) -> Registry:
        """The names of *kind*, and their subscribers."""
        if kind == CHANNELS:
            return self.channels
        return self.patterns if kind == PATTERNS else self.shard_channels

    def subscribe(self, client: Client, kind: int, name: bytes) -> None:
        """Subscribe *client* to *name*, if it is not yet."""
        if not client.flags & SUBSCRIBED:
            self._enter(client)
        names = client.subscriptions.of(kind)
        if name not in names:
            names[name] = None
            self.registry(kind).setdefault(name, {})[client] = None
            self._memory.hold(client, SUBSCRIPTION_BYTES + len(name))

    def unsubscribe(self, client: Client, kind: int, name: bytes) -> None:
        """End the subscription of *client* to *name*, if there is one."""
        names = client.subscriptions.of(kind)
        if name not in names:
            return
        del names[name]
        registry = self.registry(kind)
        subscribers = registry[name]
        del subscribers[client]
        if not subscribers:
            del registry[name]
        self._memory.hold(client, -SUBSCRIPTION_BYTES - len(name))
        if not client.subscriptions.total:
            self._leave(client)

    def unsubscribe_all(self, client: Client) -> None:
        """End all subscriptions of *client*. O(subscriptions)."""
        for kind in (CHANNELS, PATTERNS, SHARD_CHANNELS):
            for name in list(client.subscriptions.of(kind)):
                self.unsubscribe(client, kind, name)

    def _enter(self, client: Client) -> None:
        """The first subscription of *client*, during its own command."""
        client.subscriptions = Subscriptions()
        client.set_flag(SUBSCRIBED)
        client.limit_output(self._limits["pubsub"].hard)
        self.clients += 1
        self._memory.hold(client, SUBSCRIBER_BYTES)
        self.pushes.begin_command(client)

    def _leave(self, client: Client) -> None:
        client.subscriptions = NO_SUBSCRIPTIONS
        client.clear_flag(SUBSCRIBED)
        client.limit_output(self._limits["normal"].hard)
        self.clients -= 1
        self._memory.hold(client, -SUBSCRIBER_BYTES)

    # ------------------------------------------------------------------ as a part of the server

    def client_left(self, client: Client) -> None:
        if client.flags & SUBSCRIBED:
            self.unsubscribe_all(client)

    def configured(self, config: Config) -> None:
        self._limits = config.client_output_buffer_limit
