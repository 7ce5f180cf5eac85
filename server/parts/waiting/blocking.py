"""Clients that wait for keys, and the order in which they are served.

A client that blocks is parked here with its command; there is no future and no task. A write that
makes a key ready is remembered if a client waits for that key. When the command that wrote is done,
the ready keys are served in the order in which they became ready (server/dispatch/waits.py):

    1. Of a key's waiters, those that are there now are looked at, oldest first: next_woken().
    2. A waiter whose kind of value the key holds has its command run again from the start.
    3. If that blocks again, the waiter goes to the tail of its queues and keeps its deadline:
       wait_on(). One that waits for more elements than there are keeps its place, too. Else it is
       answered and forgotten: forget(). If it speaks for others of the key (XREADGROUP, for those
       of its group), they go to the tail after it and are not run; but the active consumer of a
       group with ACTIVE is, whom the others do not know about.
    4. Serving may make further keys ready (BLMOVE pushes): they are served next.

Deadlines are alarms (alarms.py) that cron looks at. So are the moments at which waiters may claim
what other consumers were given (XREADGROUP CLAIM): then the keys of such a waiter are ready. A
delivery that comes meanwhile makes its key ready for those, too.

A command that has stopped before it had looked at everything (XREAD WHERE, after so many entries)
is run again in the next turn of the loop, and so on to the end: others are served in between. A
waiter that reads by a pattern looks for others, too, who want the same: when it is answered or
leaves, one of them goes on. What it sees that only another one may have is kept for that one, which
is run.

A waiter that reads by a pattern (XREADGROUP MATCH) stands in the queue of its Readers, which is
ready when any key that they match is; see pattern_reads.py.

Who speaks for others has their alarm, too: the moment at which there is something to claim. If a
waiter leaves before its alarm, it passes that on to another of the key, also one passed on to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.client.client import Client, Waiter, new_waiter
from server.observe.memory import Memory
from server.observe.part import Part
from server.parts.waiting.alarms import Alarms
from server.parts.waiting.pattern_reads import THE_QUEUE, PatternReads, Readers
from server.parts.waiting.wait_queue import Queue, Spot, forget_left, new_queue
from server.process.timers import NoTimers, Timers
from server.table.command import Block
from storage.keyspace.keyspace import Keyspace

LONGEST_MS = 2**62  # of a wait: so no deadline is beyond 64 bits
MOST_LEFT = 10_000  # queues without waiters; each has some 300 bytes
_MOST_LEFT = MOST_LEFT  # as a C number


class Blocking(Part):
    """The registry of waiters. The keys they wait for are those of *databases*.

    *memory* counts what is kept for those who read by patterns.
    """

    def __init__(self, databases: list[Keyspace], memory: Memory) -> None:
        self._databases = databases
        self.waiting = 0  # clients parked
        self.waiting_for_more = 0  # of these, those that wait for more elements of a list
        self._for_removal = 0  # and those that the removal of a key wakes
        self._queues: list[dict[bytes, Queue]] = []  # of each database, by key
        self._left: list[Queue] = []  # queues without waiters, kept until the next tick
        self.first_ready: Queue | None = None  # the ready keys, a chain in the order of service
        self._last_ready: Queue | None = None
        self._alarms = Alarms()
        self._served: Queue | None = None  # the ready key whose waiters are being served
        self._turn = 0  # the number of the service of a key; a waiter has that of its last one
        self._kind: type | None = None  # of the served key's value, when Queue.passed was set
        # The names (Block.speaks_for) for which a waiter was run again in this service and found
        # nothing. Its other waiters are not run, but for those that read as one of *_sought*.
        self._silent: set[bytes] = set()
        self._sought: set[bytes] = set()  # consumers for which no such waiter speaks: but_for
        self._run: Waiter | None = None  # the waiter whose command is being run again
        # Whether that command was given entries of the served key. Waiters after it need no new
        # service for that, since they are still to be run in this one.
        self._has_delivered = False
        # Whether waiters of the served key were run and wait again: what is delivered from now on
        # they see in a new service only.
        self._some_wait_on = False
        self._keyless: dict[Waiter, None] = {}  # waiters for no key: WAIT, WAITAOF
        # Waiters whose command is to be run again without a ready key: it has stopped before it
        # had looked at everything (Block.reads_on), or it looks in the place of another one.
        self._unfinished: dict[Waiter, None] = {}
        self._is_called = False  # whether a timer is set that runs the first of these
        self.looks = 0  # how many pending entries WHERE was compared with in this turn of the loop
        self.patterns = PatternReads(memory)
        self.timers: Timers = NoTimers()

    @property
    def queues(self) -> dict[tuple[int, bytes], Queue]:
        """All queues that have waiters, by database index and key. O(queues)."""
        return {
            (db, key): queue
            for db, by_key in enumerate(self._queues)
            for key, queue in by_key.items()
            if queue.first is not None
        }

    # ------------------------------------------------------------------ parking

    def park(self, client: Client, argv: list[bytes], block: Block, now_ms: int) -> None:
        """Let *client* wait with *argv*, at the tail of its keys' queues. O(keys)."""
        timeout_ms = min(block.timeout_ms, LONGEST_MS)
        due_ms = now_ms + timeout_ms if timeout_ms else 0
        waiter = new_waiter(client, block.argv or argv, block, due_ms)
        client.waiter = waiter
        client.argv_size = -1
        while len(self._queues) <= client.db_index:
            self._queues.append({})
        by_key = self._queues[client.db_index]
        for key in block.keys:
            queue = by_key.get(key)
            if queue is None:
                if len(self._left) >= _MOST_LEFT:
                    forget_left(self._left)
                queue = new_queue(self._databases[client.db_index], key, by_key, self._left)
            queue.append_waiter(waiter)
        if block.readers is not None:
            self._park_reader(waiter, block.readers)
        if waiter.standing is None:
            self._keyless[waiter] = None
        self.waiting += 1
        if block.for_more:
            self.waiting_for_more += 1
        if block.on_no_key:
            self._for_removal += 1
        if due_ms:
            self._set_alarm(due_ms, waiter, True)
        if block.wake_ms > 0:
            self._wake_after(waiter, block.wake_ms, now_ms)
        if block.reads_on:
            self._read_on_later(waiter)

    def _park_reader(self, waiter: Waiter, readers: Readers) -> None:
        """Put *waiter* at the tail of the queue of *readers*."""
        readers.waiters += 1
        queue = readers.queue
        if queue is None:
            queue = new_queue(readers.names.database, THE_QUEUE, readers.queues)
        queue.append_waiter(waiter)

    def _read_on_later(self, waiter: Waiter) -> None:
        """Have the command of *waiter* run again after this turn of the loop."""
        self._unfinished[waiter] = None
        self._call_unfinished()

    def rights_changed(self, waiter: Waiter) -> None:
        """The user of *waiter* may do other things: who reads by a pattern looks again."""
        if waiter.block.readers is not None:
            self._read_on_later(waiter)

    def take_unfinished(self) -> Waiter | None:
        """The first waiter with a command that has not looked at everything; None: there is none.

        The caller runs it now. The next one is run after this turn: each may look at much.
        """
        waiter = next(iter(self._unfinished), None)
        self._is_called = False
        if waiter is not None:
            del self._unfinished[waiter]
            self._call_unfinished()
        return waiter

    def _call_unfinished(self) -> None:
        """If a command has not looked at everything, have it run after this turn of the loop."""
        if self._unfinished and not self._is_called:
            self._is_called = True
            self.timers.read_on_soon()

    def hold_unfinished(self) -> None:
        """Something holds them back: look again at the next tick."""
        self._is_called = False

    def tick(self, now_ms: int) -> None:
        self._call_unfinished()
        forget_left(self._left)
        if self.patterns.are_used:
            self.patterns.tick(now_ms)

    def _set_alarm(self, at_ms: int, waiter: Waiter, ends: bool) -> None:
        if self._alarms.set(at_ms, waiter, ends):  # else the timer comes before
            self.timers.wait_until(at_ms)

    def _wake_after(self, waiter: Waiter, wake_ms: int, now_ms: int) -> None:
        """See to it that *waiter* is run again after *wake_ms*, unless it is anyway before."""
        self._wake_at(waiter, now_ms + min(wake_ms, LONGEST_MS))

    def _wake_at(self, waiter: Waiter, at_ms: int) -> None:
        if waiter.wake_at_ms == 0:
            waiter.wake_at_ms = at_ms
            self._set_alarm(at_ms, waiter, False)
        elif at_ms < waiter.wake_at_ms:
            self._alarms.given_up(1)  # the later one
            waiter.wake_at_ms = at_ms
            self._set_alarm(at_ms, waiter, False)

    def wait_on(self, waiter: Waiter, block: Block, now_ms: int) -> None:
        """*waiter*, whose command has run again, waits further: at the tail of its queues.

        If it waits for more elements, it stays where it is.
        """
        standing = waiter.standing
        while standing is not None:
            assert isinstance(standing, Spot)
            spot = standing
            spot.queue.count(waiter.block, -1)
            spot.queue.count(block, 1)
            standing = standing.at_next_key
        if block.readers is not None:
            self._reads_on_by_pattern(waiter, block)
        self._for_removal += block.on_no_key - waiter.block.on_no_key
        waiter.block = block  # what it gets when its time is up may have changed
        if block.argv is not None:
            waiter.argv = block.argv  # and so may what it has seen
            waiter.client.argv_size = -1
        if block.reads_on:
            self._read_on_later(waiter)
        if block.for_more:
            return
        if block.wake_ms > 0:
            self._wake_after(waiter, block.wake_ms, now_ms)
        if waiter is self._run and self._waits_on(block):
            return
        standing = waiter.standing
        while standing is not None:
            standing.go_to_tail()
            standing = standing.at_next_key

    def _reads_on_by_pattern(self, waiter: Waiter, block: Block) -> None:
        """*waiter* waits with *block* now. If it looked for others, these may have to look, too."""
        before = waiter.block
        before.readers.waiters -= 1
        block.readers.waiters += 1  # others, if the rights of its user have changed
        knows_all = block.speaks_for is not None and not block.readers.kept
        if before.reads_on and before.speaks_for is not None and not knows_all:
            self.kept(before.readers)

    def kept(self, readers: Readers) -> None:
        """One of *readers* has seen what is for others of them: these look, if they wait.

        If they are being served, they do so anyway.
        """
        queue = readers.queue
        if queue is not None and queue is not self._served:
            self._make_ready(queue)

    def _waits_on(self, block: Block) -> bool:
        """Note that the waiter that was run has to. True: all of its queue do, it may stay."""
        queue, name = self._served, block.speaks_for
        self._run = None
        if queue is None:
            return False
        if self._has_delivered:
            self._has_delivered = False
            self._make_ready(queue)
        is_first = not self._some_wait_on  # else it goes to the tail as those before it have
        self._some_wait_on = True
        if name is None:
            return False
        has_kept = block.readers is not None and len(block.readers.kept) > 0
        if block.but_for is not None:
            self._sought.add(block.but_for)
        elif queue.strangers == 0 and is_first and not has_kept:
            self._served = None
            return True
        self._silent.add(name)
        return False

    def forget(self, waiter: Waiter) -> None:
        """End the wait, whatever has ended it. O(keys)."""
        if waiter.standing is None:
            del self._keyless[waiter]
        if self._unfinished:
            self._unfinished.pop(waiter, None)
        if waiter is self._run:
            self._run, self._has_delivered = None, False
        standing, waiter.standing = waiter.standing, None  # a cycle would be collected late
        while standing is not None:
            standing.leave()
            if waiter.wake_at_ms:
                assert isinstance(standing, Spot)
                spot = standing
                self._pass_alarm_on(spot.queue, waiter.wake_at_ms)
            # It may be used again: then it must not keep the others.
            following, standing.at_next_key = standing.at_next_key, None
            standing = following
        if waiter.block.readers is not None:
            self._forget_reader(waiter.block)
        waiter.client.waiter = None
        self.waiting -= 1
        if waiter.block.for_more:
            self.waiting_for_more -= 1
        if waiter.block.on_no_key:
            self._for_removal -= 1
        if waiter.due_ms or waiter.wake_at_ms:
            self._alarms.given_up((waiter.due_ms != 0) + (waiter.wake_at_ms != 0))

    def _forget_reader(self, block: Block) -> None:
        """Who waited by a pattern with *block* was answered, or has left.

        It may have looked for all who want the same, so one of them looks if there is anything to
        look at. While they are being served, the next one does.
        """
        readers = block.readers
        readers.waiters -= 1
        queue = readers.queue
        if readers.waiters and readers.may_have_more() and queue is not self._served:
            for waiter in queue:
                if waiter.block.readers is readers:
                    self._read_on_later(waiter)
                    break

    def _pass_alarm_on(self, queue: Queue, at_ms: int) -> None:
        """Its waiters have relied on one that leaves. If they are being served, one will look."""
        if queue.first is not None and (queue is not self._served or self._silent):
            self._wake_at(queue.first.waiter, at_ms)

    def client_left(self, client: Client) -> None:
        if client.waiter is not None:
            self.forget(client.waiter)

    # ------------------------------------------------------------------ waking

    def key_ready(self, db_index: int, key: bytes) -> None:
        """*key* may have what clients wait for: remember it if there are any."""
        if self.waiting and db_index < len(self._queues):
            by_key = self._queues[db_index]
            queue = by_key.get(key)
            if queue is not None and queue.first is not None:
                self._make_ready(queue)
        if self.patterns.are_used:
            self.readable(db_index, key)

    def readable(self, db_index: int, key: bytes) -> None:
        """*key* may have something for those who read by a pattern, if it is a stream."""
        for readers in self.patterns.ready(db_index, key):
            if readers.queue is not None:
                self._make_ready(readers.queue)

    def list_longer(self, db_index: int, key: bytes) -> None:
        """Elements were added to the list at *key*, which was there before."""
        if self.waiting_for_more:
            self.key_ready(db_index, key)

    def key_removed(self, db_index: int, key: bytes) -> None:
        """*key* no longer exists: as key_ready, for the clients that this wakes."""
        if self._for_removal and db_index < len(self._queues):
            by_key = self._queues[db_index]
            queue = by_key.get(key)
            if queue is not None and queue.on_no_key:
                self._make_ready(queue)
        if self.patterns.are_used:
            self.patterns.removed(db_index, key)

    def delivered(self, db_index: int, key: bytes) -> None:
        """A consumer was given entries of *key*: some day others may claim them."""
        if self.waiting and db_index < len(self._queues):
            by_key = self._queues[db_index]
            queue = by_key.get(key)
            if queue is not None and queue.may_claim():
                self._delivered_to_one_of(queue)
        if self.patterns.are_used:
            for readers in self.patterns.ready(db_index, key):
                queue = readers.queue
                if queue is not None and queue.may_claim():
                    self._delivered_to_one_of(queue)

    def _delivered_to_one_of(self, queue: Queue) -> None:
        """Have the waiters of *queue* look again: one of them may claim what was delivered.

        If it is being served and none has looked in vain, those that are left will look anyway.
        """
        if queue is self._served and self._run is not None and not self._some_wait_on:
            self._has_delivered = True
        else:
            self._make_ready(queue)

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
            for queue in self.patterns.emptied(db.index):
                self._make_ready(queue)

    def next_woken(self) -> Waiter | None:
        """The next waiter to serve of those whose keys are ready; None: all are served.

        Of a key that is the oldest that its value wakes and that has not had its turn yet: O(1),
        but O(waiters for values of another kind) at first, and when the key has another kind. The
        numbers are those of the steps at the top of this module.
        """
        while True:
            queue = self._served
            if queue is None:  # 4: the key that has been ready for longest
                queue = self.first_ready
                if queue is None:
                    self._run = None
                    return None
                self._served = queue
                self.first_ready, queue.next_ready = queue.next_ready, None
                if self.first_ready is None:
                    self._last_ready = None
                queue.is_ready = False
                queue.passed = None
                self._turn += 1
                self._some_wait_on = False
                if self._silent:
                    self._silent = set()
                    self._sought = set()
            spot = queue.first  # 1: the oldest waiter, or the first after those that were passed
            if spot is not None:
                value = queue.database.peek(queue.key)
                kind = None if value is None else type(value)
                if kind is None and not queue.on_no_key:
                    spot = None
                elif queue.passed is not None and kind is self._kind:
                    spot = queue.passed.after
            while spot is not None:
                waiter = spot.waiter
                if waiter.turn == self._turn:
                    if not waiter.block.for_more:
                        break  # 3: it is at the tail, and those after it have had their turn too
                elif waiter.block.kind is kind or waiter.block.on_no_key:
                    waiter.turn = self._turn
                    if not self._silent or self._may_find(waiter.block):
                        if spot.before is not None:
                            queue.passed, self._kind = spot.before, kind
                        self._run = waiter  # 2
                        return waiter
                    # 3: another one has spoken for it
                    following = spot.after
                    spot.go_to_tail()
                    spot = following
                    continue
                spot = spot.after
            self._served = None

    def _may_find(self, block: Block) -> bool:
        """Whether nobody in this service has spoken for who waits with *block*."""
        if block.speaks_for not in self._silent:
            return True
        if block.readers is not None:
            return block.reads_as in block.readers.kept
        return block.reads_as in self._sought

    def keyless(self) -> list[Waiter]:
        """The waiters that wait for no key (WAIT, WAITAOF), in the order they came. O(waiters)."""
        return list(self._keyless)

    def blocks_at(self, db_index: int, key: bytes) -> list[Block]:
        """What clients wait with for *key*. O(their number)."""
        queue = self._queues[db_index].get(key) if db_index < len(self._queues) else None
        found = [] if queue is None else [waiter.block for waiter in queue]
        for readers in self.patterns.readers_of(db_index, key):
            found_queue = readers.queue
            if found_queue is not None and readers.waiters:
                spot = found_queue.first
                while spot is not None:
                    if spot.waiter.block.readers is readers:
                        found.append(spot.waiter.block)
                    spot = spot.after
        return found

    # ------------------------------------------------------------------ time

    @property
    def next_deadline_ms(self) -> int | None:
        """When the next wait ends at the earliest, in unix ms."""
        return self._alarms.next_ms()

    def next_over(self, now_ms: int) -> Waiter | None:
        """Forget and return the next waiter whose time is up by *now_ms*, first deadline first.

        If one comes before that may claim something now, it is returned, its keys are ready, and it
        is not forgotten. Ready are those, too, of all that may claim something before the next wait
        ends: many wait for the same moment, and each key is served once then.
        """
        woken: Waiter | None = None
        while (alarm := self._alarms.first(now_ms)) is not None:
            _, _, waiter, ends = alarm
            if ends and woken is not None:
                break
            self._alarms.take_first()
            if ends:
                waiter.due_ms = 0  # its alarm is gone already
                self.forget(waiter)
                return waiter
            self._wake(waiter)
            if woken is None:
                woken = waiter
        return woken

    def _wake(self, waiter: Waiter) -> None:
        """The alarm of *waiter* has rung: make its keys ready."""
        waiter.wake_at_ms = 0
        standing = waiter.standing
        while standing is not None:
            assert isinstance(standing, Spot)
            self._make_ready(standing.queue)
            standing = standing.at_next_key

    def waiting_keys(self) -> tuple[int, int]:
        """How many keys have waiters, and how many have one that their deletion wakes."""
        counts = [queue.on_no_key for queue in self.queues.values()]
        return len(counts), len(counts) - counts.count(0)
