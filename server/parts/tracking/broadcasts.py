"""CLIENT TRACKING with BCAST: clients that are told of all keys with a prefix, read or not.

    prefix      keys that have changed, and by whom    clients
    "user:"     user:7 -> client 41, user:9 -> -       41, 52
    ""          all keys                               77

What changes in one turn of the event loop is told when it ends, in one message for each prefix: the
keys in the order of their bytes, each once. Redis does so before it sleeps. A client is told only
of keys that its user may read; before its rights change, it is told of what has changed so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from server.client.client import RESTRICTED, Client
from server.client.end_of_turn import EndOfTurn
from server.client.endpoint import Endpoint
from server.parts.tracking.invalidation import Invalidation

Tell = Callable[[Client, Invalidation], None]


class Prefix:
    """The clients of one prefix, and the keys to tell them when the turn ends."""

    __slots__ = ("changed", "clients")

    def __init__(self) -> None:
        self.clients: dict[Client, None] = {}
        self.changed: dict[bytes, Client | None] = {}  # key -> the client that changed it last


class Broadcasts(Endpoint):
    """All prefixes. It stands in the turn's row of connections, so that its turn comes, too.

    *turn* puts it there; *tell* sends a message to a client, or to whom it has named.
    """

    __slots__ = ("_changed", "_prefixes", "_sizes", "_tell", "turn")

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell
        self._prefixes: dict[bytes, Prefix] = {}
        self._sizes: Counter[int] = Counter()  # how many of them have how many bytes
        self._changed: dict[bytes, Prefix] = {}  # with keys that have changed in this turn
        self.turn = EndOfTurn()

    def __len__(self) -> int:
        return len(self._prefixes)

    def add_prefix(self, client: Client, prefix: bytes) -> None:
        """Let *client* be told of the keys that begin with *prefix*."""
        held = self._prefixes.get(prefix)
        if held is None:
            held = self._prefixes[prefix] = Prefix()
            self._sizes[len(prefix)] += 1
        held.clients[client] = None

    def remove_prefix(self, client: Client, prefix: bytes) -> None:
        """*client* does not want to be told of them any more."""
        held = self._prefixes[prefix]
        del held.clients[client]
        if not held.clients:
            del self._prefixes[prefix]
            self._changed.pop(prefix, None)
            self._sizes[len(prefix)] -= 1
            if not self._sizes[len(prefix)]:
                del self._sizes[len(prefix)]

    def changed(self, key: bytes, by: Client | None) -> None:
        """*key* has changed; *by* is the client that did it, if one did. O(lengths of prefixes)."""
        for size in self._sizes:
            if size > len(key):
                continue
            prefix = key[:size]
            held = self._prefixes.get(prefix)
            if held is not None:
                held.changed[key] = by
                is_first = not self._changed
                self._changed[prefix] = held
                if is_first:
                    self.turn.send_later(self)

    def send(self) -> None:
        """The turn ends: tell what has changed. O(keys * log + clients)."""
        those, self._changed = self._changed, {}
        for _, held in sorted(those.items()):
            changed, held.changed = held.changed, {}
            keys = sorted(changed)
            to_most = Invalidation(keys)
            by = set(changed.values())
            for client in list(held.clients):
                is_left_out = client.tracking.no_loop and client in by
                if not (is_left_out or client.flags & RESTRICTED):
                    self._tell(client, to_most)
                elif some := [key for key in keys if _concerns(client, key, changed[key])]:
                    self._tell(client, Invalidation(some))


def _concerns(client: Client, key: bytes, by: Client | None) -> bool:
    """Whether *client* is to hear that *key* was changed, *by* whom."""
    if client.tracking.no_loop and by is client:
        return False
    return not client.flags & RESTRICTED or client.user.may_read(key)
