"""One reply for all readers that sent the same command and are woken together.

    XADD s ..  wakes 200 times  XREAD BLOCK 0 STREAMS s 5-1  ->  one reply, written once

A command that only reads answers the same to the same words, as long as nothing is changed between
two runs of it. That is so while ready keys are served, until a woken client's command writes.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from server.client.client import Client
from storage.keyspace.key_events import KeyEvents


class SharedReply:
    """The reply to the last reader. *events* counts the look-ups that each further one saves."""

    __slots__ = ("_argv", "_db_index", "_events", "_hits", "_misses", "_no_touch", "_reply")

    def __init__(self, events: KeyEvents) -> None:
        self._events = events
        self._argv: list[bytes] = []
        self._reply: Encoder | None = None  # None: nobody has read yet, or something has changed
        self._db_index = 0
        self._no_touch = False
        self._hits = self._misses = 0

    def begin(self, client: Client, argv: list[bytes]) -> None:
        """*client* is about to run *argv*: its reply may be kept."""
        self._reply = None
        self._argv = argv
        self._db_index = client.db_index
        self._no_touch = client.no_touch
        self._hits, self._misses = self._events.hits, self._events.misses

    def keep(self, reply: Encoder) -> None:
        """Keep a copy of *reply*, which the command begun has given."""
        kept = reply.another()
        kept.append(reply)
        self._reply = kept
        self._hits = self._events.hits - self._hits
        self._misses = self._events.misses - self._misses

    def reply_to(self, client: Client, argv: list[bytes]) -> Encoder | None:
        """The reply that *client* would get for *argv*; None if that is not known."""
        reply = self._reply
        if (
            reply is None
            or client.db_index != self._db_index
            or client.no_touch != self._no_touch
            or client.out.resp != reply.resp
            or argv != self._argv
        ):
            return None
        self._events.hits += self._hits
        self._events.misses += self._misses
        copy = client.out.another()
        copy.append(reply)
        return copy

    def forget(self) -> None:
        """Forget the reply: something may have changed, or all readers are served."""
        self._reply = None
