"""Facts of the memory: what is in use, and what the process holds. See memory.py."""

from __future__ import annotations

from collections.abc import Sequence

from server.config.parameters import Config
from server.observe.fact import (
    BYTES,
    FLAG,
    PERCENT,
    RATIO,
    UNIX_SECONDS,
    Always,
    Facts,
    gauge,
    nothing,
    text,
)
from server.observe.memory import Memory, human, resident_and_file_bytes, total_bytes
from storage.keyspace.key_table import PLACE_BYTES
from storage.keyspace.keyspace import Keyspace

TOTAL = total_bytes()  # of the machine


class MemoryFigures:
    """The memory at the unix time *now_s*: what INFO and MEMORY STATS tell of it, in bytes.

    used        data, clients, readers by patterns, scripts, and what is to be logged
    overhead    the part of it that is not the keys' names and values: dataset is the rest
    resident    what the process holds; *held* without the pages of files
    """

    __slots__ = (
        "clients", "dataset", "held", "in_files", "keys", "limit", "log", "overhead", "peak",
        "peak_s", "policy", "resident", "startup", "used",
    )  # fmt: skip

    def __init__(
        self, memory: Memory, databases: Sequence[Keyspace], config: Config, now_s: int
    ) -> None:
        memory.note_peak(now_s)
        self.used = memory.used()
        self.peak, self.peak_s = memory.peak, memory.peak_s
        self.limit, self.policy = config.maxmemory, config.maxmemory_policy
        self.resident, self.in_files = resident_and_file_bytes()
        self.held = self.resident - self.in_files
        self.startup, self.clients, self.log = memory.startup, memory.clients, memory.log
        self.keys = sum(map(len, databases))
        places = self.keys + sum(len(db.expiring) for db in databases)
        self.overhead = self.startup + self.clients + memory.readers + memory.scripts + self.log
        self.overhead += places * PLACE_BYTES
        self.dataset = max(self.used - self.overhead, 0)

    @property
    def since_start(self) -> int:
        """What has been added since the start; 1 at least."""
        return max(self.used - self.startup, 1)


MEMORY = Facts[MemoryFigures](
    gauge("used_memory", BYTES, lambda m: m.used,
          "Memory in use: data, clients, scripts, and what is to be logged"),
    text("used_memory_human", lambda m: human(m.used), "used_memory, for people"),
    gauge("used_memory_rss", BYTES, lambda m: m.resident,
          "What the process holds of the machine's memory"),
    text("used_memory_rss_human", lambda m: human(m.resident), "used_memory_rss, for people"),
    gauge("used_memory_peak", BYTES, lambda m: m.peak, "The most that used_memory has been"),
    text("used_memory_peak_human", lambda m: human(m.peak), "used_memory_peak, for people"),
    gauge("used_memory_peak_time", UNIX_SECONDS, lambda m: m.peak_s,
          "When used_memory_peak was seen"),
    gauge("used_memory_peak_perc", PERCENT, lambda m: m.used * 100 / m.peak,
          "used_memory as a part of used_memory_peak", "%.2f%%"),
    gauge("used_memory_overhead", BYTES, lambda m: m.overhead,
          "What is in use beside names and values of keys"),
    gauge("used_memory_startup", BYTES, lambda m: m.startup, "What was in use at the start"),
    gauge("used_memory_dataset", BYTES, lambda m: m.dataset, "What names and values of keys take"),
    gauge("used_memory_dataset_perc", PERCENT, lambda m: m.dataset * 100 / m.since_start,
          "used_memory_dataset as a part of all that is in use since the start", "%.2f%%"),
    gauge("allocator_allocated", BYTES, lambda m: m.used,
          "Memory in use by the server's own count: used_memory has the same"),
    gauge("allocator_active", BYTES, lambda m: m.held,
          "What the process holds, without the pages of files"),
    gauge("allocator_resident", BYTES, lambda m: m.held,
          "What the process holds, without the pages of files: allocator_active has the same"),
    gauge("total_system_memory", BYTES, Always(TOTAL), "The memory of the machine"),
    text("total_system_memory_human", Always(human(TOTAL)), "total_system_memory, for people"),
    gauge("maxmemory", BYTES, lambda m: m.limit, "The parameter maxmemory; 0: no limit"),
    text("maxmemory_human", lambda m: human(m.limit), "maxmemory, for people"),
    text("maxmemory_policy", lambda m: m.policy, "Which keys go when maxmemory is exceeded"),
    gauge("allocator_frag_ratio", RATIO, lambda m: m.held / m.used,
          "allocator_active to used_memory", "%.2f"),
    gauge("allocator_frag_bytes", BYTES, lambda m: m.held - m.used,
          "allocator_active without used_memory"),
    gauge("allocator_rss_ratio", RATIO, Always(1.0),
          "allocator_resident to allocator_active: always 1", "%.2f"),
    nothing("allocator_rss_bytes", BYTES, "allocator_resident without allocator_active: always 0"),
    gauge("rss_overhead_ratio", RATIO, lambda m: m.resident / max(m.held, 1),
          "used_memory_rss to allocator_resident", "%.2f"),
    gauge("rss_overhead_bytes", BYTES, lambda m: m.in_files,
          "Pages of files that the process holds: the program's code"),
    gauge("mem_fragmentation_ratio", RATIO, lambda m: m.resident / m.used,
          "used_memory_rss to used_memory", "%.2f"),
    gauge("mem_fragmentation_bytes", BYTES, lambda m: m.resident - m.used,
          "used_memory_rss without used_memory"),
    gauge("mem_not_counted_for_evict", BYTES, lambda m: m.log,
          "What is in use and not compared with maxmemory"),
    gauge("mem_clients_normal", BYTES, lambda m: m.clients,
          "What clients have sent and not taken, and their connections"),
    gauge("mem_aof_buffer", BYTES, lambda m: m.log, "What is to be written to the AOF"),
    text("mem_allocator", Always("pymalloc"), "The allocator"),
)  # fmt: skip

ABSENT = Facts[object](
    nothing("mem_cluster_links", BYTES, "Links between nodes of a cluster: there is none"),
    nothing("mem_cluster_slot_migration_output_buffer", BYTES, "Slots that leave: there are none"),
    nothing("mem_cluster_slot_migration_input_buffer", BYTES, "Slots that come: there are none"),
    nothing("mem_cluster_slot_migration_input_buffer_peak", BYTES,
            "The most that slots that come have taken: there are none"),
    nothing("allocator_muzzy", BYTES, "Pages given back, and not taken yet: there are none"),
    nothing("active_defrag_running", FLAG, "Whether memory is defragmented: it never is"),
    nothing("mem_overhead_db_hashtable_rehashing", BYTES,
            "Tables of keys that are rebuilt: none is, tables grow in pieces"),
    nothing("mem_replica_full_sync_buffer", BYTES,
            "What a primary sends while a copy of all data is made: the primary holds that"),
)  # fmt: skip
