"""How large nodes and compact encodings become: parameters that commands ask for often.

A parameter of the configuration is found by name; these are attributes.
"""

from __future__ import annotations

from server.config.parameters import Config
from server.observe.part import Part
from storage.limits import ListpackLimits, SetLimits
from storage.stream.stream import StreamConfig


class NodeLimits(Part):
    """*stream* has stream-node-max-bytes and -entries, stream-idmp-duration and -maxsize;
    *list_size* is list-max-listpack-size; *hash* has hash-max-listpack-entries and -value;
    *hyperloglog* is hll-sparse-max-bytes; *sets*
    has set-max-intset-entries, set-max-listpack-entries and -value; *sorted_set* has
    zset-max-listpack-entries and -value.
    """

    __slots__ = ("hash", "hyperloglog", "list_size", "sets", "sorted_set", "stream")

    def __init__(self) -> None:
        self.stream = StreamConfig()
        self.list_size = 0
        self.sets = SetLimits()
        self.hash = ListpackLimits(0)
        self.sorted_set = ListpackLimits(0)
        self.hyperloglog = 0

    def configured(self, config: Config) -> None:
        self.stream.node_max_bytes = config.stream_node_max_bytes
        self.stream.node_max_entries = config.stream_node_max_entries
        self.stream.producers.seconds = config.stream_idmp_duration
        self.stream.producers.ids = config.stream_idmp_maxsize
        self.list_size = config.list_max_listpack_size
        self.sets = config.set_limits
        self.hash.entries = config.hash_max_listpack_entries
        self.hash.value = config.hash_max_listpack_value
        self.sorted_set.entries = config.zset_max_listpack_entries
        self.sorted_set.value = config.zset_max_listpack_value
        self.hyperloglog = config.hll_sparse_max_bytes
