"""Rights on keys that no word of a command names: those that side data has the server write."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.dispatch.call import Call
from storage.side_data.side_data import SideData

NO_RIGHT = ErrorReply("NOPERM", "No permissions to access a key")


def check_rights(call: Call, side: SideData | None) -> None:
    """Raise ErrorReply if the client may not write all keys that the server will for *side*."""
    if side is not None and not all(map(call.client.user.may_write, side.written_keys())):
        raise NO_RIGHT
