cimport cython
from libc.stdint cimport int64_t

from storage.rdb cimport raw

cdef int ASTERISK
cdef int DOLLAR
cdef int HASH
cdef int CR
cdef int LF
cdef int MAX_DIGITS


cdef class LogReader:
    cdef readonly Py_ssize_t position
    cdef object _view
    cdef raw.Raw _data
    cdef Py_ssize_t _at
    cdef Py_ssize_t _end

    @cython.locals(count=int64_t, argv=list)
    cpdef list next(self)
    @cython.locals(at=Py_ssize_t)
    cdef _skip_annotation(self)
    @cython.locals(size=int64_t, at=Py_ssize_t)
    cdef bytes _word(self)
    @cython.locals(at=Py_ssize_t, first=Py_ssize_t, number=int64_t)
    cdef int64_t _number(self, int mark) except -1
