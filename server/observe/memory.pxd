cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.observe.part cimport Part
from storage cimport allocation


@cython.final
cdef class Memory(Part):
    cdef public int64_t limit
    cdef readonly int64_t clients_limit
    cdef public int64_t clients
    cdef public int64_t log
    cdef public int64_t scripts
    cdef public int64_t readers
    cdef readonly int64_t peak
    cdef readonly int64_t peak_s
    cdef int64_t _noted_peak
    cdef readonly int64_t startup

    cpdef hold(self, Client client, int64_t size)
    cpdef int64_t used(self) noexcept
    cpdef bint exceeded(self) noexcept
