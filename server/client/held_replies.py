"""Replies of one client that wait until replicas have what they tell of: CLIENT ACKS.

A reply is *marked* when it is written, if it tells of something that is not confirmed yet: where in
the client's *out* it begins and ends, and how much of the history replicas must have.

    out        +OK  :1  $3 foo  +OK               what this turn has answered so far
    marks      [5, 9, 9100, 18, 23, 9150]       ":1" waits for 9100, the last "+OK" for 9150

When the turn ends, what stands before the first marked reply leaves. The rest is held as a
*portion*, and so is all that is answered while there are portions: replies stay in order, and what
the client is sent besides them leaves after all replies that came before it.

    portions   (bytes, marks, offset 9150, due)  (bytes, no marks, offset 0, due)   oldest first

What a turn has answered before CLIENT ACKS is sent again is *set apart*: it becomes portions at
once. Nothing of them leaves before the turn ends, since the AOF is to be written first; if that
fails they are gone, like the rest of the turn's replies.

The first portion leaves when its offset is confirmed; that is of its last reply, since replicas are
sent the changes of a turn as one piece. When its time is up, those of its marked replies that are
not confirmed by then become errors, all others stay as they are, and it leaves, too.

What is held counts as the client's output buffer, with what a portion and its marks take: so
client-output-buffer-limit and maxmemory-clients defend the server against a client that sends on
while no replica confirms anything.
"""

from __future__ import annotations

from collections import deque

PORTION_BYTES = 300  # of memory for a portion, besides its data and marks
MARK_BYTES = 96  # three numbers


class Level:
    """How safe a change has to be: on *wanted* replicas (0: a quorum), with *fsync* on their disks.

    The history up to *confirmed* is as safe as that. *users* clients ask for it.
    """

    __slots__ = ("confirmed", "fsync", "users", "wanted")

    def __init__(self, wanted: int, fsync: bool) -> None:
        self.wanted = wanted
        self.fsync = fsync
        self.confirmed = 0
        self.users = 0


class Portion:
    """What is held of one turn: *data*, whose *marks* wait for *offset* at most.

    Its *level* and *timeout_ms* are what the client asked for when the commands ran; its time is up
    at *due_ms*.
    """

    __slots__ = ("data", "due_ms", "level", "marks", "offset", "timeout_ms")

    def __init__(
        self,
        level: Level,
        data: bytes,
        marks: list[int],
        offset: int,
        now_ms: int,
        timeout_ms: int,
    ) -> None:
        self.level = level
        self.data = data
        self.marks = marks
        self.offset = offset
        self.timeout_ms = timeout_ms
        self.due_ms = now_ms + timeout_ms

    def is_confirmed(self) -> bool:
        return self.offset <= self.level.confirmed


