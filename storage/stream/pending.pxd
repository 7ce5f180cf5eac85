cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation, octets
from storage.rax.rax cimport Rax
from storage.stream cimport links
from storage.stream cimport stream_id
from storage.stream.stream_id cimport StreamId

cdef uint32_t _MOST
cdef int64_t _MANY
cdef Py_ssize_t OBJECT


@cython.final
cdef class Pending:
    cdef readonly uint64_t ms
    cdef readonly uint64_t seq
    cdef PyObject* older_link
    cdef PyObject* newer_link
    cdef public int64_t delivery_time
    cdef readonly uint32_t delivery_count
    cdef readonly uint32_t consumer_index


@cython.locals(made=Pending)
cpdef Pending new_pending(uint64_t ms, uint64_t seq, int64_t delivery_time, uint32_t count, uint32_t consumer_index)
cpdef StreamId id_of(Pending pending)
cpdef int count_up(Pending pending) except -1
cpdef int count_down(Pending pending) except -1
cpdef int set_count(Pending pending, object count) except -1
cpdef int64_t count_of(Pending pending) except -1


cdef bytes _held_key(Pending pending)


@cython.final
@cython.no_gc
cdef class DeliveryQueue:
    cdef PyObject* _oldest
    cdef PyObject* _newest
    cdef PyObject* _last_released
    cdef Rax _held

    @cython.locals(older=Pending)
    cpdef int add(self, Pending pending) except -1
    cpdef int release(self, Pending pending) except -1
    cpdef int hold(self, Pending pending, int64_t until_ms) except -1
    @cython.locals(pending=Pending)
    cpdef int ripen(self, int64_t now_ms, int64_t most) except -1
    cpdef Pending first_held(self)
    cpdef list held(self)
    cpdef bint is_held(self, Pending pending) except -1
    @cython.locals(held=Rax)
    cdef int _let_go(self, Pending pending) except -1
    @cython.locals(newer=Pending)
    cdef int _insert(self, Pending older, Pending pending) except -1
    cpdef int remove(self, Pending pending) except -1
    cdef int _take_out(self, Pending pending) except -1
    cdef int _join(self, Pending older, Pending newer) except -1
    cpdef bint has_released(self) except -1
    @cython.locals(pending=Pending, newer=Pending)
    cpdef int clear(self) except -1
