"""Bugs that are planted in the servers of a world, to see that it notices them.

forgotten_fsync     an fsync is answered, and not done                           always
lost_piece          now and then a piece of the AOF is answered for, not written     everysec
lost_write          now and then a push or a SET is answered, and not done       always
forgotten_ack       XACK is answered by 1, and the entry stays pending           always
early_redelivery    an entry is anyone's after a third of VISIBILITY             always
torn_copy           a copy for replicas lacks the databases after the first      replicas
hasty_wait          WAIT says that all replicas have it, and asks none           failover
hasty_handover      FAILOVER goes to a replica that has not caught up            handover
hasty_save          now and then SAVE is answered, and not done                  snapshots
unread_sums         checksums of the AOF are not compared                        flips
hasty_quorum        replicas count that have not confirmed                       confirmed
endless_lease       a lease is never over                                        confirmed
forgotten_replica   nobody waits for a replica that has gone                     confirmed
unsent_ack          now and then replicas are not told of an XACK                confirmed_queue
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

from protocol.replies import OK
from server.commands.streams import stream_args
from server.parts.persistence import log_loader
from server.parts.persistence.log_reader import LogReader
from server.parts.persistence.snapshot_file import snapshot_of
from server.parts.replication import copies
from server.parts.replication.failover import WAITING, Failover
from server.parts.replication.quorum import Quorum
from server.table.command import TABLE
from storage.stream.stream import Stream
from tests.simulation.children import SwitchedFiles
from tests.simulation.scenarios import group

EVERY = 9  # call of a command goes wrong

Handler = Callable[[Any], Any]
Around = Callable[[Handler, Any], Any]  # is given the handler, and the call


@contextmanager
def _changed(words: list[bytes], around: Around) -> Iterator[None]:
    """The command *words* is run by *around*, which may call its handler."""
    command: Any = TABLE.called_by(words)
    handler = command.handler

    def changed(call: Any) -> Any:
        return around(handler, call)

    changed.__doc__ = handler.__doc__
    command.attach(changed)
    try:
        yield
    finally:
        command.attach(handler)


@contextmanager
def forgotten_fsync() -> Iterator[None]:
    with patch.object(SwitchedFiles, "sync_up_to", lambda *_: None):
        yield


@contextmanager
def lost_piece() -> Iterator[None]:
    write = SwitchedFiles.write
    seen = [0]

    def around(files: SwitchedFiles, fd: int, data: bytes | memoryview) -> int:
        seen[0] += data[:1] == b"*"
        if data[:1] == b"*" and seen[0] % EVERY == 0:
            return len(data)
        return write(files, fd, data)

    with patch.object(SwitchedFiles, "write", around):
        yield


@contextmanager
def lost_write() -> Iterator[None]:
    seen = [0]

    def around(handler: Handler, call: Any) -> Any:
        seen[0] += 1
        if seen[0] % EVERY == 0:
            call.argv[1] = b"elsewhere"
        return handler(call)

    with _changed([b"set", b"k", b"v"], around), _changed([b"rpush", b"k", b"v"], around):
        yield


@contextmanager
def forgotten_ack() -> Iterator[None]:
    seen = [0]

    def around(handler: Handler, call: Any) -> Any:
        seen[0] += 1
        return 1 if seen[0] % 3 == 0 else handler(call)

    with _changed([b"xack", b"k", b"g", b"1"], around):
        yield


@contextmanager
def early_redelivery() -> Iterator[None]:
    def around(handler: Handler, call: Any) -> Any:
        at = [word.upper() for word in call.argv].index(b"VISIBILITY") + 1
        call.argv[at] = b"%d" % (int(call.argv[at]) // 3)
        return handler(call)

    with _changed([b"xgroup", b"cfgset", b"k", b"g"], around):
        yield


@contextmanager
def torn_copy() -> Iterator[None]:
    def torn(databases: Any, *rest: Any) -> Any:
        return snapshot_of(databases[:1], *rest)

    with patch.object(copies, "snapshot_of", torn):
        yield


@contextmanager
def hasty_wait() -> Iterator[None]:
    def around(_handler: Handler, call: Any) -> Any:
        return int(call.argv[1])

    with _changed([b"wait", b"1", b"1"], around):
        yield


@contextmanager
def hasty_handover() -> Iterator[None]:
    def tick(failover: Failover, _now_ms: int) -> None:
        online = [replica for replica in failover._feed.replicas if replica.is_online]
        if failover.state is WAITING and online:
            failover._hand_over((online[0].host, online[0].port))

    with patch.object(Failover, "tick", tick):
        yield


@contextmanager
def hasty_save() -> Iterator[None]:
    with _changed([b"save"], lambda _handler, _call: OK):
        yield


@contextmanager
def unread_sums() -> Iterator[None]:
    with patch.object(log_loader, "LogReader", lambda data, at, _: LogReader(data, at, False)):
        yield


@contextmanager
def hasty_quorum() -> Iterator[None]:
    with patch.object(Quorum, "confirmed", lambda *_: 2**61):
        yield


@contextmanager
def endless_lease() -> Iterator[None]:
    with (
        patch.object(Quorum, "holds", lambda *_: True),
        patch.object(group, "FAULTS", ("all cut",)),  # what shows it
    ):
        yield


@contextmanager
def forgotten_replica() -> Iterator[None]:
    with (
        patch.object(Quorum, "left", lambda *_: None),
        patch.object(group, "FAULTS", ("cut",)),
    ):
        yield


@contextmanager
def unsent_ack() -> Iterator[None]:
    seen = [0]

    def around(handler: Handler, call: Any) -> Any:
        seen[0] += 1
        stream = call.db.read(call.argv[1], Stream)
        workers = None if stream is None else stream.find_group(call.argv[2])
        if seen[0] % 3 or workers is None:
            return handler(call)
        return sum(workers.ack(one) for one in stream_args.entry_ids(call.argv, 3))

    with _changed([b"xack", b"k", b"g", b"1"], around):
        yield


BUGS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "forgotten_fsync": forgotten_fsync,
    "lost_piece": lost_piece,
    "lost_write": lost_write,
    "forgotten_ack": forgotten_ack,
    "early_redelivery": early_redelivery,
    "torn_copy": torn_copy,
    "hasty_wait": hasty_wait,
    "hasty_handover": hasty_handover,
    "hasty_save": hasty_save,
    "unread_sums": unread_sums,
    "hasty_quorum": hasty_quorum,
    "endless_lease": endless_lease,
    "forgotten_replica": forgotten_replica,
    "unsent_ack": unsent_ack,
}

SEEN_BY = {
    "forgotten_fsync": "always",
    "lost_piece": "everysec",
    "lost_write": "always",
    "forgotten_ack": "always",
    "early_redelivery": "always",
    "torn_copy": "replicas",
    "hasty_wait": "failover",
    "hasty_handover": "handover",
    "hasty_save": "snapshots",
    "unread_sums": "flips",
    "hasty_quorum": "confirmed",
    "endless_lease": "confirmed",
    "forgotten_replica": "confirmed",
    "unsent_ack": "confirmed_queue",
}

WORDS = {  # of which one stands in what is told
    "forgotten_fsync": ("does not start", "is not there as such", "not linearizable"),
    "lost_piece": ("were counted", "is missing", "is lost", "its checksum there is not that"),
    "lost_write": ("not linearizable",),
    "forgotten_ack": ("was delivered after", "was acknowledged, and is a dead letter"),
    "early_redelivery": ("has come too soon",),
    "torn_copy": ("holds other data",),
    "hasty_wait": ("is lost",),
    "hasty_handover": ("not linearizable",),
    "hasty_save": ("is lost", "is missing"),
    "unread_sums": ("other data are there",),
    "hasty_quorum": ("not linearizable", "is lost", "is missing"),
    "endless_lease": ("not linearizable",),
    "forgotten_replica": ("not linearizable", "is lost", "is missing"),
    "unsent_ack": ("was delivered after", "was acknowledged, and is a dead letter"),
}
