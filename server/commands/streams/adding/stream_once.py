"""The steps of XADD with IDMP or IDMPAUTO: a producer adds each entry once.

What is logged has the words of the client, with the id that the entry has got. A repeated one is
logged as it came, with ``*``: so when it is replayed, an id says that the entry is new, and ``*``
that it is not, whatever this server knows of the producer, and whatever time it is.
"""

from __future__ import annotations

from server.commands.streams.adding import stream_steps
from server.commands.streams.adding.add_options import AddOptions, Once
from server.dispatch.call import Call
from server.table import errors
from storage.stream import producers
from storage.stream.producers import Producers
from storage.stream.stream import Stream


def add_once(call: Call, options: AddOptions, once: Once) -> bytes | None:
    """As stream_steps.add_entry; but if the producer has added the entry already, answer its id.

    *once* is that of *options*.
    """
    argv, db, id_at, wanted = call.argv, call.db, options.id_at, options.wanted
    if len(argv) - id_at < 3 or (len(argv) - id_at) % 2 == 0:
        raise errors.wrong_arity("xadd")
    key = argv[1]
    stream = db.find(key, Stream)
    if stream is None and (not options.may_create or (wanted is None and call.is_replayed())):
        return None
    name = once.name or producers.content_of(argv, id_at + 1)
    if stream is not None and wanted is None:
        known = stream.producers
        earlier = None if known is None else known.find(once.producer, name, call.now_ms)
        if earlier is not None or call.is_replayed():
            known = producers_of(call, stream)
            known.duplicates += 1
            db.group_changed(key, None)
            return None if earlier is None else earlier.encode()
    if options.last is not None and not stream_steps.ends_with(call, id_at, options.last):
        return None
    text = stream_steps.add_entry(call, id_at, options)
    stream = db.find(key, Stream)
    assert stream is not None
    known = producers_of(call, stream)
    known.record(once.producer, name, stream.last_id)
    return text


def producers_of(call: Call, stream: Stream) -> Producers:
    """The producers of *stream*, made if needed."""
    found = stream.producers
    if found is None:
        found = stream.producers = Producers(call.server.node_limits.stream.producers)
    return found
