cimport cython
from libc.stdint cimport int64_t

cdef int64_t _NEVER
cdef Py_ssize_t _MANY_STALE


@cython.final
cdef class DueKeys:
    cdef list _due
    cdef dict _times

    cpdef put(self, bytes key, int64_t at_ms)
    @cython.locals(at_ms=int64_t, key=bytes)
    cdef _drop_stale(self)
    cpdef put_first(self, bytes key, int64_t at_ms)
    cpdef discard(self, bytes key)
    @cython.locals(at_ms=int64_t, key=bytes)
    cpdef tuple first(self)
    @cython.locals(found=tuple)
    cpdef int64_t first_ms(self) except -1
    @cython.locals(key=bytes)
    cpdef list take_due(self, int64_t now_ms, Py_ssize_t most)
    cpdef list take_all(self)
    cpdef clear(self)
