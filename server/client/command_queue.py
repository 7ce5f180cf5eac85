"""The commands between MULTI and EXEC.

    commands    [SET, XADD, ... , XADD]                  what each is
    _packed     *3 $3 SET $1 k $1 v  *5 $4 XADD ...      the words of those in front, as requests
    _recent     [[XADD, s, *, a, 1], ...]                the words of the last ones, up to MANY

Most transactions are small. In one of thousands, lists of words would take six times the memory,
and the time that many small objects take: to make them cold, to look at them again and again for
cycles, and to give their pages back. A bulk load is one command over and over; its requests go into
_packed as they come.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.requests import RequestParser
from server.table.command import Command, Flags

MANY = 64
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
PLACE = 8  # bytes of a command in the list


class CommandQueue:
    """Commands that wait for EXEC. *flags* are those that any of them has, *shared_flags* all."""

    __slots__ = (
        "_counted", "_counted_bytes", "_packed", "_recent", "_taken", "_words", "commands",
        "flags", "shared_flags",
    )  # fmt: skip

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.flags = 0
        self.shared_flags = ~0
        self._recent: list[list[bytes]] = []
        self._packed: Encoder | None = None
        self._words: RequestParser | None = None  # of what was packed
        self._taken = 0  # of _recent
        self._counted = 0  # of _recent, whose words have so many bytes
        self._counted_bytes = 0

    def __len__(self) -> int:
        return len(self.commands)

    def size(self) -> int:
        """Bytes of all words, about. O(words that have come since it was asked for last)."""
        while self._counted < len(self._recent):
            for word in self._recent[self._counted]:
                self._counted_bytes += len(word)
            self._counted += 1
        packed = 0 if self._packed is None else len(self._packed)
        return packed + self._counted_bytes

    def memory(self) -> int:
        """Bytes of memory that the queue takes."""
        return self.size() + PLACE * len(self.commands)

    def append(self, command: Command, argv: list[bytes], flags: int) -> None:
        """Add a command with its words, and the *flags* of this call. O(their bytes)."""
        self.commands.append(command)
        self.flags |= flags
        self.shared_flags &= flags
        self._recent.append(argv)
        if len(self._recent) == MANY:
            self._pack()

    def take_alike(self, parser: RequestParser) -> int:
        """Take what *parser* has next of the command that was added last; how many those were.

        They go from one buffer to the other as they are. None, unless commands are packed and the
        last two are the same; and those are left that differ in their number of words. Scripts are
        looked at one by one, since each has flags of its own.
        """
        if self._packed is None or not self._recent:
            return 0
        command, argv = self.commands[-1], self._recent[-1]
        is_one_of_many = command is self.commands[-2] and command.stands_alone()
        if not is_one_of_many or command.flags & RUNS_SCRIPTS:
            return 0
        self._pack()
        count = parser.move_alike(argv, self._packed)
        self.commands += [command] * count
        return count

    def _pack(self) -> None:
        if self._packed is None:
            self._packed = Encoder(2)
        for argv in self._recent:
            self._packed.array(len(argv))
            for word in argv:
                self._packed.bulk(word)
        self._recent = []
        self._counted = self._counted_bytes = 0

    def next_words(self) -> list[bytes]:
        """The words of the first of *commands*, then of the second...; each can be taken once."""
        if self._packed is not None:
            self._words = RequestParser()
            self._words.max_bulk = len(self._packed)  # they have been let in once
            self._words.feed(self._packed.take())
            self._packed = None
        if self._words is not None:
            words = self._words.take()
            if words is not None:
                return words
            self._words = None
        self._taken += 1
        return self._recent[self._taken - 1]


NO_COMMANDS = CommandQueue()  # of a client outside of MULTI; nothing is added to it
