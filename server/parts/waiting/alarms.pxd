cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Waiter

cdef Py_ssize_t _MANY_STALE


@cython.final
cdef class Alarms:
    cdef list _alarms
    cdef object _serial
    cdef Py_ssize_t _stale

    cdef bint set(self, int64_t at_ms, Waiter waiter, bint ends) except -1
    cdef int given_up(self, Py_ssize_t number) except -1
    cdef object next_ms(self)
    @cython.locals(alarm=tuple)
    cdef tuple first(self, int64_t now_ms)
    cdef int take_first(self) except -1


@cython.locals(waiter=Waiter, at_ms=int64_t, ends=bint)
cdef bint _is_live(tuple alarm) except -1
