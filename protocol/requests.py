# cython: boundscheck=False, wraparound=False
r"""Bytes to commands: the requests of clients, in multibulk form or as inline text.

    *3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n        multibulk: what libraries send
    SET key "some value"\r\n                               inline: what a person types

Commands are cut straight from the bytes that were fed. Bytes that come before those are used up are
collected in a tail. The tail is joined to them only when it completes the line or word that the
parser waits for. So each byte is copied a bounded number of times, in however many pieces it comes.

    _data  |..taken...*2\r\n$4\r\nECHO\r\n$90000\r\nabc|   _tail  |defgh............|
                     _at

An incomplete word of LONG_WORD bytes or more has memory of its own, and the socket receives
straight into that: see protocol.long_word. An announced count or length reserves nothing: memory
grows with what has arrived.

Source of the limits and their texts: redis 7.0 (processMultibulkBuffer, processInlineBuffer).
"""

from __future__ import annotations

from collections.abc import Iterable

from protocol import wire
from protocol.encoder import Encoder
from protocol.inline import UnbalancedQuotes, split_words
from protocol.long_word import LongWord

# These defend the server against any client, whatever it sends.
MAX_ARGS = 2**31 - 1  # words of a command, as redis; more could not be meant
MAX_BULK = 512 * 1024 * 1024  # bytes of a word, for they will lie in one piece: proto-max-bulk-len
MAX_LINE = 64 * 1024  # bytes before a line's end, which each new byte makes us search for again
MAX_BUFFERED = 1024 * 1024 * 1024  # bytes held of unfinished commands: client-query-buffer-limit
# These defend it against strangers, who need no more than AUTH and HELLO.
MAX_ARGS_UNAUTHENTICATED = 10
MAX_BULK_UNAUTHENTICATED = 16 * 1024
MAX_BUFFERED_UNAUTHENTICATED = 1024 * 1024

WORD_COST = 48  # bytes that a short word of an unfinished command takes besides its text
LONG_WORD = 32 * 1024  # bytes; from here on a system call costs less than the copy it saves
FIRST_WORDS = 512  # places for names of commands, a power of 2
LONGEST_FIRST_WORD = 16  # bytes; no name of a command is longer
LEAST_WORD = 6  # bytes of a word on the wire: $0, CRLF, CRLF
FEW_WORDS = 16  # in a command that look_ahead() looks past

EMPTY_TAIL = bytearray(b"x").__sizeof__() - 1  # bytes of a bytearray besides its memory
NUL, CR, LF, STAR, DOLLAR = b"\0\r\n*$"
TOO_BIG_INLINE = "too big inline request"
NO_WORDS: list[bytes] = []

# A small cache of command names, indexed by their first and last bytes: the same few come all the
# time, and a cached object has its hash already. A hostile client can only evict others' names.
_first_words = [b""] * FIRST_WORDS


class ProtocolError(Exception):
    """The peer broke the protocol. Answer it with the text, then hang up."""


