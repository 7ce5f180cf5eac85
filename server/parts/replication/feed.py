"""The stream of changes as a primary's replicas get it: RESP, encoded once for all of them.

    a command  --add_all-->  buffer  --send, at the end of the turn-->  history, each replica

SELECT is written before the first operation on another database, and MULTI and EXEC around
operations that belong together, with SELECT inside. The bytes of a turn are one object, which the
backlog and all replicas share.

A replica that is no Penstock gets fillers in place of what it does not know (own_words.py).

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
from server.parts.replication.own_words import OwnWords, is_own
from server.parts.replication.replica import Replica
from server.parts.replication.unconfirmed_keys import UnconfirmedKeys

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
        "_asks",
        "_db",
        "_is_probed",
        "_out",
        "_own",
        "_propagation",
        "_was_asked",
        "follows",
        "history",
        "is_attached",
        "keys",
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
        self._asks = False  # they are to be asked when the turn ends
        self._is_probed = False  # with something new
        self.keys: UnconfirmedKeys | None = None  # while somebody waits for confirmations
        self._own: OwnWords | None = None  # while somebody follows who does not know them
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
        if self.keys is not None:
            self.keys.note(ops, self.history.offset + self._out.size())

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

    def ask_in_turn(self) -> None:
        """Ask them when the turn ends, once for all that it has added."""
        if not self._asks:
            self._asks = True
            self.turn.send_later(self)

    def probe(self) -> int:
        """Ask them when the turn ends, even if nothing has been added since they were asked last.

        Returns an offset: who tells that it has that much has been here after this call. What was
        added before, it may have told of before, and that may have been long on its way.
        """
        self._is_probed = True
        self.ask_in_turn()
        return self.history.offset + self._out.size() + 1

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
        before = out.size()
        out.array(len(words))
        for word in words:
            out.bulk(word)
        if self._own is not None and is_own(words):
            self._note_own(before)

    def _note_own(self, before: int) -> None:
        """What was added to the *before* bytes of this turn is no word of another server."""
        assert self._own is not None
        history, out = self.history, self._out
        kept_from = history.offset if history.backlog is None else history.backlog.first
        first = history.offset + before + 1
        self._own.note(first, first + out.size() - before, kept_from)

    def spare(self, replica: Replica) -> None:
        """*replica* has joined. If it is another server, it is not sent what it does not know."""
        if self._own is None and not replica.is_penstock:
            self._own = OwnWords()

    def select_anew(self) -> None:
        """Somebody begins to read here: write SELECT before the next operation."""
        self._db = -1

    # ------------------------------------------------------------------ what is sent

    def send(self) -> None:
        """Hand what was added to the history and the replicas."""
        if self._asks:
            self._asks = False
            self._ask_those_online()
        if self._out.size():
            self._hand_on(self._out.take())

    def _ask_those_online(self) -> None:
        for replica in self.replicas:
            if replica.is_online:
                if self._is_probed:  # the answer to GETACK says what was there before GETACK
                    self._add_raw(PING)
                    self._was_asked = False
                self.ask_offsets()
                break
        self._is_probed = False

    def pass_on(self, data: bytes) -> None:
        """Hand on *data* of our own primary's stream, which has been run."""
        self._hand_on(data)
        self._propagation.stream_offset = self.history.offset

    def _hand_on(self, data: bytes) -> None:
        first = self.history.offset + 1
        self.history.append(data)
        spared = None
        for replica in list(self.replicas):
            if self._own is None or replica.is_penstock:
                replica.take(data)
                continue
            if spared is None:
                spared = self._own.without(data, first)
            replica.take(spared)

    def since(self, offset: int, replica: Replica) -> list[bytes]:
        """All from byte *offset* of the history on, as *replica* is sent it."""
        assert self.history.backlog is not None
        portions = list(self.history.backlog.since(offset))
        if self._own is None or replica.is_penstock:
            return portions
        return [self._own.without(b"".join(portions), offset)]

    def drop(self) -> None:
        """Forget what was added and not sent: the data are another history's now."""
        self._out.clear()
        self._db = -1
        if self._own is not None:
            self._own.clear()

    def refuse(self, error: ErrorReply) -> None:
        """Do nothing: replicas are sent no errors. What they get beyond the disk is no harm."""

    def disconnect(self) -> None:
        """Do nothing: there is no socket here."""
