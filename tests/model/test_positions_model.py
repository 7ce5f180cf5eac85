"""Where the entries of a stream are, compared with a plain list after each random operation."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import rdb_codes, rdb_stream
from storage.stream.deletions import ACKED, DELREF, ReferencedTrim
from storage.stream.positions import FEW, Positions
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, ZERO, StreamId
from tests.worth import rounds

FIELDS = [b"n", b"1"]
CONFIGS = st.sampled_from([1, 1, 3, 25]).map(lambda entries: StreamConfig(0, entries))
SHARES = st.floats(0, 1)


class PositionsMachine(RuleBasedStateMachine):
    """A stream of many nodes, and as its model the ids of its entries."""

    def __init__(self) -> None:
        super().__init__()
        self.stream = Stream()
        self.ids: list[StreamId] = []
        self.last = ZERO
        self.asked = False

    @rule(count=st.integers(1, 400), step=st.sampled_from([1, 2**50]), config=CONFIGS)
    def append(self, count: int, step: int, config: StreamConfig) -> None:
        for number in range(count):
            ms = self.last.ms + (step if number % 2 else 0)
            self.last = StreamId(ms, self.last.seq + 1 if ms == self.last.ms else 0)
            self.stream.append(self.last, FIELDS, 0, config)
            self.ids.append(self.last)

    @rule()
    def ask(self) -> None:
        self.stream.positions()
        self.asked = True

    @rule(start=SHARES, share=SHARES, keep=st.sampled_from([0, 0, 2, 5]))
    def delete(self, start: float, share: float, keep: int) -> None:
        """Delete a run of entries, or all of it but for one in *keep*."""
        first = int(len(self.ids) * start)
        run = self.ids[first : first + int(len(self.ids) * share)]
        gone = [entry_id for at, entry_id in enumerate(run) if not keep or at % keep]
        assert self.stream.delete_all(gone) == len(gone)
        self.left(set(gone))

    def left(self, gone: set[StreamId]) -> None:
        self.ids = [entry_id for entry_id in self.ids if entry_id not in gone]

    @rule(share=st.floats(0.5, 1), approximate=st.booleans(), limit=st.sampled_from([0, 0, 30]))
    def trim_by_length(self, share: float, approximate: bool, limit: int) -> None:
        maxlen = int(len(self.ids) * share)
        deleted = self.stream.trim_by_length(maxlen, approximate, limit if approximate else 0)
        del self.ids[:deleted]

    @rule(share=st.floats(0, 0.5), approximate=st.booleans())
    def trim_by_id(self, share: float, approximate: bool) -> None:
        at = int(len(self.ids) * share)
        minid = self.ids[at] if self.ids else MAX
        deleted = self.stream.trim_by_id(minid, approximate)
        del self.ids[:deleted]

    @rule(share=st.floats(0.5, 1), policy=st.sampled_from([DELREF, ACKED]))
    def trim_by_reference(self, share: float, policy: int) -> None:
        maxlen = int(len(self.ids) * share)
        deleted = ReferencedTrim(self.stream, policy, maxlen, MAX, 0).run()
        assert deleted == len(self.ids) - maxlen
        del self.ids[:deleted]

    @rule()
    def trim_to_nothing(self) -> None:
        self.stream.trim_by_length(0)
        self.ids = []

    @rule(most=st.integers(1, 50))
    def compact(self, most: int) -> None:
        self.stream.compact(most)

    @rule(gap=st.sampled_from([1, 2**40]))
    def set_id(self, gap: int) -> None:
        self.last = StreamId(self.last.ms + gap, 0)
        self.stream.set_id(self.last)

    @rule()
    def continue_with_a_copy(self) -> None:
        self.stream = self.stream.copy()
        self.asked = False

    @rule()
    def load_an_rdb(self) -> None:
        writer = RdbWriter()
        for _ in rdb_stream.write_stream(writer, self.stream):
            pass
        self.stream = rdb_stream.read(RdbReader(writer.take()), rdb_codes.STREAM_3)
        self.asked = False

    # ------------------------------------------------------------------ invariants

    @precondition(lambda self: self.asked)
    @invariant()
    def answers_agree(self) -> None:
        stream, ids = self.stream, self.ids
        positions = stream.positions()
        assert positions.before(ZERO) == 0
        assert positions.before(MAX) == len(ids)
        for at in {*range(0, len(ids), 1 + len(ids) // 40), len(ids) - 1} - {-1}:
            entry_id, following = ids[at], ids[min(at + 1, len(ids) - 1)]
            assert positions.before(entry_id) == at
            assert positions.before(entry_id.next()) == at + 1
            assert positions.neighbours(at) == (entry_id, following)
            half = ids[at // 2]
            assert stream.count(half, entry_id) == at - at // 2 + 1
            assert stream.count(entry_id, MAX) == len(ids) - at
        assert positions.neighbours(len(ids)) is None
        assert positions.neighbours(-1) is None

    @precondition(lambda self: self.asked)
    @invariant()
    def it_is_what_a_new_one_would_be(self) -> None:
        """A kept index answers as a new one, and has not many more blocks than there are nodes."""
        positions, made = self.stream.positions(), Positions(self.stream.rax)
        assert made.blocks <= positions.blocks <= FEW + 1 + 2 * len(self.stream.rax)
        for entry_id in self.ids[:: 1 + len(self.ids) // 40]:
            assert made.before(entry_id) == positions.before(entry_id)


PositionsMachine.TestCase.settings = settings(
    max_examples=rounds(60), stateful_step_count=30, deadline=None
)
TestPositions = PositionsMachine.TestCase
