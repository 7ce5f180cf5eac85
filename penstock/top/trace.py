"""The trace that an entry belongs to: its field ``traceparent``, as W3C Trace Context has it.

00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
version, trace id, id of the span that added the entry, flags (1: sampled)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FIELD = b"traceparent"
_FORM = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_ZEROS = re.compile(r"0+")


@dataclass(frozen=True, slots=True)
class Trace:
    """Of one entry."""

    trace_id: str
    span_id: str
    is_sampled: bool


def trace_of(fields: Mapping[bytes, bytes]) -> Trace | None:
    """None if there is no such field, or if it is not well-formed."""
    found = _FORM.fullmatch(fields.get(FIELD, b""))
    if not found:
        return None
    trace_id, span_id, flags = (part.decode() for part in found.groups()[:3])
    if _ZEROS.fullmatch(trace_id) or _ZEROS.fullmatch(span_id):
        return None
    return Trace(trace_id, span_id, bool(int(flags, 16) & 1))