class RequestParser:
    """Cuts a byte stream into commands.

    Feed it the bytes from the socket; take commands until it returns None. Whatever the bytes are,
    only ProtocolError is raised; after it, no more commands come out. How the stream is cut into
    pieces makes no difference. While it wants_buffer(), the next bytes should be received into
    get_buffer(), followed by buffer_updated(); but they may be fed, too.

    *max_bulk* and *max_buffered* (bytes) may be set at any time. While *authenticated* is False,
    the stricter limits hold.
    """

    __slots__ = (
        "_ahead",
        "_ahead_at",
        "_ahead_place",
        "_argv",
        "_at",
        "_bulk",
        "_data",
        "_dead",
        "_held",
        "_last",
        "_long_word",
        "_missing",
        "_size",
        "_tail",
        "_tail_size",
        "authenticated",
        "max_buffered",
        "max_bulk",
        "taken",
    )

    def __init__(self) -> None:
        self.max_bulk = MAX_BULK
        self.max_buffered = MAX_BUFFERED
        self.authenticated = True
        self.taken = 0  # commands, until now
        self._data = b""
        self._size = 0  # of _data
        self._at = 0  # what lies before it in _data has been taken
        self._tail = bytearray()  # the bytes that came after _data
        self._tail_size = 0
        self._last: list[bytes] = NO_WORDS  # of the command before, from the same _data
        self._ahead: list[bytes] = NO_WORDS  # what look_ahead() has returned
        self._ahead_at = 0  # how many of them have been taken
        self._ahead_place = 1  # where each stands among the words of its command
        self._argv: list[bytes] = []  # the words so far of an unfinished command
        self._held = 0  # bytes that they take
        self._missing = 0  # how many words it still lacks
        self._bulk = -1  # the length of the word that comes next, once it is known
        self._long_word: LongWord | None = None  # that word, if it is long and not all there
        self._dead = False

    def feed(self, data: bytes) -> None:
        """Add bytes from the socket. Raises MemoryError."""
        if self._dead:
            return
        start = 0
        if self._long_word is not None:
            start = self._long_word.take(data, 0)
        if self._at >= self._size and not self._tail_size:
            self._keep(data, start)
        else:
            self._tail += data[start:]
            self._tail_size = len(self._tail)

    def wants_buffer(self) -> bool:
        """Whether a long word has begun to come, and is not all there."""
        return self._long_word is not None and not self._long_word.is_whole()

    def get_buffer(self) -> memoryview:
        """Where to receive the next bytes, while it wants a buffer. Raises MemoryError."""
        assert self._long_word is not None
        return self._long_word.get_buffer()

    def buffer_updated(self, size: int) -> None:
        """*size* bytes have come into the buffer that was asked for last."""
        if self._long_word is not None:
            self._long_word.buffer_updated(size)

    def has_more(self) -> bool:
        """Whether there is anything that take() has not read yet."""
        return self._at < self._size or self._tail_size > 0 or self._long_word is not None

    def let_go(self) -> None:
        """Forget what has been taken, which must be all."""
        self._keep(b"", 0)
        self._ahead = NO_WORDS

    def take(self) -> list[bytes] | None:
        """The next whole command, or None until more is fed. Raises ProtocolError."""
        if not self.has_more():
            self.let_go()
            return None
        if self._is_plain():
            argv = self._take_plain()
            if argv is not None:
                self.taken += 1
                return argv
        argv = self._take_any()
        if argv is not None:
            self.taken += 1
        return argv

    def buffered(self) -> int:
        """How many bytes are held that have not been taken yet."""
        held = self._size - self._at + self._tail_size + self._held
        return held if self._long_word is None else held + self._long_word.filled

    def kept(self) -> int:
        """How many bytes are held as they came: taken commands too, until the last is taken."""
        kept = self._size + self._tail_size
        return kept if self._long_word is None else kept + self._long_word.filled

    def room(self) -> int:
        """How many bytes of memory are spare beyond these."""
        room = max(0, self._tail.__sizeof__() - EMPTY_TAIL - self._tail_size)
        return room if self._long_word is None else room + self._long_word.room()

    def words_size(self) -> int:
        """Bytes of the words so far of a command that is not all there yet."""
        return self._held - WORD_COST * len(self._argv)

    def unparsed(self) -> int:
        """How many bytes there are of commands of which take() has read nothing yet, at least."""
        return self._size - self._at

    def overfull(self, beside: int = 0) -> bool:
        """Whether the client buffers more than its limit: disconnect it.

        *beside*: bytes of its requests that are held elsewhere.
        """
        held = self.buffered() + beside
        if held > MAX_BUFFERED_UNAUTHENTICATED and not self.authenticated:
            return True
        return held > self.max_buffered

    # ------------------------------------------------------------------ the common case

    def _take_plain(self) -> list[bytes] | None:
        """A multibulk command that is all there and in its usual form; else None, changing nothing.

        Only speed is lost by None: the careful way below knows all that this does. A word that the
        command before had in the same place, as in a pipeline of XADD, is that very object. So is
        the list, if its last taker has dropped it.
        """
        data, at, last = self._data, self._at, self._last
        size = len(data)
        count = wire.read_plain_head(data, at, STAR)
        if count <= 0 or count * LEAST_WORD > size - at:
            return None
        at += wire.plain_head_size(count)
        argv = wire.room_for(last, count)
        ahead_place = self._ahead_place if self._ahead_at < len(self._ahead) else 0
        for index in range(count):
            length = wire.read_plain_head(data, at, DOLLAR)
            if length < 0 or length > self.max_bulk:
                return None
            at += wire.plain_head_size(length)
            if size - at < length + 2:
                return None
            if wire.has_word(last, index, data, at, length):
                if argv is not last:
                    argv[index] = last[index]
            elif index == 0:
                argv[index] = _first_word(data, at, length)
            elif index == ahead_place:
                argv[index] = self._word_ahead(data, at, length)
            else:
                argv[index] = wire.cut_bytes(data, at, at + length)
            at += length + 2
        self._at = at
        self._last = argv if at < size else NO_WORDS
        return argv

    def _word_ahead(self, data: bytes, at: int, length: int) -> bytes:
        """The word that stands there: the object that look_ahead() has made of it, or a new one."""
        word = self._ahead[self._ahead_at]
        self._ahead_at += 1
        if wire.is_there(data, at, length, word):
            return word
        return wire.cut_bytes(data, at, at + length)

    # ------------------------------------------------------------------ many of a kind

    def next_name(self) -> bytes:
        """The first word of the next command; empty if that is incomplete or unusual."""
        data, at = self._data, self._at
        count = wire.read_plain_head(data, at, STAR) if self._is_plain() else 0
        if count < 1:
            return b""
        at += wire.plain_head_size(count)
        length = wire.read_plain_head(data, at, DOLLAR)
        if self._end_of_words(at, 1) < 0:
            return b""
        return _first_word(data, at + wire.plain_head_size(length), length)

    def look_ahead(self, most: int, place: int) -> list[bytes]:
        """The words at *place*, 1 or more, of the next *most* commands, if there are so many.

        That is where their keys stand, usually. In a row of the same word it comes once, and not at
        all if the command before had it. take() will use these very objects. A command that is
        incomplete, unusual or long ends it, and so does one that has no such word.
        """
        data, at = self._data, self._at
        last = self._last[place] if len(self._last) > place else b""
        words: list[bytes] = []
        for _ in range(most if self._is_plain() else 0):
            count = wire.read_plain_head(data, at, STAR)
            if count <= place:
                break
            at = self._end_of_words(at + wire.plain_head_size(count), place)
            if at < 0 or at == len(data):
                break
            length = wire.read_plain_head(data, at, DOLLAR)
            start = at + wire.plain_head_size(length)
            at = self._end_of_words(at, 1)
            if at < 0:
                break
            if not wire.is_there(data, start, length, last):
                last = wire.cut_bytes(data, start, start + length)
                words.append(last)
            if count > FEW_WORDS:
                break
            at = self._end_of_words(at, count - place - 1)
            if at < 0 or at == len(data):
                break
        self._ahead, self._ahead_at, self._ahead_place = words, 0, place
        return words

    def _is_plain(self) -> bool:
        """Whether take() looks for a command in its usual form first."""
        return self.authenticated and not self._missing

    def move_alike(self, argv: list[bytes], out: Encoder) -> int:
        """Move the next commands that are like *argv* to *out*, unparsed; return how many.

        They have as many words as *argv* and the same first word. A command that is incomplete or
        not in the usual form ends the run. O(their words).
        """
        if not self._is_plain():
            return 0
        head = b"*%d\r\n$%d\r\n%b\r\n" % (len(argv), len(argv[0]), argv[0])
        start, moved = self._at, 0
        while wire.starts_with(self._data, self._at, head):
            end = self._end_of_words(self._at + len(head), len(argv) - 1)
            if end < 0:
                break
            self._at = end
            moved += 1
        if moved:
            self.taken += moved
            out.raw(wire.cut_bytes(self._data, start, self._at))
        return moved

    def _end_of_words(self, at: int, count: int) -> int:
        """Where *count* words end that begin at *at*; -1 if they are unusual or not all there."""
        data, size = self._data, len(self._data)
        for _ in range(count):
            length = wire.read_plain_head(data, at, DOLLAR)
            if length < 0 or length > self.max_bulk:
                return -1
            at += wire.plain_head_size(length) + length + 2
            if at > size:
                return -1
        return at

    # ------------------------------------------------------------------ step by step

    def _take_any(self) -> list[bytes] | None:
        while self._missing or self._have(1):
            if self._missing or self._data[self._at] == STAR:
                words = self._take_multibulk()
            else:
                words = self._take_inline()
            if words is None:
                break
            if words:
                return words
        self._last = NO_WORDS
        if self._at:  # do not keep bytes that have been taken only because of the rest
            self._keep(wire.cut_bytes(self._data, self._at, self._size), 0)
        return None

    def _take_multibulk(self) -> list[bytes] | None:
        """A command, none of words if its count says so; None if it is not whole."""
        if not self._missing and not self._take_count():
            return None
        while self._missing:
            if self._bulk < 0 and not self._take_length():
                return None
            word = self._take_word()
            if word is None:
                return None
            self._argv.append(word)
            self._held += self._bulk + WORD_COST
            self._bulk = -1
            self._missing -= 1
        argv = self._argv
        self._argv = []
        self._held = 0
        return argv

    def _take_word(self) -> bytes | None:
        """The word that comes next, whose length is known; None if it is not whole."""
        if self._long_word is not None:
            return self._take_long_word()
        if not self._have(self._bulk + 2):
            if (
                self._bulk >= LONG_WORD
            ):  # it gets memory of its own; all that is there is part of it
                self._have(self._size - self._at + self._tail_size)
                long_word = LongWord(self._bulk)
                self._at = long_word.take(self._data, self._at)
                self._long_word = long_word
            return None
        end = self._at + self._bulk
        word = wire.cut_bytes(self._data, self._at, end)
        self._at = end + 2  # what stands for CRLF is not looked at, as in redis
        return word

    def _take_long_word(self) -> bytes | None:
        assert self._long_word is not None
        if not self._long_word.is_whole():
            return None
        word = self._long_word.finish()
        self._long_word = None
        return word

    def _take_count(self) -> bool:
        """Read ``*<count>``. False if the line is not whole."""
        size = self._line_size(CR, 2, "too big mbulk count string")
        if size < 0:
            return False
        count = wire.read_number(self._data, self._at + 1, self._at + size)
        if count == wire.NOT_A_NUMBER or count > MAX_ARGS:
            raise self._broken("invalid multibulk length")
        if count > MAX_ARGS_UNAUTHENTICATED and not self.authenticated:
            raise self._broken("unauthenticated multibulk length")
        self._missing = max(count, 0)  # none or fewer: no command, and no answer
        self._at += size + 2
        return True

    def _take_length(self) -> bool:
        """Read ``$<length>``. False if the line is not whole."""
        size = self._line_size(CR, 2, "too big bulk count string")
        if size < 0:
            return False
        if self._data[self._at] != DOLLAR:
            got = wire.cut_bytes(self._data, self._at, self._at + 1)
            raise self._broken(f"expected '$', got '{_shown(got)}'")
        length = wire.read_number(self._data, self._at + 1, self._at + size)
        if length < 0 or length > self.max_bulk:
            raise self._broken("invalid bulk length")
        if length > MAX_BULK_UNAUTHENTICATED and not self.authenticated:
            raise self._broken("unauthenticated bulk length")
        self._bulk = length
        self._at += size + 2
        return True

    def _take_inline(self) -> list[bytes] | None:
        """The words of a line, none for an empty one; None if it is not whole.

        As in redis, no line end is found after a NUL: what speaks another protocol gets no answer
        but the end, when it has sent more than a line may have.
        """
        size = self._line_size(LF, 1, TOO_BIG_INLINE)
        if size < 0:
            return None
        if wire.find(self._data, NUL, self._at, self._at + size) >= 0:
            if self._have(MAX_LINE + 1):
                raise self._broken(TOO_BIG_INLINE)
            return None
        line = wire.cut_bytes(self._data, self._at, self._at + size)
        self._at += size + 1
        try:
            return split_words(line.removesuffix(b"\r"))
        except UnbalancedQuotes:
            raise self._broken("unbalanced quotes in request") from None

    # ------------------------------------------------------------------ bytes

    def _have(self, needed: int) -> bool:
        """Whether there are *needed* bytes at _at; the tail is joined to _data if that helps."""
        present = self._size - self._at
        if present >= needed:
            return True
        if present + self._tail_size < needed:
            return False
        self._keep(wire.join(self._data, self._at, self._tail), 0)
        self._tail = bytearray()
        self._tail_size = 0
        return True

    def _keep(self, data: bytes, at: int) -> None:
        """Let *data* be what has come, of which the bytes before *at* have been taken."""
        self._data = data
        self._size = len(data)
        self._at = at

    def _line_size(self, ending: int, ending_size: int, too_long: str) -> int:
        """The bytes at _at before *ending*; -1 if its *ending_size* bytes have not come."""
        while True:
            end = wire.find(self._data, ending, self._at, self._at + MAX_LINE + 1)
            if end >= 0:
                size = end - self._at
                return size if self._have(size + ending_size) else -1
            present = self._size - self._at
            if present > MAX_LINE:
                raise self._broken(too_long)
            if not self._have(present + 1):
                return -1

    def _broken(self, text: str) -> ProtocolError:
        self._dead = True
        self._keep(b"", 0)
        self._tail = bytearray()
        self._tail_size = 0
        self._last = NO_WORDS
        self._ahead = NO_WORDS
        self._argv = []
        self._held = 0
        self._missing = 0
        self._long_word = None
        return ProtocolError(text)


def know_names(names: Iterable[bytes]) -> None:
    """Let these objects come out when clients send them: a dict that has them finds them fast."""
    for name in names:
        if 2 <= len(name) <= LONGEST_FIRST_WORD:
            _first_words[_place_of(name, 0, len(name))] = name


def _first_word(data: bytes, at: int, length: int) -> bytes:
    """The word that stands there: the object of before if it has come lately, else a new one."""
    if not 2 <= length <= LONGEST_FIRST_WORD:
        return wire.cut_bytes(data, at, at + length)
    place = _place_of(data, at, length)
    word = _first_words[place]
    if not wire.is_there(data, at, length, word):
        word = _first_words[place] = wire.cut_bytes(data, at, at + length)
    return word


def _place_of(data: bytes, at: int, length: int) -> int:
    """The place in _first_words of a word of two bytes or more."""
    end = at + length
    ends = data[at] * 13 + data[at + 1] * 3 + data[end - 2] * 29 + data[end - 1] * 7
    return (ends + length * 17) & (FIRST_WORDS - 1)


def _shown(byte: bytes) -> str:
    """*byte* as part of an error's text, which is one line."""
    return byte.replace(b"\r", b" ").replace(b"\n", b" ").decode("utf-8", "surrogateescape")
