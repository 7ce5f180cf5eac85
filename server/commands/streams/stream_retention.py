"""What XCFGSET, XCFGGET and XINFO STREAM say of the policy by which a stream gives up entries.

storage/side_data/stream_policy.py has its words; server/lifecycle/retention.py carries it out.
"""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage.side_data.side_data import SideData
from storage.side_data.stream_policy import (
    ACKED,
    AGE,
    BYTES,
    COMPACT,
    LENGTH,
    LONGEST_FIELD,
    MIN_AGE,
    MOST,
    STREAM_POLICY,
    WORDS,
    StreamPolicy,
)
from storage.stream.stream import Stream

TIME = f"milliseconds from 0 to {MOST}, or a number with ms, s, m, h, d or w"
WHAT = {
    AGE: TIME,
    MIN_AGE: TIME,
    LENGTH: f"a number from 0 to {MOST}",
    BYTES: f"bytes from 0 to {MOST}, or a number with b, k, kb, m, mb, g or gb",
    ACKED: "yes or no",
    COMPACT: f"a name of {LONGEST_FIELD} bytes at most",
}


def take(args: Args, policy: StreamPolicy) -> None:
    """Set in *policy* what the next words say. Raises ErrorReply."""
    word = args.take().upper()
    if word not in WORDS or not args.left():
        raise errors.SYNTAX
    if word in policy.words()[::2]:
        raise ErrorReply("ERR", f"{word.decode()} specified multiple times")
    if not policy.set(word, args.take()):
        raise ErrorReply("ERR", f"{word.decode()} takes {WHAT[word]}")


def put(call: Call, key: bytes, policy: StreamPolicy, forgets: bool) -> None:
    """Let what *policy* says be set of the stream at *key*; *forgets*: and nothing else."""
    present = call.server.stream_policies.own(call.db, key)
    made = policy if forgets else policy.over(present)
    if made.words() == ([] if present is None else present.words()):
        return
    side = call.db.side.get(key) or SideData()
    if made:
        side.set(STREAM_POLICY, made)
    else:
        side.discard(STREAM_POLICY)
    call.db.put_side(key, side, of_groups=False)
    call.db.group_changed(key, b"xcfgset")


def shown(call: Call, key: bytes) -> dict[bytes, Reply]:
    """All that holds for the stream at *key*, as XCFGGET has it."""
    policy = call.server.stream_policies.in_force(call.db, key) or StreamPolicy()
    return {
        word.lower(): value if word in (ACKED, COMPACT) else int(value)
        for word, value in policy.settings()
    }


def facts(call: Call, key: bytes, stream: Stream) -> dict[bytes, Reply]:
    """What XINFO STREAM adds for a stream with a policy, and only then."""
    policy = call.server.stream_policies.in_force(call.db, key)
    if policy is None:
        return {}
    report: dict[bytes, Reply] = {
        b"policy": [*policy.effective_words()],
        b"bytes": stream.node_bytes(),
    }
    if policy.field:
        noted = call.db.tended.get(key)
        newest = None if noted is None else noted.newest
        report[b"compacted-to"] = b"0-0" if newest is None else newest.upto.encode()
        report[b"compact-index-bytes"] = 0 if newest is None else newest.bytes_used()
    return report


def forget_newest(call: Call, key: bytes) -> None:
    """Let COMPACT make its index anew: there may be new entries before the place it has reached."""
    noted = call.db.tended.get(key)
    if noted is not None:
        noted.newest = None
