"""Facts of subscribers and what they hear."""

from __future__ import annotations

from server.observe.fact import COUNT, Facts, gauge
from server.parts.pubsub.pubsub import PubSub

SUBSCRIBERS = Facts[PubSub](
    gauge("pubsub_clients", COUNT, lambda pubsub: pubsub.clients, "Clients that are subscribed"),
)

CHANNELS = Facts[PubSub](
    gauge("pubsub_channels", COUNT, lambda pubsub: len(pubsub.channels),
          "Channels that somebody is subscribed to"),
    gauge("pubsub_patterns", COUNT, lambda pubsub: len(pubsub.patterns),
          "Patterns that somebody is subscribed to"),
    gauge("pubsubshard_channels", COUNT, lambda pubsub: len(pubsub.shard_channels),
          "Shard channels that somebody is subscribed to"),
)  # fmt: skip
