cimport cython
from libc.stdint cimport int64_t

from server.commands.streams cimport stream_args
from server.commands.streams.stream_args cimport Trim
from server.dispatch.call cimport Call
from server.table.args cimport Args, to_int
from storage cimport octets
from storage.stream cimport stream_id
from storage.stream.stream_id cimport StreamId

cdef int64_t _LATEST_MS


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Once:
    cdef readonly list words
    cdef readonly bytes producer
    cdef readonly bytes name

    @cython.locals(at=Py_ssize_t)
    cpdef bint take(self, Args args) except -1
    cdef int _check_once(self) except -1
    cpdef int check(self, Call call, StreamId wanted) except -1


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Delay:
    cdef readonly int64_t due_ms
    cdef readonly int64_t number


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class AddOptions:
    cdef readonly Py_ssize_t id_at
    cdef readonly StreamId wanted
    cdef readonly bint may_create
    cdef readonly StreamId last
    cdef readonly Trim trim
    cdef readonly Once once
    cdef readonly Delay delay
    cdef readonly int64_t expire_ms

    @cython.locals(trim=Trim, args=Args, unlogged=list)
    cdef read(self, Call call)
    cdef bint _take(self, Call call, Args args, list unlogged) except -1
    cdef int _check_delayed(self, Trim trim) except -1


@cython.locals(made=AddOptions)
cpdef AddOptions read_add_options(Call call)
cdef list _without(list argv, list places)
@cython.locals(expire_ms=int64_t)
cpdef int64_t expiry_of(bytes text) except -1
@cython.locals(word=bytes)
cdef bint _is_once(Args args) except -1
@cython.locals(word=bytes)
cdef bint _is_delay(Args args) except -1
