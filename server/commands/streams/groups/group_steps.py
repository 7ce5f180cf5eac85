"""Steps of several commands on the pending entries of a group, and how they are logged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from server.dispatch.call import Call
from server.table import errors
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.side_data.side_data import SideData
from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.pending import Pending
from storage.stream.stream import Stream

MOST_IDS = 1000  # in one command of the log


def stream_and_group(call: Call, key: bytes, name: bytes) -> tuple[Stream, ConsumerGroup]:
    """The stream at *key* and its group *name*. Raises ErrorReply (NOGROUP), WrongType."""
    stream = call.db.read(key, Stream)
    group = None if stream is None else stream.find_group(name)
    if stream is None or group is None:
        raise errors.no_such_key_or_group(key, name)
    return stream, group


def policy_of(call: Call, key: bytes, group: bytes) -> GroupPolicy | None:
    """The policy of that group of the stream at *key*; None: it does nothing by itself."""
    side = call.db.side.get(key)
    policy: GroupPolicy | None = None if side is None else side.get(GROUP_POLICY, group)
    return policy


def ack_all(
    call: Call, key: bytes, name: bytes, group: ConsumerGroup, found: list[Pending]
) -> None:
    """Acknowledge the pending entries *found* of the group *name*. O(log N) for each.

    They are logged by their ids, which any Redis knows.
    """
    ids = [pendings.id_of(pending) for pending in found]
    for entry_id in ids:
        group.ack(entry_id)
    for at in range(0, len(ids), MOST_IDS):
        texts = [entry_id.encode() for entry_id in ids[at : at + MOST_IDS]]
        log = (b"XACK", key, name, *texts)
        call.db.group_changed(key, None, changes=len(texts), log=log)
    left(call, key, name)


def claim_words(
    key: bytes, name: bytes, owner: bytes, pending: Pending, group: ConsumerGroup
) -> tuple[bytes, ...]:
    """The words that make *pending* what it is, of the consumer *owner* of the group *name*."""
    return (
        b"XCLAIM", key, name, owner, b"0",
        pendings.id_of(pending).encode(), b"TIME", b"%d" % pending.delivery_time,
        b"RETRYCOUNT", b"%d" % pendings.count_of(pending), b"FORCE", b"JUSTID",
        b"LASTID", group.last_id.encode(),
    )  # fmt: skip


def left(call: Call, key: bytes, name: bytes | None = None) -> None:
    """Entries have left the group *name*, and there may be room for others, by its policy.

    Without a name any reader of a group with a policy looks whether it is given something now.
    """
    side: SideData | None = call.db.side_of(key)
    if side is not None and (name is None or _has_limits(side, name)):
        call.server.blocking.delivered(call.db.index, key)


def _has_limits(side: SideData, name: bytes) -> bool:
    """Whether entries of the group *name* wait until others are acknowledged."""
    policy: GroupPolicy | None = side.get(GROUP_POLICY, name)
    return policy is not None and policy.has_limits()


def log_released(call: Call, key: bytes, name: bytes, released: list[Pending]) -> None:
    """Log the counts that the entries have now: a replica may have counted other deliveries.

    What is held is logged as released, and then with its time: a Redis knows the first of the two.
    """
    for words in released_words(key, name, released):
        call.db.group_changed(key, None, changes=0, log=words)


def released_words(key: bytes, name: bytes, released: list[Pending]) -> Iterator[list[bytes]]:
    """The commands that make them released as they are, for log_released()."""
    for (count, until_ms), alike in groupby(released, _count_and_time):
        ids = [pendings.id_of(pending).encode() for pending in alike]
        words = [
            b"XNACK", key, name, b"FAIL", b"IDS", b"%d" % len(ids), *ids,
            b"RETRYCOUNT", b"%d" % count, b"FORCE",
        ]  # fmt: skip
        yield words
        if until_ms:
            yield [*words, b"AT", b"%d" % until_ms]


def _count_and_time(released: Pending) -> tuple[int, int]:
    return pendings.count_of(released), released.delivery_time
