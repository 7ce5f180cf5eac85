r"""What a client is told when keys have changed that it may have in its cache.

RESP3                        >2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n
RESP2, from another client   *3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n

In place of the keys stands a null when all keys have gone: FLUSHALL, FLUSHDB.

RESP3, the other has gone    >2\r\n$21\r\ntracking-redir-broken\r\n:41\r\n
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.encoder import Encoder
from protocol.replies import Push, Reply

CHANNEL = b"__redis__:invalidate"


class Invalidation:
    """Encoded once for each version of the protocol. *keys* is None if all keys have gone."""

    __slots__ = ("_encoded", "_keys")

    def __init__(self, keys: Sequence[bytes] | None) -> None:
        self._keys: Reply = None if keys is None else list(keys)
        self._encoded: dict[int, bytes] = {}

    def encoded(self, resp: int) -> bytes:
        """The message in RESP *resp* (2 or 3)."""
        if resp not in self._encoded:
            head = [b"invalidate"] if resp == 3 else [b"message", CHANNEL]
            self._encoded[resp] = _encoded([*head, self._keys], resp)
        return self._encoded[resp]


def redirection_broken(receiver_id: int) -> bytes:
    """What a client that speaks RESP3 is told when its redirection leads nowhere."""
    return _encoded([b"tracking-redir-broken", receiver_id], 3)


def _encoded(items: list[Reply], resp: int) -> bytes:
    out = Encoder(resp)
    out.write(Push(items))
    return out.take()
