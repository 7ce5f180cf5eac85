cimport cython

from server.client.client cimport Client
from server.client.pushes cimport Pushes
from server.client.tracking_options cimport TrackingOptions
from server.observe.memory cimport Memory
from server.observe.part cimport Part
from server.table.command cimport Command
from server.parts.tracking.tracking_table cimport TrackingTable
from storage.chance cimport Chance

cdef int READONLY
cdef int RUNS_SCRIPTS
cdef int TOLD
cdef int TRACKING
cdef Py_ssize_t PREFIX_BYTES
cdef tuple NOBODYS


@cython.final
cdef class Tracking(Part):
    cdef dict _clients
    cdef Pushes _pushes
    cdef Memory _memory
    cdef Chance _chance
    cdef dict _tracking
    cdef object _most_keys
    cdef object _effort
    cdef readonly bint hears
    cdef readonly TrackingTable table
    cdef readonly object broadcasts

    cpdef start(self, Client client, TrackingOptions options, list prefixes)
    cpdef stop(self, Client client)
    @cython.locals(options=TrackingOptions)
    cpdef command_ran(self, Client client, Command command, list argv)
    cpdef command_done(self, Client client)
    cpdef changed(self, bytes key, bytes event)
    @cython.locals(client=Client)
    cdef _forget(self, bytes key)
    @cython.locals(client=Client)
    cpdef flushed(self)
    @cython.locals(receiver=Client)
    cpdef _tell(self, Client client, object message)
    cdef bint _is_over_limit(self) except -1
    cdef _forget_some(self, Py_ssize_t most)
