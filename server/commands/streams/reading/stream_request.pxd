cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Waiter
from server.dispatch.call cimport Call
from server.table.args cimport Args, to_timeout_ms
from storage cimport octets
from storage.stream.entry_filter cimport EntryFilter


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Request:
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t max_count
    cdef readonly Py_ssize_t max_size
    cdef readonly Py_ssize_t given
    cdef readonly bint is_full
    cdef readonly object block_ms
    cdef readonly bytes group
    cdef readonly bytes consumer
    cdef readonly bint noack
    cdef readonly bint makes_groups
    cdef readonly bint nofields
    cdef readonly list patterns
    cdef readonly bint priority
    cdef public object look
    cdef public bint reads_on
    cdef readonly bint tells_deadline
    cdef readonly bint tells_fence
    cdef readonly int64_t min_idle
    cdef readonly list keys
    cdef readonly EntryFilter where
    cdef readonly Py_ssize_t ids_at

    @cython.locals(left=Py_ssize_t)
    cpdef Py_ssize_t count_now(self) except -1
    cpdef bint tell(self, bytes word) except -1
    cpdef int begin_again(self) except -1
    cpdef bint goes_on(self) except -1
    cpdef int note(self, Py_ssize_t given, bint has_room) except -1


cdef int _WOKEN

@cython.locals(waiter=Waiter, request=Request)
cpdef Request request_of(Call call, bint with_group)
@cython.locals(request=Request, args=Args, left=Py_ssize_t, word=bytes)
cpdef Request take_request(list argv, bint with_group, int64_t now_ms, bint is_inside=*)
@cython.locals(pattern=bytes)
cdef int _check_size(list patterns) except -1
cdef int _check_patterns(Request request) except -1
cdef bint _take_own_word(
    Request request, Args args, bytes word, bint with_group, bint is_inside
) except -1
@cython.locals(count=Py_ssize_t)
cdef EntryFilter _take_where(Args args, int64_t looks)
