cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.dispatch.blocking cimport Blocking
from server.observe.memory cimport Memory
from server.dispatch.pausing cimport Pausing
from server.dispatch.watching cimport Watching
from server.observe.part cimport Part
from server.propagation.propagation cimport Propagation
from server.observe.stats cimport Stats
from server.dispatch.server_key_events cimport ServerKeyEvents
from storage.keyspace.clock cimport Clock
from storage.keyspace.lookup cimport Lookup
from storage.stream.stream cimport StreamConfig


cdef class ServerState:
    cdef public object config
    cdef public object monotonic_ms
    cdef readonly object table
    cdef readonly Stats stats
    cdef readonly dict clients
    cdef readonly Blocking blocking
    cdef readonly Watching watching
    cdef readonly Pausing pausing
    cdef readonly Propagation propagation
    cdef readonly Memory memory
    cdef readonly ServerKeyEvents events
    cdef readonly Clock clock
    cdef readonly Lookup lookup
    cdef readonly list parts
    cdef readonly list databases
    cdef readonly object persistence
    cdef readonly object random
    cdef public str run_id
    cdef public bint short_of_memory
    cdef public bint stopping
    cdef public bint loading
    cdef public object write_refusal
    cdef public bint refuses_reads
    cdef public bint guarded
    cdef public bint restricted
    cdef public int64_t started_ms
    cdef public object stop
    cdef public object begin_replay
    cdef public list listening
    cdef readonly StreamConfig stream_config
    cdef readonly int64_t list_fill

    @cython.locals(part=Part)
    cpdef client_left(self, Client client)
