cimport cython
from libc.stdint cimport uint64_t

from server.observe.part cimport Part


@cython.final
cdef class Stats(Part):
    cdef public uint64_t commands
    cdef public uint64_t connections
    cdef public uint64_t rejected_connections
    cdef public uint64_t input_bytes
    cdef public uint64_t output_bytes
    cdef public uint64_t reads
    cdef public uint64_t batches
    cdef public uint64_t batched
    cdef public uint64_t writes
    cdef public uint64_t errors
    cdef public dict errors_by_code
    cdef public uint64_t output_limit_disconnections
    cdef public uint64_t query_limit_disconnections
    cdef public double expire_cycle_ms
    cdef public uint64_t expire_time_cap_reached
    cdef public uint64_t expired_in_cycles
    cdef public uint64_t expired_fields_in_cycles
    cdef public double stale_percent
    cdef public uint64_t nested_ns
    cdef public uint64_t prefetches
    cdef public uint64_t prefetched_keys
    cdef readonly object rates
