# cython: boundscheck=False, wraparound=False
"""Bytes to commands: the requests of clients, in multibulk form or as inline text.

    *3\\r\\n$3\\r\\nSET\\r\\n$3\\r\\nkey\\r\\n$5\\r\\nvalue\\r\\n    multibulk: what libraries send
    SET key "some value"\\r\\n                           inline: what a person types

Commands are cut straight from the bytes that were fed; only the unfinished rest is kept. A long
bulk that comes in many pieces is collected apart, so that each byte is copied a bounded number of
times. What a count or a length announces reserves nothing: memory grows with what has arrived.

Source of the limits and their texts: redis 7.0 (processMultibulkBuffer, processInlineBuffer).
"""

from __future__ import annotations

from protocol import octets
from protocol.inline import UnbalancedQuotes, split_words

# The limits below defend the server against a client, whatever it sends.
MAX_ARGS = 2**31 - 1  # words of a command; none is reserved before it has come
MAX_BULK = 512 * 1024 * 1024  # bytes of a word: proto-max-bulk-len's default
MAX_LINE = 64 * 1024  # bytes of an inline command, or of a line that should hold a count
# Strangers have no business to send more than AUTH or HELLO need.
MAX_ARGS_UNAUTHENTICATED = 10
MAX_BULK_UNAUTHENTICATED = 16 * 1024

COLLECT_FROM = 32 * 1024  # bytes; a shorter unfinished bulk is simply kept with the rest

CR, LF, STAR, DOLLAR = b"\r\n*$"


class ProtocolError(Exception):
    """The peer broke the protocol. Answer it with the text, then hang up."""


class RequestParser:
    """Cuts a byte stream into commands.

    Feed what the socket gave; take until there is no whole command left. Raises ProtocolError, and
    only that, whatever the bytes are; after it, nothing more comes out.
    """

    __slots__ = (
        "_argv",
        "_at",
        "_bulk",
        "_collected",
        "_data",
        "_dead",
        "_missing",
        "authenticated",
        "max_bulk",
    )

    def __init__(self) -> None:
        self.max_bulk = MAX_BULK
        self.authenticated = True  # False: the stricter limits hold
        self._data = b""
        self._at = 0  # what lies before it in _data has been taken
        self._argv: list[bytes] = []  # the words so far of an unfinished command
        self._missing = 0  # how many words it still lacks
        self._bulk = -1  # the length of the word that comes next, once it is known
        self._collected: bytearray | None = None  # that word's beginning, if it is a long one
        self._dead = False

    def buffered(self) -> int:
        """Bytes held of what is unfinished."""
        held = len(self._data) - self._at
        return held if self._collected is None else held + len(self._collected)

    def feed(self, data: bytes) -> None:
        """Add what has come from the socket."""
        if self._dead:
            return
        if self._collected is not None:
            self._collected += data
        elif self._at >= len(self._data):
            self._data = data
            self._at = 0
        else:
            self._data = octets.cut_bytes(self._data, self._at, len(self._data)) + data
            self._at = 0

    def take(self) -> list[bytes] | None:
        """The next whole command, or None until more is fed. Raises ProtocolError."""
        while not self._dead:
            if not self._missing:
                if self._at >= len(self._data):
                    return None
                if self._data[self._at] != STAR:
                    words = self._take_inline()
                    if words is None or words:
                        return words
                    continue  # an empty line
                if not self._take_count():
                    return None
                continue
            if not self._take_words():
                return None
            argv = self._argv
            self._argv = []
            return argv
        return None

    # ------------------------------------------------------------------ multibulk

    def _take_count(self) -> bool:
        """Read ``*<count>``. False if the line is not whole."""
        end = self._line_end("too big mbulk count string")
        if end < 0:
            return False
        count = octets.read_number(self._data, self._at + 1, end)
        if count == octets.NOT_A_NUMBER or count > MAX_ARGS:
            raise self._broken("invalid multibulk length")
        if count > MAX_ARGS_UNAUTHENTICATED and not self.authenticated:
            raise self._broken("unauthenticated multibulk length")
        self._missing = max(count, 0)  # none or fewer: no command, and no answer
        self._at = end + 2
        return True

    def _take_words(self) -> bool:
        """Take all words that are whole. False if some are missing still."""
        while self._missing:
            if self._bulk < 0 and not self._take_length():
                return False
            if self._collected is not None:
                if not self._take_collected():
                    return False
            else:
                end = self._at + self._bulk
                if end + 2 > len(self._data):
                    if self._bulk >= COLLECT_FROM:
                        self._begin_collecting()
                    return False
                self._argv.append(octets.cut_bytes(self._data, self._at, end))
                self._at = end + 2
            self._bulk = -1
            self._missing -= 1
        return True

    def _take_length(self) -> bool:
        """Read ``$<length>``. False if the line is not whole."""
        end = self._line_end("too big bulk count string")
        if end < 0:
            return False
        if self._data[self._at] != DOLLAR:
            raise self._broken(f"expected '$', got '{chr(self._data[self._at])}'")
        length = octets.read_number(self._data, self._at + 1, end)
        if length < 0 or length > self.max_bulk:
            raise self._broken("invalid bulk length")
        if length > MAX_BULK_UNAUTHENTICATED and not self.authenticated:
            raise self._broken("unauthenticated bulk length")
        self._bulk = length
        self._at = end + 2
        return True

    def _begin_collecting(self) -> None:
        self._collected = bytearray(octets.cut_bytes(self._data, self._at, len(self._data)))
        self._data = b""
        self._at = 0

    def _take_collected(self) -> bool:
        """Take the long word. False if it is not whole."""
        collected = self._collected
        assert collected is not None
        if len(collected) < self._bulk + 2:
            return False
        self._argv.append(octets.cut(collected, 0, self._bulk))
        self._data = octets.cut(collected, self._bulk + 2, len(collected))
        self._collected = None
        return True

    def _line_end(self, too_long: str) -> int:
        """Where the CR of the line at _at is; -1 if its CRLF has not come. Raises ProtocolError."""
        end = octets.find(self._data, CR, self._at)
        if end < 0 and len(self._data) - self._at > MAX_LINE:
            raise self._broken(too_long)
        return end if 0 <= end <= len(self._data) - 2 else -1

    # ------------------------------------------------------------------ inline

    def _take_inline(self) -> list[bytes] | None:
        """The words of a line, none for an empty one; None if it is not whole."""
        end = octets.find(self._data, LF, self._at)
        if end < 0:
            if len(self._data) - self._at > MAX_LINE:
                raise self._broken("too big inline request")
            return None
        line = octets.cut_bytes(self._data, self._at, end)
        self._at = end + 1
        try:
            return split_words(line.removesuffix(b"\r"))
        except UnbalancedQuotes:
            raise self._broken("unbalanced quotes in request") from None

    def _broken(self, text: str) -> ProtocolError:
        self._dead = True
        self._data = b""
        self._at = 0
        return ProtocolError(text)
