"""The steps of XADD with IDMP or IDMPAUTO: a producer adds each entry once.

What is logged has the words of the client, with the id that the entry has got. A repeated one is
logged as it came, with ``*``: so when it is replayed, an id says that the entry is new, and ``*``
that it is not, whatever this server knows of the producer, and whatever time it is.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.streams import stream_steps
from server.commands.streams.stream_args import Trim
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage import octets
from storage.stream import producers
from storage.stream.producers import Producers
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

TWICE = ErrorReply("ERR", "syntax error, IDMP/IDMPAUTO specified multiple times")
NO_PRODUCER_AUTO = ErrorReply("ERR", "syntax error, IDMPAUTO requires a non-empty producer ID")
NO_PRODUCER = ErrorReply("ERR", "syntax error, IDMP requires a non-empty producer ID")
NO_NAME = ErrorReply("ERR", "syntax error, IDMP requires a non-empty idempotent ID")
WITH_AN_ID = ErrorReply(
    "ERR", "syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"
)


class Once:
    """The options of XADD: ``[IDMPAUTO producer | IDMP producer name]``."""

    __slots__ = ("name", "producer", "words")

    def __init__(self) -> None:
        self.words: list[bytes] = []  # those taken; none if neither option is given
        self.producer = b""
        self.name = b""  # of the entry; empty for IDMPAUTO

    def take(self, args: Args) -> bool:
        """Take an option and its values. False if none is next. Raises ErrorReply."""
        at = args.at
        if args.at + 1 < len(args.argv) and args.skip(b"IDMPAUTO"):
            self._check_once()
            self.producer = args.take()
            if not self.producer:
                raise NO_PRODUCER_AUTO
        elif args.at + 2 < len(args.argv) and args.skip(b"IDMP"):
            self._check_once()
            self.producer = args.take()
            self.name = args.take()
            if not self.producer:
                raise NO_PRODUCER
            if not self.name:
                raise NO_NAME
        else:
            return False
        self.words = args.argv[at : args.at]
        return True

    def _check_once(self) -> None:
        if self.words:
            raise TWICE

    def check(self, call: Call, wanted: StreamId | None) -> None:
        """Raise ErrorReply if the client itself gives the entry an id."""
        if self.words and wanted is not None and not call.is_replayed():
            raise WITH_AN_ID


def is_next(args: Args) -> bool:
    """Whether the next word is one of these options, whole or not."""
    word = args.argv[args.at]
    return octets.same_letters(word, b"IDMP") or octets.same_letters(word, b"IDMPAUTO")


def add_once(
    call: Call,
    id_at: int,
    wanted: StreamId | None,
    trim: Trim | None,
    may_create: bool,
    once: Once,
    last: StreamId | None = None,
) -> bytes | None:
    """As stream_steps.add_entry; but if the producer has added the entry already, answer its id.

    Else it is added only if the stream ends with *last*, unless that is None.
    """
    argv, db = call.argv, call.db
    if len(argv) - id_at < 3 or (len(argv) - id_at) % 2 == 0:
        raise errors.wrong_arity("xadd")
    key = argv[1]
    stream = db.find(key, Stream)
    if stream is None and (not may_create or (wanted is None and call.is_replayed())):
        return None
    name = once.name or producers.content_of(argv, id_at + 1)
    if stream is not None and wanted is None:
        known = stream.producers
        earlier = None if known is None else known.find(once.producer, name, call.now_ms)
        if earlier is not None or call.is_replayed():
            known = producers_of(call, stream)
            known.duplicates += 1
            db.group_changed(key, None)
            return None if earlier is None else earlier.encode()
    if last is not None and not stream_steps.ends_with(call, id_at, last):
        return None
    text = stream_steps.add_entry(call, id_at, wanted, trim, may_create, once.words)
    stream = db.find(key, Stream)
    assert stream is not None
    known = producers_of(call, stream)
    known.record(once.producer, name, stream.last_id)
    return text


def producers_of(call: Call, stream: Stream) -> Producers:
    """The producers of *stream*, made if needed."""
    found = stream.producers
    if found is None:
        found = stream.producers = Producers(call.server.node_limits.stream.producers)
    return found
