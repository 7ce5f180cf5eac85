"""The nodes of streams that are to be rewritten, since most of their entries are deleted.

    stream -> {keys of its nodes}        a stream says whether it is here, and leaves when it goes

A stream notes a node when the greater half of its entries is deleted, and rewrites some of them
when it is told to: in the background, so that nobody waits for it. Its last node is noted when the
next one begins: entries are still added to it.
"""

from __future__ import annotations

_noted: dict[int, dict[bytes, None]] = {}  # by the id of the stream


def note(stream: int, key: bytes) -> None:
    """The node at *key* of a stream is to be rewritten."""
    _noted.setdefault(stream, {})[key] = None


def take(stream: int, most: int) -> list[bytes]:
    """Up to *most* keys of nodes of a stream, which are no longer noted."""
    keys = _noted.get(stream, {})
    taken = list(keys)[:most]
    for key in taken:
        del keys[key]
    return taken


def has_more(stream: int) -> bool:
    """Whether nodes of a stream are noted."""
    return bool(_noted.get(stream))


def forget(stream: int) -> None:
    """A stream has gone, or has no noted nodes any more."""
    _noted.pop(stream, None)
