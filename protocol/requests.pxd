cimport cython
from libc.stdint cimport int64_t

from protocol cimport octets

cdef int64_t MAX_ARGS
cdef Py_ssize_t MAX_BULK
cdef Py_ssize_t MAX_LINE
cdef int64_t MAX_ARGS_UNAUTHENTICATED
cdef int64_t MAX_BULK_UNAUTHENTICATED
cdef Py_ssize_t COLLECT_FROM
cdef int CR
cdef int LF
cdef int STAR
cdef int DOLLAR


@cython.final
cdef class RequestParser:
    cdef public Py_ssize_t max_bulk
    cdef public bint authenticated
    cdef bytes _data
    cdef Py_ssize_t _at
    cdef list _argv
    cdef Py_ssize_t _missing
    cdef Py_ssize_t _bulk
    cdef bytearray _collected
    cdef bint _dead

    cpdef Py_ssize_t buffered(self) except -1
    cpdef feed(self, bytes data)
    @cython.locals(argv=list, words=list)
    cpdef list take(self)
    @cython.locals(end=Py_ssize_t, count=int64_t)
    cdef bint _take_count(self) except -1
    @cython.locals(end=Py_ssize_t)
    cdef bint _take_words(self) except -1
    @cython.locals(end=Py_ssize_t, length=int64_t)
    cdef bint _take_length(self) except -1
    cdef _begin_collecting(self)
    @cython.locals(collected=bytearray)
    cdef bint _take_collected(self) except -1
    @cython.locals(end=Py_ssize_t)
    cdef Py_ssize_t _line_end(self, str too_long) except? -2
    @cython.locals(end=Py_ssize_t, line=bytes)
    cdef list _take_inline(self)
