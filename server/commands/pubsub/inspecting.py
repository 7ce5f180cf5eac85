"""PUBSUB: which channels and patterns have subscribers, and how many."""

from __future__ import annotations

from protocol.replies import Reply
from server.client.subscriptions import CHANNELS, SHARD_CHANNELS
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command, container, container_help
from storage import glob

LOOKS = Flags.PUBSUB | Flags.LOADING | Flags.STALE
EVERY_CHANNEL = "O(N) where N is the number of channels with subscribers."
EVERY_ARGUMENT = "O(N) where N is the number of channels asked for."

container("PUBSUB", group="pubsub", since="2.8.0", summary="Shows who is subscribed.")


@command(
    "PUBSUB CHANNELS",
    arity=-2,
    flags=LOOKS,
    group="pubsub",
    since="2.8.0",
    complexity=EVERY_CHANNEL,
)
def pubsub_channels(call: Call) -> Reply:
    """Lists the channels that have subscribers, or those that match a pattern.

    PUBSUB CHANNELS [pattern]
    """
    return _names(call, CHANNELS)


@command(
    "PUBSUB NUMSUB",
    arity=-2,
    flags=LOOKS,
    group="pubsub",
    since="2.8.0",
    complexity=EVERY_ARGUMENT,
)
def pubsub_numsub(call: Call) -> Reply:
    """Returns how many subscribers each of the channels has, patterns aside.

    PUBSUB NUMSUB [channel [channel ...]]
    """
    return _counts(call, CHANNELS)


@command("PUBSUB NUMPAT", arity=2, flags=LOOKS, group="pubsub", since="2.8.0")
def pubsub_numpat(call: Call) -> Reply:
    """Returns how many different patterns have subscribers.

    PUBSUB NUMPAT
    """
    return len(call.server.pubsub.patterns)


@command(
    "PUBSUB SHARDCHANNELS",
    arity=-2,
    flags=LOOKS,
    group="pubsub",
    since="7.0.0",
    complexity=EVERY_CHANNEL,
)
def pubsub_shardchannels(call: Call) -> Reply:
    """Lists the shard channels that have subscribers, or those that match a pattern.

    PUBSUB SHARDCHANNELS [pattern]
    """
    return _names(call, SHARD_CHANNELS)


@command(
    "PUBSUB SHARDNUMSUB",
    arity=-2,
    flags=LOOKS,
    group="pubsub",
    since="7.0.0",
    complexity=EVERY_ARGUMENT,
)
def pubsub_shardnumsub(call: Call) -> Reply:
    """Returns how many subscribers each of the shard channels has.

    PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]
    """
    return _counts(call, SHARD_CHANNELS)


container_help("PUBSUB", group="pubsub", since="6.2.0", categories=())


def _names(call: Call, kind: int) -> Reply:
    if len(call.argv) > 3:
        raise errors.bad_subcommand("pubsub", call.argv[1])
    registry = call.server.pubsub.registry(kind)
    if len(call.argv) == 2:
        return list(registry)
    return [name for name in registry if glob.match(call.argv[2], name)]


def _counts(call: Call, kind: int) -> Reply:
    registry = call.server.pubsub.registry(kind)
    counts: list[Reply] = []
    for name in call.argv[2:]:
        counts += (name, len(registry.get(name, ())))
    return counts
