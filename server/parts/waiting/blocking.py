"""Clients that wait for keys, and the order in which they are served.

A client that blocks is parked here with its command; there is no future and no task. A write that
makes a key ready is remembered if a client waits for that key. When the command that wrote is done,
the dispatcher serves the ready keys in the order in which they became ready:

    1. Of a key's waiters, those that are there now are looked at, oldest first.
    2. A waiter whose kind of value the key holds has its command run again from the start.
    3. If that blocks again, the waiter goes to the tail of its queues and keeps its deadline;
       else it is answered and forgotten.
    4. Serving may make further keys ready (BLMOVE pushes): they are served in the same call.

Deadlines lie in a heap that cron looks at; a waiter served early leaves its entry there, and it is
dropped when it comes up, or all at once when such entries are the majority.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count

from protocol.replies import Reply
from server.client.client import Client, Waiter, new_waiter
from server.observe.part import Part
from server.parts.scripting.script_run import Caller
from server.parts.waiting.wait_queue import Queue, new_queue
from server.process.timers import NoTimers, Timers
from server.table.command import Block
from storage.keyspace.keyspace import Keyspace

MANY_STALE = 64  # below this many stale deadlines nobody minds
LONGEST_MS = 2**62  # of a wait: so no deadline is beyond 64 bits


class Runner(Caller):
    """Runs the commands of waiters: the dispatcher.

    It is what scripts need, too, because a compiled class has one base.
    """

    __slots__ = ()

    def run_again(self, waiter: Waiter) -> Block | None:
        """Run the command of *waiter* from the start.

        Returns None when the client was answered, or the Block when it has to wait on.
        """
        raise NotImplementedError

    def serve_ready(self) -> None:
        """Serve the clients whose keys have become ready, unless something holds them."""
        raise NotImplementedError


class Blocking(Part):
    """The registry of waiters. The keys they wait for are those of *databases*."""

    def __init__(self, databases: list[Keyspace]) -> None:
        self._databases = databases
        self.waiting = 0  # clients parked
        self._queues: list[dict[bytes, Queue]] = []  # of each database, by key
        self.first_ready: Queue | None = None  # the ready keys, a chain in the order of service
        self._last_ready: Queue | None = None
        self._deadlines: list[tuple[int, int, Waiter]] = []
        self._serial = count()
        self._stale = 0
        self._turn = 0  # counts the services of a key
        self._keyless: dict[Waiter, None] = {}  # those that wait for no key: WAIT, WAITAOF
        self.timers: Timers = NoTimers()

    @property
    def queues(self) -> dict[tuple[int, bytes], Queue]:
        """All queues, by database index and key. O(queues)."""
        return {(db, key): q for db, by_key in enumerate(self._queues) for key, q in by_key.items()}

    # ------------------------------------------------------------------ parking

    def park(self, client: Client, argv: list[bytes], block: Block, now_ms: int) -> None:
        """Let *client* wait with *argv*, at the tail of its keys' queues. O(keys)."""
        timeout_ms = min(block.timeout_ms, LONGEST_MS)
        due_ms = now_ms + timeout_ms if timeout_ms else 0
        waiter = new_waiter(client, block.argv or argv, block, due_ms)
        client.waiter = waiter
        self._enqueue(waiter, client.db_index)
        self.waiting += 1
        if due_ms:
            heapq.heappush(self._deadlines, (due_ms, next(self._serial), waiter))
            self.timers.wait_until(due_ms)

    def forget(self, waiter: Waiter) -> None:
        """End the wait, whatever has ended it. O(keys)."""
        self._dequeue(waiter)
        waiter.client.waiter = None
        self.waiting -= 1
        if waiter.due_ms:
            self._stale += 1
            if self._stale > MANY_STALE and self._stale * 2 > len(self._deadlines):
                self._sweep()

    def client_left(self, client: Client) -> None:
        if client.waiter is not None:
            self.forget(client.waiter)

    def _enqueue(self, waiter: Waiter, db_index: int) -> None:
        for key in waiter.block.keys:
            self._queue_at(db_index, key).add(waiter)
        if waiter.standing is None:
            self._keyless[waiter] = None

    def _queue_at(self, db_index: int, key: bytes) -> Queue:
        """The queue of that key, made if needed."""
        while len(self._queues) <= db_index:
            self._queues.append({})
        by_key = self._queues[db_index]
        queue = by_key.get(key)
        return new_queue(self._databases[db_index], key, by_key) if queue is None else queue

    def _dequeue(self, waiter: Waiter) -> None:
        if waiter.standing is None:
            del self._keyless[waiter]
        standing, waiter.standing = waiter.standing, None  # a cycle would be collected late
        while standing is not None:
            standing.leave()
            standing = standing.at_next_key

    def _sweep(self) -> None:
        live = [entry for entry in self._deadlines if entry[2].client.waiter is entry[2]]
        heapq.heapify(live)
        self._deadlines = live
        self._stale = 0

    # ------------------------------------------------------------------ waking

    def key_ready(self, db_index: int, key: bytes) -> None:
        """*key* may have what clients wait for: remember it if there are any."""
        if self.waiting:
            queue = self._queue_of(db_index, key)
            if queue is not None:
                self._make_ready(queue)

    def key_removed(self, db_index: int, key: bytes) -> None:
        """*key* no longer exists: as key_ready, for the clients that this wakes."""
        if self.waiting:
            queue = self._queue_of(db_index, key)
            if queue is not None and queue.on_no_key:
                self._make_ready(queue)

    def _queue_of(self, db_index: int, key: bytes) -> Queue | None:
        """The queue of the clients that wait for that key, if there are any."""
        if db_index >= len(self._queues):
            return None
        by_key = self._queues[db_index]
        return by_key.get(key)

    def _make_ready(self, queue: Queue) -> None:
        if queue.is_ready:
            return
        queue.is_ready = True
        if self._last_ready is None:
            self.first_ready = queue
        else:
            self._last_ready.next_ready = queue
        self._last_ready = queue

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        """What the keys of *databases* hold is new to all clients that wait there."""
        for db in databases:
            if db.index < len(self._queues):
                for queue in self._queues[db.index].values():
                    self._make_ready(queue)

    def serve(self, runner: Runner) -> None:
        """Serve all ready keys: *runner* runs the commands of their waiters."""
        while self.first_ready is not None:  # serving may make further keys ready
            queue = self._take_ready()
            self._serve_queue(queue, runner)

    def _take_ready(self) -> Queue:
        queue = self.first_ready
        assert queue is not None
        self.first_ready, queue.next_ready = queue.next_ready, None
        if self.first_ready is None:
            self._last_ready = None
        queue.is_ready = False
        return queue

    def serve_keyless(self, runner: Runner) -> None:
        """Run the commands again that wait for no key (WAIT, WAITAOF), in the order they came."""
        for waiter in list(self._keyless):
            self._run_again(waiter, runner)

    def serve_replicated(self, runner: Runner, offset: int) -> None:
        """Run again the keyless commands whose client's writes a replica at *offset* has."""
        for waiter in list(self._keyless):
            if waiter.client.replicated_offset <= offset:
                self._run_again(waiter, runner)

    def _serve_queue(self, queue: Queue, runner: Runner) -> None:
        self._turn += 1
        while (waiter := self._next_of(queue)) is not None:
            waiter.turn = self._turn
            self._run_again(waiter, runner)

    def _next_of(self, queue: Queue) -> Waiter | None:
        """The oldest waiter of *queue* that its value wakes and that has not had its turn yet.

        O(1), but for a queue whose oldest waiters want values of another kind.
        """
        spot = queue.first
        if spot is None:
            return None
        kind = queue.database.kind_at(queue.key)
        if kind is None and not queue.on_no_key:
            return None
        while spot is not None:
            waiter = spot.waiter
            if waiter.turn == self._turn:
                return None  # it went to the tail, and those behind it have had their turn too
            if waiter.block.kind is kind or waiter.block.on_no_key:
                return waiter
            spot = spot.behind
        return None

    def _run_again(self, waiter: Waiter, runner: Runner) -> None:
        block = runner.run_again(waiter)
        if waiter.client.waiter is not waiter:
            return  # it was answered, or its client has gone
        if block is None:
            self.forget(waiter)
        else:
            waiter.block = block  # what it gets when its time is up may have changed
            standing = waiter.standing
            while standing is not None:
                standing.go_to_tail()
                standing = standing.at_next_key

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
        """How many keys have waiters, and how many have one that their deletion wakes."""
        counts = [queue.on_no_key for queue in self.queues.values()]
        return len(counts), len(counts) - counts.count(0)
