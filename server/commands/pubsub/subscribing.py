"""SUBSCRIBE, UNSUBSCRIBE, and the same for patterns and for shard channels.

They have one answer for each name, and each is a message of its own (a push in RESP3). Since it
answers no request, CLIENT REPLY OFF does not suppress it.
"""

from __future__ import annotations

from collections.abc import Iterable

from protocol.encoder import Encoder
from protocol.replies import NO_REPLY, ErrorReply, Push, Reply
from server.client.origin import SCRIPT
from server.client.subscriptions import CHANNELS, PATTERNS, SHARD_CHANNELS
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.keys import ALL_CHANNELS, ALL_PATTERNS, NOT_KEY, KeyRange

SUBSCRIBES = Flags.PUBSUB | Flags.NOSCRIPT | Flags.LOADING | Flags.STALE | Flags.FOR_SUBSCRIBERS

WORDS = {CHANNELS: b"subscribe", PATTERNS: b"psubscribe", SHARD_CHANNELS: b"ssubscribe"}
UNWORDS = {CHANNELS: b"unsubscribe", PATTERNS: b"punsubscribe", SHARD_CHANNELS: b"sunsubscribe"}


@command(
    "SUBSCRIBE",
    arity=-2,
    flags=SUBSCRIBES | Flags.DENYOOM,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) where N is the number of channels.",
    channels=ALL_CHANNELS,
)
def subscribe(call: Call) -> Reply:
    """Subscribes the connection to channels: it gets what is published to them.

    SUBSCRIBE channel [channel ...]
    """
    return _subscribe(call, CHANNELS)


@command(
    "PSUBSCRIBE",
    arity=-2,
    flags=SUBSCRIBES | Flags.DENYOOM,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) where N is the number of patterns.",
    channels=ALL_PATTERNS,
)
def psubscribe(call: Call) -> Reply:
    """Subscribes the connection to all channels whose names match one of the patterns.

    PSUBSCRIBE pattern [pattern ...]
    """
    return _subscribe(call, PATTERNS)


@command(
    "SSUBSCRIBE",
    arity=-2,
    flags=SUBSCRIBES | Flags.DENYOOM,
    group="pubsub",
    since="7.0.0",
    complexity="O(N) where N is the number of shard channels.",
    keys=KeyRange(NOT_KEY, last=-1),
    channels=ALL_CHANNELS,
)
def ssubscribe(call: Call) -> Reply:
    """Subscribes the connection to shard channels.

    SSUBSCRIBE shardchannel [shardchannel ...]
    """
    return _subscribe(call, SHARD_CHANNELS)


@command(
    "UNSUBSCRIBE",
    arity=-1,
    flags=SUBSCRIBES,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) where N is the number of channels.",
)
def unsubscribe(call: Call) -> Reply:
    """Ends the subscriptions to channels, by default to all of them.

    UNSUBSCRIBE [channel [channel ...]]
    """
    return _unsubscribe(call, CHANNELS)


@command(
    "PUNSUBSCRIBE",
    arity=-1,
    flags=SUBSCRIBES,
    group="pubsub",
    since="2.0.0",
    complexity="O(N) where N is the number of patterns.",
)
def punsubscribe(call: Call) -> Reply:
    """Ends the subscriptions to patterns, by default to all of them.

    PUNSUBSCRIBE [pattern [pattern ...]]
    """
    return _unsubscribe(call, PATTERNS)


@command(
    "SUNSUBSCRIBE",
    arity=-1,
    flags=SUBSCRIBES,
    group="pubsub",
    since="7.0.0",
    complexity="O(N) where N is the number of shard channels.",
    keys=KeyRange(NOT_KEY, last=-1),
)
def sunsubscribe(call: Call) -> Reply:
    """Ends the subscriptions to shard channels, by default to all of them.

    SUNSUBSCRIBE [shardchannel [shardchannel ...]]
    """
    return _unsubscribe(call, SHARD_CHANNELS)


# ---------------------------------------------------------------------- for all kinds


def _subscribe(call: Call, kind: int) -> Reply:
    if call.origin & SCRIPT or (kind == SHARD_CHANNELS and call.is_inside()):
        command_name = WORDS[kind].decode().upper()
        raise ErrorReply("ERR", f"{command_name} isn't allowed for a DENY BLOCKING client")
    answers = _Answers(call, kind, WORDS[kind])
    for name in call.argv[1:]:
        call.server.pubsub.subscribe(call.client, kind, name)
        answers.answer(name)
    return answers.reply()


def _unsubscribe(call: Call, kind: int) -> Reply:
    answers = _Answers(call, kind, UNWORDS[kind])
    names: Iterable[bytes] = call.argv[1:] or list(call.client.subscriptions.of(kind))
    for name in names:
        call.server.pubsub.unsubscribe(call.client, kind, name)
        answers.answer(name)
    if not names:
        answers.answer(None)
    return answers.reply()


class _Answers:
    """The answers to one command: what was done, the name, how many subscriptions there are now."""

    def __init__(self, call: Call, kind: int, word: bytes) -> None:
        self._client = call.client
        self._kind = kind
        self._word = word
        self._out: Encoder = call.client.out.another()

    def answer(self, name: bytes | None) -> None:
        count = self._client.subscriptions.counted_with(self._kind)
        self._out.write(Push([self._word, name, count]))

    def reply(self) -> Reply:
        if not self._client.is_muted:
            return self._out
        self._client.out.append(self._out)
        return NO_REPLY
