"""Facts of persistence: loading, snapshots, the append-only file."""

from __future__ import annotations

from server.observe.fact import (
    BYTES,
    COUNT,
    FLAG,
    MICROSECONDS,
    PERCENT,
    SECONDS,
    UNIX_SECONDS,
    Facts,
    counter,
    flag,
    gauge,
    nothing,
    text,
)
from server.parts.persistence.append_only import AppendOnly, Mode
from server.parts.persistence.backup import Backup
from server.parts.persistence.child import ChildSlot
from server.parts.persistence.load_progress import LoadProgress
from server.parts.persistence.persistence import Persistence
from server.parts.persistence.snapshots import Snapshots

CHILD = Facts[ChildSlot](
    gauge("current_cow_peak", BYTES, lambda slot: slot.child.cow_peak if slot.child else 0,
          "The most memory that was copied for the forked child; 0: there is none"),
    gauge("current_cow_size", BYTES, lambda slot: slot.child.cow_bytes if slot.child else 0,
          "Memory that was copied for the forked child; 0: there is none"),
    gauge("current_cow_size_age", SECONDS, lambda slot: slot.cow_size_age,
          "How long ago current_cow_size was counted"),
    gauge("current_fork_perc", PERCENT, lambda slot: slot.fork_perc,
          "How much of its work the forked child has done", "%.2f"),
    gauge("current_save_keys_processed", COUNT, lambda slot: slot.child.done if slot.child else 0,
          "Keys that the forked child has written"),
    gauge("current_save_keys_total", COUNT, lambda slot: slot.child.total if slot.child else 0,
          "Keys that there were when the child was forked"),
)  # fmt: skip

SNAPSHOTS = Facts[Snapshots](
    gauge("rdb_changes_since_last_save", COUNT, lambda rdb: rdb.changes_since_save,
          "Changes that no snapshot has"),
    flag("rdb_bgsave_in_progress", lambda rdb: rdb.in_progress,
         "Whether a snapshot is being written"),
    gauge("rdb_last_save_time", UNIX_SECONDS, lambda rdb: rdb.last_save_s,
          "When a snapshot was last written; before the first: the start"),
    gauge("rdb_saves_consecutive_failures", COUNT, lambda rdb: rdb.failures,
          "Snapshots that have failed since one has not"),
    flag("rdb_last_bgsave_status", lambda rdb: rdb.last_ok, "How the last snapshot ended",
         ("err", "ok")),
    gauge("rdb_last_bgsave_time_sec", SECONDS, lambda rdb: rdb.last_duration_s,
          "How long the last snapshot took; -1: there was none"),
    gauge("rdb_current_bgsave_time_sec", SECONDS, lambda rdb: rdb.running_s,
          "How long the present snapshot has taken; -1: there is none"),
    counter("rdb_saves", COUNT, lambda rdb: rdb.saves, "Snapshots that were begun"),
    gauge("rdb_last_cow_size", BYTES, lambda rdb: rdb.last_cow_bytes,
          "Memory that was copied while the last snapshot was written"),
)  # fmt: skip

LOADED = Facts[Persistence](
    gauge("rdb_last_load_keys_expired", COUNT, lambda kept: kept.keys_expired,
          "Keys that had expired when the data were last loaded"),
    gauge("rdb_last_load_keys_loaded", COUNT, lambda kept: kept.keys_loaded,
          "Keys that were last loaded"),
    text("loss_window", lambda kept: kept.loss_window,
         "What is lost of what was answered, if the process is killed, and if the machine is lost"),
)  # fmt: skip