class HeldReplies:
    """What is held of one client, and for which *level*. Times are monotonic ms.

    The reply that is written next tells of what the history has up to *needs*; 0: it waits for
    nothing. *seen* is where the history ended after the client's last write.

    With *stops* it has been switched off by the command that runs now, whose reply waits yet. The
    EXEC that runs now has commands that touch data if *reads*. *former* are the levels of what is
    held that was asked for otherwise.
    """

    __slots__ = (
        "_apart", "_last", "_marks", "former", "held_bytes", "is_on", "level", "needs", "portions",
        "reads", "seen", "stops", "timeout_ms",
    )  # fmt: skip

    def __init__(self, level: Level, timeout_ms: int, seen: int) -> None:
        self.level = level
        self.timeout_ms = timeout_ms
        self.seen = seen
        self.former: list[Level] = []
        self.is_on = True
        self.stops = False
        self.reads = True
        self.needs = 0
        self._marks: list[int] = []
        self._last = 0  # the greatest offset in the marks
        self._apart = 0  # of the last portions, that were set apart in this turn
        self.portions: deque[Portion] = deque()
        self.held_bytes = 0

    # ------------------------------------------------------------------ this turn's replies

    def mark(self, start: int, end: int) -> None:
        """The reply at *start* to *end* of the client's *out* tells of what *needs* says."""
        if end > start:
            marks = self._marks
            marks.append(start)
            marks.append(end)
            marks.append(self.needs)
            self._last = max(self._last, self.needs)
        self.needs = 0

    def forget_marks(self) -> None:
        """What *out* held has left."""
        if self._marks:
            self._marks = []
        self._last = 0

    def refuse(self) -> None:
        """What this turn has answered is replaced by an error."""
        self.forget_marks()
        while self._apart:
            self._apart -= 1
            portion: Portion = self.portions.pop()
            self.held_bytes -= _size_of(portion.data, portion.marks)

    def leave(self) -> None:
        """The turn's replies leave: the AOF has what they tell of."""
        self._apart = 0

    def first_waiting(self) -> int:
        """Where in *out* the first reply begins that is not confirmed; -1: all are."""
        confirmed = self.level.confirmed
        if self._last <= confirmed:
            return -1
        for at in range(0, len(self._marks), 3):
            if self._marks[at + 2] > confirmed:
                return self._marks[at]
        return -1

    def hold(self, data: bytes, start: int, now_ms: int) -> None:
        """Hold *data*, all that *out* had, from byte *start* on."""
        marks = self._marks
        if start:
            data = data[start:]
            marks = _moved(marks, start)
        self._add(data, marks, self._last, now_ms)
        self._marks = []
        self._last = 0

    def set_apart(self, data: bytes, start: int, now_ms: int) -> None:
        """Hold *data* during the turn; what stands before byte *start* waits for nothing."""
        if start:
            self._add(data[:start], [], 0, now_ms)
            self._apart += 1
        self.hold(data, start, now_ms)
        self._apart += 1

    def _add(self, data: bytes, marks: list[int], offset: int, now_ms: int) -> None:
        self.portions.append(Portion(self.level, data, marks, offset, now_ms, self.timeout_ms))
        self.held_bytes += _size_of(data, marks)

    # ------------------------------------------------------------------ what is held

    def is_empty(self) -> bool:
        """Whether nothing waits, be it of this turn or of earlier ones."""
        return not self.portions and not self._marks

    def is_confirmed(self) -> bool:
        """Whether the first portion may leave."""
        if not self.portions:
            return False
        first: Portion = self.portions[0]
        return first.is_confirmed()

    def take_confirmed(self) -> bytes | None:
        """The bytes of the first portion, if it may leave: it is held no more."""
        if not self.is_confirmed():
            return None
        portion: Portion = self.portions.popleft()
        self.held_bytes -= _size_of(portion.data, portion.marks)
        return portion.data

    def fail(self, before_ms: int, error: bytes) -> int:
        """What is due by *before_ms*, and not confirmed, becomes *error*, a line of RESP.

        Returns how many replies.
        """
        failed = 0
        for portion in self.portions:
            if portion.due_ms > before_ms:
                break
            if not portion.is_confirmed():
                failed += self._fail_portion(portion, error)
        return failed

    def _fail_portion(self, portion: Portion, error: bytes) -> int:
        pieces, marks, done, failed = [], portion.marks, 0, 0
        self.held_bytes -= _size_of(portion.data, marks)
        for at in range(0, len(marks), 3):
            if marks[at + 2] > portion.level.confirmed:
                pieces.append(portion.data[done : marks[at]])
                pieces.append(error)
                done = marks[at + 1]
                failed += 1
        pieces.append(portion.data[done:])
        portion.data, portion.marks, portion.offset = b"".join(pieces), [], 0
        self.held_bytes += len(portion.data) + PORTION_BYTES
        return failed

    def clear(self) -> None:
        """The client has gone: let go of all."""
        self.portions.clear()
        self.held_bytes = self._apart = 0
        self.forget_marks()


def _size_of(data: bytes, marks: list[int]) -> int:
    return len(data) + PORTION_BYTES + len(marks) // 3 * MARK_BYTES


def _moved(marks: list[int], start: int) -> list[int]:
    """*marks* of what is left when the first *start* bytes have left."""
    moved = []
    for at in range(0, len(marks), 3):
        if marks[at] >= start:
            moved += [marks[at] - start, marks[at + 1] - start, marks[at + 2]]
    return moved
