cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.observe.part cimport Part
from server.table.command cimport Command

cdef int SKIP_SLOWLOG
cdef int64_t NEVER


@cython.final
cdef class LargeCommands(Part):
    cdef readonly object requests
    cdef readonly object replies
    cdef readonly int64_t request_from
    cdef readonly int64_t reply_from

    cpdef ran(self, Client client, Command command, list argv, int64_t reply, int64_t time_s)
