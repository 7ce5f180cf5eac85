"""PUBLISH and SPUBLISH. The messages are sent before the publisher's own reply.

They are no changes of data, so they are not in the append-only file; replicas get them.
"""

from __future__ import annotations

from protocol.replies import Reply
from server.dispatch.call import Call
from server.parts.replication.feed import Feed
from server.table.command import Flags, command
from server.table.keys import NOT_KEY, ONE_CHANNEL, KeyRange

PUBLISHES = Flags.PUBSUB | Flags.LOADING | Flags.STALE | Flags.FAST | Flags.MAY_REPLICATE


@command(
    "PUBLISH",
    arity=3,
    flags=PUBLISHES,
    group="pubsub",
    since="2.0.0",
    complexity="O(N+M) where N is the number of subscribers of the channel and M the number of"
    " patterns that anybody is subscribed to.",
    channels=ONE_CHANNEL,
)
def publish(call: Call) -> Reply:
    """Sends a message to the subscribers of a channel; returns how many times it is sent.

    PUBLISH channel message
    """
    _tell_replicas(call)
    return call.server.pubsub.publish(call.argv[1], call.argv[2])


@command(
    "SPUBLISH",
    arity=3,
    flags=PUBLISHES,
    group="pubsub",
    since="7.0.0",
    complexity="O(N) where N is the number of subscribers of the shard channel.",
    keys=KeyRange(NOT_KEY),
    channels=ONE_CHANNEL,
)
def spublish(call: Call) -> Reply:
    """Sends a message to the subscribers of a shard channel; returns how many they are.

    SPUBLISH shardchannel message
    """
    _tell_replicas(call)
    return call.server.pubsub.publish_to_shard(call.argv[1], call.argv[2])


def _tell_replicas(call: Call) -> None:
    """Have them publish the message, too. What comes from the AOF they have had long ago."""
    if not call.is_logged:
        return
    feed: Feed = call.server.replication.feed
    if feed.is_attached:
        feed.publish(call.db.index, call.argv)
