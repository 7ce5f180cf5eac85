cimport cython
from libc.stdint cimport int64_t

from server.parts.persistence cimport log_sums
from storage.rdb cimport raw

cdef int ASTERISK
cdef int DOLLAR
cdef int HASH
cdef int CR
cdef int LF
cdef int MAX_DIGITS
cdef Py_ssize_t AHEAD
cdef Py_ssize_t LINE
cdef int FOLLOWS
cdef int CAPITAL_E
cdef int CAPITAL_M
cdef int SMALL


cdef class LogReader:
    cdef readonly Py_ssize_t position
    cdef readonly Py_ssize_t summed
    cdef readonly Py_ssize_t summed_to
    cdef object _view
    cdef raw.Raw _data
    cdef Py_ssize_t _at
    cdef Py_ssize_t _end
    cdef Py_ssize_t _is_sure_to

    @cython.locals(count=int64_t, argv=list)
    cpdef list next(self)
    @cython.locals(line=Py_ssize_t)
    cpdef bint resume(self, object damage) except -1
    @cython.locals(start=Py_ssize_t, unit=Py_ssize_t, line=Py_ssize_t, in_multi=bint)
    cdef _survey(self)
    @cython.locals(at=Py_ssize_t, size=Py_ssize_t)
    cdef _compare(self, Py_ssize_t start)
    @cython.locals(size=Py_ssize_t)
    cdef Py_ssize_t _first_right(self, Py_ssize_t start, Py_ssize_t line) except -1
    @cython.locals(count=int64_t, index=int64_t, size=Py_ssize_t, first=int)
    cdef bint _pass(self, bint in_multi) except -1
    @cython.locals(at=Py_ssize_t)
    cdef _pass_annotation(self)
    @cython.locals(count=int64_t)
    cdef int64_t _count(self) except -1
    @cython.locals(size=Py_ssize_t)
    cdef bytes _word(self)
    @cython.locals(size=int64_t, at=Py_ssize_t)
    cdef Py_ssize_t _pass_word(self) except -1
    @cython.locals(at=Py_ssize_t, first=Py_ssize_t, number=int64_t)
    cdef int64_t _number(self, int mark) except -1
