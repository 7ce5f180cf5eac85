"""Facts of the work done: the counters of Stats, and how the event loop turns."""

from __future__ import annotations

from typing import NamedTuple

from server.observe.fact import (
    BYTES,
    COUNT,
    KIB_PER_SECOND,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PERCENT,
    RATIO,
    Facts,
    Family,
    counter,
    gauge,
    nothing,
)
from server.observe.loop_times import LoopTimes
from server.observe.stats import Stats


class Thread(NamedTuple):
    """What the thread that serves the sockets has to do, and has done."""

    clients: int
    stats: Stats


THREADS = Family[Thread](
    "io_thread_", "thread",
    gauge("clients", COUNT, lambda thread: thread.clients, "Clients that the thread serves"),
    counter("reads", COUNT, lambda thread: thread.stats.reads,
            "Times that the thread has received something"),
    counter("writes", COUNT, lambda thread: thread.stats.writes,
            "Times that the thread has sent something"),
)  # fmt: skip

RECEIVED = Facts[Stats](
    counter("total_connections_received", COUNT, lambda stats: stats.connections,
            "Clients that have connected"),
    counter("total_commands_processed", COUNT, lambda stats: stats.commands,
            "Commands that were run"),
    gauge("instantaneous_ops_per_sec", PER_SECOND,
          lambda stats: round(stats.rates.per_second("commands")),
          "Commands that were run, of late"),
    counter("total_net_input_bytes", BYTES, lambda stats: stats.input_bytes,
            "What clients have sent"),
)  # fmt: skip

SENT = Facts[int](
    counter("total_net_output_bytes", BYTES, lambda sent: sent,
            "What clients were sent, without replicas"),
)  # fmt: skip

RATES = Facts[Stats](
    gauge("instantaneous_input_kbps", KIB_PER_SECOND,
          lambda stats: stats.rates.per_second("input") / 1024,
          "What clients have sent, of late", "%.2f"),
    gauge("instantaneous_output_kbps", KIB_PER_SECOND,
          lambda stats: stats.rates.per_second("output") / 1024,
          "What was sent, of late", "%.2f"),
    counter("rejected_connections", COUNT, lambda stats: stats.rejected_connections,
            "Clients that were turned away, since maxclients were there"),
)  # fmt: skip

EXPIRY_CYCLES = Facts[Stats](
    counter("expired_subkeys_active", COUNT, lambda stats: stats.expired_fields_in_cycles,
            "Fields of hashes that were found to have expired while nobody asked for them"),
    counter("expired_keys_active", COUNT, lambda stats: stats.expired_in_cycles,
            "Keys that were found to have expired while nobody asked for them"),
    gauge("expired_stale_perc", PERCENT, lambda stats: stats.stale_percent,
          "The part of the keys with a time that have expired and are still there, about",
          "%.2f"),
    counter("expired_time_cap_reached_count", COUNT, lambda stats: stats.expire_time_cap_reached,
            "Times that the search for expired keys was broken off, since it took too long"),
    counter("expire_cycle_cpu_milliseconds", MILLISECONDS,
            lambda stats: int(stats.expire_cycle_ms), "How long expired keys were searched for"),
)  # fmt: skip

REPLIES = Facts[Stats](
    counter("total_error_replies", COUNT, lambda stats: stats.errors, "Errors that were answered"),
    counter("total_reads_processed", COUNT, lambda stats: stats.reads,
            "Times that something was received"),
    counter("total_writes_processed", COUNT, lambda stats: stats.writes,
            "Times that something was sent"),
    counter("commands_per_parse_batch_sum", COUNT, lambda stats: stats.batched,
            "Commands that were parsed, in batches: what a client has sent at once"),
    counter("commands_per_parse_batch_cnt", COUNT, lambda stats: stats.batches,
            "Batches of commands that were parsed: what a client has sent at once"),
    gauge("commands_per_parse_batch_avg", RATIO,
          lambda stats: stats.batched / stats.batches if stats.batches else 0.0,
          "Commands in a batch, on average", form="%.2f"),
    counter("io_threaded_total_prefetch_batches", COUNT, lambda stats: stats.prefetches,
            "Times that the memory of a pipeline's keys was fetched ahead"),
    counter("io_threaded_total_prefetch_entries", COUNT, lambda stats: stats.prefetched_keys,
            "Keys whose memory was fetched ahead"),
    counter("client_query_buffer_limit_disconnections", COUNT,
            lambda stats: stats.query_limit_disconnections,
            "Clients that were disconnected for requests that were too long"),
    counter("client_output_buffer_limit_disconnections", COUNT,
            lambda stats: stats.output_limit_disconnections,
            "Clients that were disconnected since they did not take their replies"),
)  # fmt: skip

LOOP = Facts[LoopTimes](
    counter("eventloop_cycles", COUNT, lambda loop: loop.cycles, "Turns of the event loop"),
    counter("eventloop_duration_sum", MICROSECONDS, lambda loop: loop.busy_us,
            "How long the event loop has worked"),
    counter("eventloop_duration_cmd_sum", MICROSECONDS, lambda loop: loop.commands_us,
            "How long the event loop has run commands"),
    gauge("instantaneous_eventloop_cycles_per_sec", PER_SECOND,
          lambda loop: round(loop.rates.per_second("cycles")), "Turns of the event loop, of late"),
    gauge("instantaneous_eventloop_duration_usec", MICROSECONDS,
          lambda loop: round(loop.us_per_cycle),
          "How long a turn of the event loop took on average, of late"),
    when="Where the server watches the sockets itself, with epoll",
)  # fmt: skip

ABSENT = Facts[object](
    nothing("io_threaded_reads_processed", COUNT, "Reads of threads for I/O: there are none"),
    nothing("io_threaded_writes_processed", COUNT, "Writes of threads for I/O: there are none"),
    nothing("reply_buffer_shrinks", COUNT, "Clients' buffers that were made smaller: none is"),
    nothing("reply_buffer_expands", COUNT, "Clients' buffers that were made larger: none is"),
    nothing("acl_access_denied_tls_cert", COUNT,
            "Certificates that named a user who is not there: nobody is refused for that"),
    nothing("active_defrag_hits", COUNT, "Values that were moved: memory is not defragmented"),
    nothing("active_defrag_misses", COUNT, "Values that were not moved: none is looked at"),
    nothing("active_defrag_key_hits", COUNT, "Keys whose values were moved: there are none"),
    nothing("active_defrag_key_misses", COUNT,
            "Keys that were looked at to move their values, in vain: none is"),
    nothing("total_active_defrag_time", MILLISECONDS,
            "How long memory was defragmented: it never is"),
    nothing("current_active_defrag_time", MILLISECONDS,
            "How long memory has been defragmented, now: it is not"),
    nothing("migrate_cached_sockets", COUNT, "Connections that MIGRATE keeps: it keeps none"),
    nothing("dump_payload_sanitizations", COUNT,
            "Payloads that were searched for faults on request: all are, always"),
)  # fmt: skip
