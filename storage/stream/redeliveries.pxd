cimport cython
from libc.stdint cimport int64_t

from storage.rax.rax cimport Rax
from storage.stream cimport stream_id


@cython.final
@cython.no_gc
cdef class Redeliveries:
    cdef Rax _times

    cpdef int note(self, bytes key, int64_t deliveries, int64_t time, bint is_owned) except -1
    cpdef object first(self, bytes key)
    cpdef int forget(self, bytes key) except -1
    cpdef int keep_only(self, Rax pel) except -1
