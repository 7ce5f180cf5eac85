r"""A message on its way to its subscribers.

RESP2   *3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n
RESP3   >3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n
"""

from __future__ import annotations

from protocol.encoder import Encoder

_EMPTY = Encoder()


class Message:
    """Encoded once for each version of the protocol; all subscribers get the same bytes object."""

    __slots__ = ("_resp2", "_resp3", "_words")

    def __init__(self, words: list[bytes]) -> None:
        self._words = words
        self._resp2: bytes | None = None
        self._resp3: bytes | None = None

    def encoded(self, resp: int) -> bytes:
        """The message in RESP *resp* (2 or 3)."""
        if resp == 3:
            if self._resp3 is None:
                self._resp3 = _encode(self._words, 3)
            return self._resp3
        if self._resp2 is None:
            self._resp2 = _encode(self._words, 2)
        return self._resp2


def _encode(words: list[bytes], resp: int) -> bytes:
    out = _EMPTY.another()
    if resp == 3:
        out.raw(b">%d\r\n" % len(words))
    else:
        out.array(len(words))
    for word in words:
        out.bulk(word)
    return out.take()