AOF = Facts[AppendOnly](
    flag("aof_enabled", lambda aof: aof.mode is not Mode.OFF, "Whether changes are logged"),
    flag("aof_rewrite_in_progress", lambda aof: aof.is_rewriting, "Whether the AOF is rewritten"),
    flag("aof_rewrite_scheduled", lambda aof: aof.scheduled,
         "Whether a rewrite of the AOF begins when the present child has ended"),
    gauge("aof_last_rewrite_time_sec", SECONDS, lambda aof: aof.last_duration_s,
          "How long the last rewrite of the AOF took; -1: there was none"),
    gauge("aof_current_rewrite_time_sec", SECONDS, lambda aof: aof.running_s,
          "How long the present rewrite of the AOF has taken; -1: there is none"),
    flag("aof_last_bgrewrite_status", lambda aof: aof.last_ok,
         "How the last rewrite of the AOF ended", ("err", "ok")),
    counter("aof_rewrites", COUNT, lambda aof: aof.rewrites,
            "Rewrites of the AOF that were begun"),
    gauge("aof_rewrites_consecutive_failures", COUNT, lambda aof: aof.failures,
          "Rewrites of the AOF that have failed since one has not"),
    flag("aof_last_write_status", lambda aof: not aof.log.error,
         "Whether changes could be written to the AOF", ("err", "ok")),
    gauge("aof_last_cow_size", BYTES, lambda aof: aof.last_cow_bytes,
          "Memory that was copied during the last rewrite of the AOF"),
)  # fmt: skip

LOG = Facts[AppendOnly](
    gauge("aof_current_size", BYTES, lambda aof: aof.size, "The size of all files of the AOF"),
    gauge("aof_base_size", BYTES, lambda aof: aof.rewritten_size,
          "The size of the AOF when its last rewrite ended; before one: of its base at the start"),
    flag("aof_pending_rewrite", lambda aof: aof.scheduled,
         "Whether a rewrite of the AOF is to begin: aof_rewrite_scheduled has the same"),
    gauge("aof_buffer_length", BYTES, lambda aof: aof.log.pending,
          "What is still to be written to the AOF"),
    flag("aof_pending_bio_fsync", lambda aof: aof.log.is_syncing,
         "Whether another thread calls fsync for the AOF"),
    counter("aof_delayed_fsync", COUNT, lambda aof: aof.log.delayed_syncs,
            "Calls of fsync for the AOF in another thread that have taken two seconds"),
    when="While changes are logged",
)  # fmt: skip


def log(aof: AppendOnly) -> AppendOnly | None:
    """None while changes are not logged."""
    return None if aof.mode is Mode.OFF else aof


LOADING = Facts[LoadProgress](
    gauge("loading_start_time", UNIX_SECONDS, lambda load: load.started_s, "When the load began"),
    gauge("loading_total_bytes", BYTES, lambda load: load.total_bytes, "What the load has to read"),
    gauge("loading_rdb_used_mem", BYTES, lambda load: load.rdb_used_memory,
          "What the server that wrote the snapshot had in use"),
    gauge("loading_loaded_bytes", BYTES, lambda load: load.loaded_bytes,
          "What the load has read so far"),
    gauge("loading_loaded_perc", PERCENT, lambda load: load.percent,
          "loading_loaded_bytes as a part of loading_total_bytes", "%.2f"),
    gauge("loading_eta_seconds", SECONDS, lambda load: load.eta_s,
          "How long the load will still take, about"),
    when="While data are loaded",
)  # fmt: skip

FORKS = Facts[ChildSlot](
    gauge("latest_fork_usec", MICROSECONDS, lambda slot: slot.latest_fork_usec,
          "How long the last fork took"),
    counter("total_forks", COUNT, lambda slot: slot.total_forks, "Children that were forked"),
)  # fmt: skip

BACKUP = Facts[Backup](
    flag("backup_in_progress", lambda backup: backup.in_progress,
         "Whether a backup was begun and is not sealed"),
)  # fmt: skip

MODULES = Facts[object](
    nothing("module_fork_in_progress", FLAG, "Whether a child of a module runs: there is none"),
    nothing("module_fork_last_cow_size", BYTES,
            "Memory that was copied for a child of a module: none is"),
)  # fmt: skip
