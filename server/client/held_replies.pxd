cimport cython
from libc.stdint cimport int64_t


cdef class Level:
    cdef readonly int64_t wanted
    cdef readonly bint fsync
    cdef public int64_t confirmed
    cdef public int64_t users


cdef class Portion:
    cdef readonly Level level
    cdef public bytes data
    cdef public list marks
    cdef public int64_t offset
    cdef readonly int64_t due_ms
    cdef readonly int64_t timeout_ms

    cpdef bint is_confirmed(self) except -1


cdef class HeldReplies:
    cdef public Level level
    cdef public int64_t timeout_ms
    cdef public int64_t seen
    cdef readonly list former
    cdef public bint is_on
    cdef public bint stops
    cdef public bint reads
    cdef public int64_t needs
    cdef list _marks
    cdef int64_t _last
    cdef Py_ssize_t _apart
    cdef readonly object portions
    cdef readonly Py_ssize_t held_bytes

    @cython.locals(marks=list)
    cpdef mark(self, Py_ssize_t start, Py_ssize_t end)
    cpdef forget_marks(self)
    @cython.locals(portion=Portion)
    cpdef refuse(self)
    cpdef leave(self)
    @cython.locals(confirmed=int64_t, at=Py_ssize_t)
    cpdef Py_ssize_t first_waiting(self) except -2
    @cython.locals(marks=list)
    cpdef hold(self, bytes data, Py_ssize_t start, int64_t now_ms)
    cpdef set_apart(self, bytes data, Py_ssize_t start, int64_t now_ms)
    cdef _add(self, bytes data, list marks, int64_t offset, int64_t now_ms)
    cpdef bint is_empty(self) except -1
    @cython.locals(first=Portion)
    cpdef bint is_confirmed(self) except -1
    @cython.locals(portion=Portion)
    cpdef bytes take_confirmed(self)
    @cython.locals(portion=Portion)
    cpdef object fail(self, int64_t before_ms, bytes error)
    cdef object _fail_portion(self, Portion portion, bytes error)


cdef Py_ssize_t _size_of(bytes data, list marks)
cdef list _moved(list marks, Py_ssize_t start)
