cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.observe.command_stats cimport CommandCount
from server.observe.part cimport Part
from server.table.command cimport Command

cdef int FAST
cdef int SKIP_SLOWLOG


@cython.final
cdef class CommandTimes(Part):
    cdef object _slow_log
    cdef object _events
    cdef object _hot_keys
    cdef int64_t _threshold_ns
    cdef readonly int64_t slow_ns
    cdef readonly bint fills_histograms

    @cython.locals(us=int64_t)
    cpdef was_slow(
        self, Client client, Command command, list argv, int64_t ns, int64_t time_s,
        CommandCount count
    )
