"""Who waits for which key, and in which order they are served.

A client waits for keys, never on a future: it is parked here with its command. A write that makes
a key ready is remembered if anybody waits for that key. When the command that wrote is done,
dispatch serves the ready keys in the order in which they became ready:

    1. Of a key's waiters, those who are there now are looked at, oldest first.
    2. A waiter whose kind of value the key holds has its command run again from the start.
    3. If that blocks again, the waiter goes to the tail of its queues and keeps its deadline;
       else it is answered and forgotten.
    4. Serving may make further keys ready (BLMOVE pushes): they are served in the same call.

Deadlines lie in a heap that cron looks at; a waiter served early leaves its entry behind, and it is
dropped when it comes up, or all at once when such entries are the majority.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable
from itertools import count

from protocol.replies import Reply
from server.client import Client, Place, Waiter
from server.command import Block

MANY_STALE = 64  # below this many stale deadlines nobody minds


class Blocking:
    """The registry of waiters. *kind_at* tells what class of value a place holds."""

    def __init__(self, kind_at: Callable[[int, bytes], type | None]) -> None:
        self._kind_at = kind_at
        self.queues: dict[Place, OrderedDict[Waiter, None]] = {}
        self._on_no_key: dict[Place, int] = {}  # how many of a queue wake when the key is gone
        self.ready: dict[Place, None] = {}  # an ordered set; serve() empties it
        self._deadlines: list[tuple[int, int, Waiter]] = []
        self._serial = count()
        self._stale = 0
        self._turn = 0  # counts the services of a key
        self.keyless: dict[Waiter, None] = {}  # who waits for something that is no key
        self.waiting = 0  # clients parked
        self.on_deadline: Callable[[int], None] = _nobody_listens  # told when a wait will end

    # ------------------------------------------------------------------ parking

    def park(self, client: Client, argv: list[bytes], block: Block, now_ms: int) -> None:
        """Let *client* wait, behind those who wait already."""
        waiter = Waiter(client, block.argv or argv, block, now_ms)
        client.waiter = waiter
        self._enqueue(waiter)
        self.waiting += 1
        if waiter.due_ms:
            heapq.heappush(self._deadlines, (waiter.due_ms, next(self._serial), waiter))
            self.on_deadline(waiter.due_ms)

    def forget(self, waiter: Waiter) -> None:
        """The wait is over, however it ended. O(keys)."""
        self._dequeue(waiter)
        waiter.client.waiter = None
        self.waiting -= 1
        if waiter.due_ms:
            self._stale += 1
            if self._stale > MANY_STALE and self._stale * 2 > len(self._deadlines):
                self._sweep()

    def _enqueue(self, waiter: Waiter) -> None:
        if not waiter.places:
            self.keyless[waiter] = None
        for place in waiter.places:
            queue = self.queues.get(place)
            if queue is None:
                queue = self.queues[place] = OrderedDict()
            if waiter.block.on_no_key and waiter not in queue:
                self._on_no_key[place] = self._on_no_key.get(place, 0) + 1
            queue[waiter] = None

    def _dequeue(self, waiter: Waiter) -> None:
        if not waiter.places:
            del self.keyless[waiter]
        for place in waiter.places:
            queue = self.queues.get(place)
            if queue is None or queue.pop(waiter, waiter) is waiter:
                continue  # a key named twice
            if waiter.block.on_no_key:
                self._on_no_key[place] -= 1
            if not queue:
                del self.queues[place]
                self._on_no_key.pop(place, None)

    def _sweep(self) -> None:
        live = [entry for entry in self._deadlines if entry[2].client.waiter is entry[2]]
        heapq.heapify(live)
        self._deadlines = live
        self._stale = 0

    # ------------------------------------------------------------------ waking

    def key_ready(self, db_index: int, key: bytes) -> None:
        """The journal's word that *key* changed hands: remember it if somebody waits for it."""
        place = (db_index, key)
        if place in self.queues:
            self.ready[place] = None

    def databases_swapped(self, first: int, second: int) -> None:
        """What the keys of both databases hold is new to all who wait there."""
        for place in list(self.queues):
            if place[0] in (first, second):
                self.ready[place] = None

    def serve(self, run: Callable[[Waiter], Block | None]) -> None:
        """Serve all ready keys. *run* runs a waiter's command again and answers it.

        It returns None when the client was answered, or the Block when it has to go on waiting.
        """
        while self.ready:
            place = next(iter(self.ready))
            del self.ready[place]
            self._serve_place(place, run)

    def serve_keyless(self, run: Callable[[Waiter], Block | None]) -> None:
        """Let everybody who waits for no key look again, in the order they came."""
        for waiter in list(self.keyless):
            self._run_again(waiter, run)

    def _serve_place(self, place: Place, run: Callable[[Waiter], Block | None]) -> None:
        self._turn += 1
        while (waiter := self._next_of(place)) is not None:
            waiter.turn = self._turn
            self._run_again(waiter, run)

    def _next_of(self, place: Place) -> Waiter | None:
        """The oldest waiter of *place* that its value wakes and that has not had its turn yet.

        O(1), but for a queue whose oldest waiters want values of another kind.
        """
        queue = self.queues.get(place)
        if queue is None:
            return None
        kind = self._kind_at(place[0], place[1])
        if kind is None and not self._on_no_key.get(place):
            return None
        for waiter in queue:
            if waiter.turn == self._turn:
                return None  # it went to the tail, and those behind it have had their turn too
            if waiter.block.kind is kind or waiter.block.on_no_key:
                return waiter
        return None

    def _run_again(self, waiter: Waiter, run: Callable[[Waiter], Block | None]) -> None:
        block = run(waiter)
        if waiter.client.waiter is not waiter:
            return  # it was answered, or its client has gone
        if block is None:
            self.forget(waiter)
        else:
            waiter.block = block  # what it gets when its time is up may have changed
            for place in waiter.places:
                self.queues[place].move_to_end(waiter)

    # ------------------------------------------------------------------ time

    @property
    def next_deadline_ms(self) -> int | None:
        """When the next wait ends at the earliest, in unix ms."""
        return self._deadlines[0][0] if self._deadlines else None

    def expire(self, now_ms: int, answer: Callable[[Waiter, Reply], None]) -> None:
        """End every wait whose time is up, in the order of their deadlines."""
        while self._deadlines and self._deadlines[0][0] <= now_ms:
            _, _, waiter = heapq.heappop(self._deadlines)
            if waiter.client.waiter is not waiter:
                self._stale -= 1
                continue
            waiter.due_ms = 0  # its entry in the heap is gone already
            self.forget(waiter)
            answer(waiter, waiter.block.when_over)

    def waiting_keys(self) -> tuple[int, int]:
        """How many keys somebody waits for, and how many of those by who minds a deletion."""
        return len(self.queues), sum(1 for n in self._on_no_key.values() if n)


def _nobody_listens(_due_ms: int) -> None:
    """Stand in until cron listens."""
