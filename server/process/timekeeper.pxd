cimport cython
from libc.stdint cimport int64_t

from server.process cimport ticks
from storage.keyspace.settings cimport Clock

cdef int64_t COMPARE_EVERY_NS
cdef int64_t AT_ONCE_NS
cdef int64_t SOON_NS
cdef int64_t COMPARABLE_NS


@cython.final
cdef class Timekeeper:
    cdef Clock _clock
    cdef object _server_clock
    cdef bint _asks
    cdef int64_t _looked_at
    cdef int64_t _ticks
    cdef int64_t _begun_ticks
    cdef int64_t _soon
    cdef int64_t _pace
    cdef int64_t _passed_ahead
    cdef int64_t _compared_at
    cdef int64_t _compared_ticks
    cdef int64_t _unix_ahead
    cdef int64_t _compare_at

    cpdef follow(self)
    cpdef begin(self)
    @cython.locals(now=int64_t)
    cpdef catch_up(self)
    @cython.locals(now=int64_t, passed=int64_t)
    cpdef int64_t lap(self) except? -1
    cpdef resume(self, int64_t ns)
    @cython.locals(passed_ns=int64_t)
    cpdef int64_t begun_ms(self) except? -1
    cpdef int64_t unix_us(self) except? -1
    cdef _compare(self)
    @cython.locals(passed=int64_t, counted=int64_t)
    cdef _find_pace(self)
