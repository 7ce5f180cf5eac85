"""What a socket has not taken yet: bytes in the pieces that they came in, long ones by reference.

Short answers are joined, so that a client that asks much and reads nothing takes little more memory
than its answers have bytes. A long piece may belong to others too, and is never changed.

    pieces   [None, None, ...taken | not yet..., piece, piece, open]      size: the bytes not taken
                          first, of which taken bytes are          short answers go into that one
"""

from __future__ import annotations

from octets import buffers
from protocol.encoder import Encoder

SHORT = 64 * 1024  # bytes; answers of fewer are joined
MANY = 1024  # places of pieces that are taken, before the list is shortened


class SendQueue:
    """Answers in the order in which they are to be sent. *size* is how many bytes wait.

    The first piece is ``pieces[first]``, of which *taken* bytes are sent.
    """

    __slots__ = ("_open", "first", "pieces", "size", "taken")

    def __init__(self) -> None:
        self.size = 0
        self.pieces: list[bytes | bytearray | None] = []
        self.first = 0
        self.taken = 0
        self._open: bytearray | None = None  # the last piece, if it is ours to be lengthened

    def add(self, out: Encoder) -> None:
        """Keep what *out* holds; it is empty then. O(pieces), and the bytes of a short answer."""
        size = out.size()
        if not size:
            return
        if size < SHORT and not out.in_pieces():
            piece = self._open
            if piece is None or len(piece) >= SHORT:
                piece = self._open = bytearray()
                self.pieces.append(piece)
            end = len(piece)
            buffers.resize(piece, end + size)
            buffers.put_slice(piece, end, out.buffer, 0, size)
            out.clear()
        else:
            self.pieces += out.take_pieces()
            self._open = None
        self.size += size

    def piece_count(self) -> int:
        """How many pieces wait."""
        return len(self.pieces) - self.first

    def pass_over(self, count: int) -> None:
        """Let go of the first *count* bytes, which are sent. O(pieces sent), amortized."""
        self.size -= count
        if not self.size:
            self.clear()
            return
        while count:
            piece = self.pieces[self.first]
            assert piece is not None
            left = len(piece) - self.taken
            if count < left:
                self.taken += count
                return
            count -= left
            self.pieces[self.first] = None
            self.first += 1
            self.taken = 0
            if self.first >= MANY and self.first * 2 > len(self.pieces):
                del self.pieces[: self.first]
                self.first = 0

    def take(self, most: int) -> bytes | bytearray | memoryview:
        """Take the first bytes, *most* of one piece at most. The queue must not be empty."""
        piece = self.pieces[self.first]
        assert piece is not None
        start = self.taken
        size = min(len(piece) - start, most)
        if piece is self._open:  # while a part of it is looked at, it cannot grow
            self._open = None
        self.pass_over(size)
        return piece if size == len(piece) else memoryview(piece)[start : start + size]

    def clear(self) -> None:
        """Let go of all bytes."""
        self.size = 0
        self.pieces = []
        self.first = self.taken = 0
        self._open = None
