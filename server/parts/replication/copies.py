"""Full copies: one forked child writes a snapshot for all replicas that wait for one.

    diskless    child --pipe--> server --> each socket     $EOF:<mark> snapshot <mark>
    by file     child --> temp-<pid>.rdb --> each socket   $<length> snapshot

What changes after the fork is held for each of them until it has the copy. A replica that cannot
read the first form gets the second.

Without a file, all receive at the same time, as fast as the slowest. So the fork waits for
repl-diskless-sync-delay seconds: others may come.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from server.config.parameters import Config
from server.parts.persistence.child import ChildBusy, ChildSlot, Outcome, Purpose
from server.parts.persistence.child_job import Report
from server.parts.persistence.files import Files
from server.parts.persistence.key_delay import slowed
from server.parts.persistence.snapshot_file import snapshot_of
from server.parts.persistence.stored_functions import FunctionStore
from server.parts.persistence.stored_history import HistoryKeeper
from server.parts.replication.feed import Feed
from server.parts.replication.file_copy import FileCopy, FileSending
from server.parts.replication.pipe_copy import PipeCopy
from server.parts.replication.replica import Replica, Stage
from server.parts.replication.ties import Pipes
from storage.keyspace.keyspace import Keyspace

RETRY_AFTER_MS = 1000  # a fork that failed is tried again

_log = logging.getLogger("penstock")


class Copies:
    """Makes copies for the replicas of *feed*, which come through *pipes*.

    *history* knows where the data are: a copy of a replica's data says which database is
    selected in the stream, which the replica passes on as it comes. Times are monotonic ms.
    """

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        children: ChildSlot,
        functions: FunctionStore,
        feed: Feed,
        pipes: Pipes,
        history: HistoryKeeper,
        files: Files,
    ) -> None:
        self._config = config
        self._databases = databases
        self._children = children
        self._functions = functions
        self._feed = feed
        self._pipes = pipes
        self._history = history
        self._files = files
        self._copy: PipeCopy | FileCopy | None = None
        self._sending: list[FileSending] = []
        self._since_ms = 0  # when the first one has begun to wait
        self._not_before_ms = 0

    @property
    def waiting(self) -> list[Replica]:
        return [replica for replica in self._feed.replicas if replica.stage is Stage.WAITING]

    def request(self, replica: Replica, now_ms: int) -> None:
        """*replica* needs a copy."""
        if not self.waiting:
            self._since_ms = now_ms
        replica.stage = Stage.WAITING
        self.tick(now_ms)

    def left(self, replica: Replica) -> None:
        """Its connection is closed. A child that works for nobody is ended."""
        self._sending = [one for one in self._sending if not one.is_to(replica)]
        if self._copy is not None and self._copy.left(replica):
            _log.info("Nobody waits for the copy any more: its child is ended")
            self._children.kill()

    def tick(self, now_ms: int) -> None:
        """Begin a copy if one is due. Called by cron, between commands."""
        waiting = self.waiting
        if not waiting or self._children.child is not None or now_ms < self._not_before_ms:
            return
        version = waiting[0].reads(self._config)  # one copy is for those that read the same one
        waiting = [replica for replica in waiting if replica.reads(self._config) == version]
        needs_file = not self._config.repl_diskless_sync
        if needs_file or not all(replica.knows_eof for replica in waiting):
            by_file = [replica for replica in waiting if needs_file or not replica.knows_eof]
            self._begin(by_file, self._by_file(by_file), now_ms)
            return
        enough = self._config.repl_diskless_sync_max_replicas
        delay_ms = self._config.repl_diskless_sync_delay * 1000
        if (enough and len(waiting) >= enough) or now_ms - self._since_ms >= delay_ms:
            copy = PipeCopy(waiting, self._pipes, lambda: self._children.poll(wait=True))
            self._begin(waiting, copy, now_ms)

    def close(self) -> None:
        """The server ends."""
        if self._children.runs(Purpose.COPY):
            self._children.kill()

    # ------------------------------------------------------------------ the child

    def _begin(self, replicas: list[Replica], copy: PipeCopy | FileCopy, now_ms: int) -> None:
        self._feed.send()  # what is not sent yet is part of the copy
        only_functions = all(replica.wants_functions_only for replica in replicas)
        databases: Sequence[Keyspace] = () if only_functions else self._databases
        snapshot = snapshot_of(
            databases,
            self._config,
            int(time.time()),
            False,
            self._functions.library_sources,
            self._history.stored(),
            replicas[0].reads(self._config),
        )
        delay_us = self._config.rdb_key_save_delay

        def job(report: Report) -> None:
            copy.write_snapshot(snapshot, slowed(report, delay_us))

        total = sum(map(len, databases))
        try:
            self._children.start(Purpose.COPY, total, job, self._child_ended, copy.kept())
        except (OSError, ChildBusy) as error:
            copy.close()
            self._not_before_ms = now_ms + RETRY_AFTER_MS
            _log.warning("Can't save in background: fork: %s", error)
            return
        self._copy = copy
        self._feed.select_anew()
        offset = self._feed.history.offset
        for replica in replicas:
            replica.stage = Stage.COPYING
            replica.acked_ms = now_ms
            replica.begin(offset)
            if not replica.is_plain:
                replica.write(b"+FULLRESYNC %b %d\r\n" % (self._feed.history.id.encode(), offset))
        copy.begin()
        _log.info("Background copy for %d replicas started", len(replicas))

    def _child_ended(self, outcome: Outcome) -> None:
        copy, self._copy = self._copy, None
        if copy is None:
            return
        if not outcome.ok:
            _log.warning("The copy for replicas failed: %s", outcome.error)
        copy.child_ended(outcome)

    def _by_file(self, receivers: list[Replica]) -> FileCopy:
        return FileCopy(self._files, receivers, self._file_is_written)

    def _file_is_written(self, fd: int, size: int, receivers: list[Replica]) -> None:
        files = self._files
        new = [FileSending(files, files.duplicate(fd), size, replica) for replica in receivers]
        files.close(fd)
        self._sending += new
        for one in new:
            one.begin()
