"""Rights on keys that no word of a command names: those that the server writes because of it."""

from __future__ import annotations

from collections.abc import Iterable

from server.client.client import RESTRICTED
from server.dispatch.call import Call
from server.table.keys import INSERT, RW, KeyUse
from storage.side_data.side_data import SideData


def check_rights(call: Call, side: SideData | None) -> None:
    """Refuse side data for which the server writes keys that the client may not write.

    Raises ErrorReply.
    """
    if side is not None:
        check_written(call, side.written_keys())


def check_written(call: Call, keys: Iterable[bytes]) -> None:
    """Refuse a call if the client may not write all *keys* besides those that it names.

    As with those, one selector must allow it all, and ACL LOG tells of it. Raises ErrorReply.
    """
    client = call.client
    if not client.flags & RESTRICTED:
        return
    uses = [KeyUse(key, RW | INSERT) for key in keys]
    denial = client.user.denial(call.command, call.argv, uses)
    if denial is not None:
        raise call.server.access.refused(client, denial, call.origin)
