"""The stream of changes as a primary's replicas get it: RESP, encoded once for all of them.

    a command  --add_all-->  buffer  --send, at the end of the turn-->  history, each replica

SELECT is written before the first operation on another database, and MULTI and EXEC around
operations that belong together, with SELECT inside. The bytes of a turn are one object, which the
backlog and all replicas share.

On a replica nothing is encoded: what its primary has sent is passed on byte for byte, so that
offsets are the same everywhere (pass_on).
"""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.client.end_of_turn import EndOfTurn
from server.client.endpoint import Endpoint
from server.parts.propagation.propagation import Op, Propagation
from server.parts.replication.history import History
from server.parts.replication.replica import Replica

MULTI = b"*1\r\n$5\r\nMULTI\r\n"
EXEC = b"*1\r\n$4\r\nEXEC\r\n"
PING = b"*1\r\n$4\r\nPING\r\n"
GET_ACK = b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"


class Feed(Endpoint):
    """Takes the stream from *propagation*, and is sent like a connection when the turn ends.

    *turn* sees to that. While the server *follows* a primary, the stream of its own
    changes goes nowhere.
    """

    __slots__ = (
        "_db",
        "_out",
        "_propagation",
        "_was_asked",
        "follows",
        "history",
        "is_attached",
        "replicas",
        "turn",
    )

    def __init__(self, propagation: Propagation, history: History) -> None:
        super().__init__()
        self._propagation = propagation
        self.history = history
        self.replicas: list[Replica] = []  # all that have asked for the stream
        self.follows = False
        self.is_attached = False  # somebody may ask for the stream
        self.turn = EndOfTurn()
        self._out = Encoder(2)
        self._db = -1  # the database that a reader of the stream has selected by now
        self._was_asked = False  # replicas have been asked for their offset, after all changes
        self.wants_buffer = False

    def offset(self) -> int:
        """Bytes of the history, with what has not been sent yet."""
        return self.history.offset + self._out.size()

    # ------------------------------------------------------------------ what is added

    def add_all(self, ops: list[Op]) -> None:
        """Take *ops*, a transaction if it is more than one."""
        if self.follows:
            return
        is_first = not self._out.size()
        self._was_asked = False
        if len(ops) == 1:
            self._add(ops[0])
        else:
            self._out.raw(MULTI)
            for op in ops:
                self._add(op)
            self._out.raw(EXEC)
        self._added(is_first)

    def publish(self, db: int, words: list[bytes]) -> None:
        """Have replicas publish a message too, in its place among the changes."""
        if self.is_attached and not self.follows:
            self._propagation.publish(db, list(words))

    def ping(self) -> None:
        """Tell the replicas that the link is alive."""
        self._add_raw(PING)

    def ask_offsets(self) -> None:
        """Ask all replicas how far they are, once for what has been added so far."""
        if not self._was_asked and not self.follows:
            self._add_raw(GET_ACK)
            self._was_asked = True

    def _add_raw(self, command: bytes) -> None:
        """Add *command*, which is encoded already."""
        if not self.follows:
            is_first = not self._out.size()
            self._out.raw(command)
            self._added(is_first)

    def _added(self, is_first: bool) -> None:
        self._propagation.stream_offset = self.history.offset + self._out.size()
        if is_first:
            self.turn.send_later(self)

    def _add(self, op: Op) -> None:
        db, words = op
        out = self._out
        if db != self._db:
            self._db = db
            out.write([b"SELECT", b"%d" % db])
        out.array(len(words))
        for word in words:
            out.bulk(word)

    def select_anew(self) -> None:
        """Somebody begins to read here: write SELECT before the next operation."""
        self._db = -1

    # ------------------------------------------------------------------ what is sent

    def send(self) -> None:
        """Hand what was added to the history and the replicas."""
        if self._out.size():
            self._hand_on(self._out.take())

    def pass_on(self, data: bytes) -> None:
        """Hand on *data* of our own primary's stream, which has been run."""
        self._hand_on(data)
        self._propagation.stream_offset = self.history.offset

    def _hand_on(self, data: bytes) -> None:
        self.history.append(data)
        for replica in list(self.replicas):
            replica.take(data)

    def drop(self) -> None:
        """Forget what was added and not sent: the data are another history's now."""
        self._out.clear()
        self._db = -1

    def refuse(self, error: ErrorReply) -> None:
        """Do nothing: replicas are sent no errors. What they get beyond the disk is no harm."""

    def disconnect(self) -> None:
        """Do nothing: there is no socket here."""
