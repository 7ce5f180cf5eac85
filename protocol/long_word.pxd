cimport cython

from protocol cimport word_memory

cdef Py_ssize_t LEAST_ROOM
cdef Py_ssize_t GROWTH
cdef Py_ssize_t MOST_AT_ONCE


@cython.final
cdef class LongWord:
    cdef list _memory
    cdef Py_ssize_t _size
    cdef Py_ssize_t _room
    cdef readonly Py_ssize_t filled

    @cython.locals(size=Py_ssize_t)
    cpdef Py_ssize_t take(self, bytes data, Py_ssize_t start) except -1
    @cython.locals(end=Py_ssize_t)
    cpdef get_buffer(self)
    cpdef buffer_updated(self, Py_ssize_t size)
    cpdef Py_ssize_t room(self) noexcept
    cpdef bint is_whole(self) noexcept
    cpdef bytes finish(self)
    @cython.locals(room=Py_ssize_t)
    cdef _make_room(self, Py_ssize_t least)
