from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.parts.scripting.lua.host cimport Host
from server.process cimport ticks

cdef class ScriptRun


cdef int ALLOW_OOM
cdef int NO_WRITES
cdef list NO_WORDS
cdef int64_t SLICE_NS
cdef int64_t LOADING_NS


cdef class Caller:
    cpdef object run_inside(self, Client client, list argv, ScriptRun run)
    cpdef count_error(self, object error)
    cpdef object may_run(self, Client client, list argv)
    cpdef suspend(self)


cdef class ScriptRun(Host):
    cdef public int64_t threshold_ns
    cdef readonly bint is_on
    cdef readonly Client client
    cdef readonly list argv
    cdef readonly bytes name
    cdef readonly int flags
    cdef readonly bint is_function
    cdef readonly bint is_read_only
    cdef readonly bint has_failed
    cdef public bint has_written
    cdef readonly bint ends
    cdef readonly int64_t started_ns
    cdef readonly object registry
    cdef public Caller caller
    cdef int64_t _ask_at_ns

    cpdef begin(self, Client client, list argv, bytes name, int flags, bint is_function)
    cpdef end(self)
    cpdef begin_loading(self, object registry)
    cpdef bint end_loading(self) except -1
    cpdef bint end_if_unwritten(self) except -1
