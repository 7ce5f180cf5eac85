cimport cython

from protocol.encoder cimport Encoder
from protocol.requests cimport RequestParser
from server.table.command cimport Command

cdef Py_ssize_t MANY
cdef int RUNS_SCRIPTS


@cython.final
cdef class CommandQueue:
    cdef readonly list commands
    cdef readonly int flags
    cdef readonly int shared_flags
    cdef list _recent
    cdef Encoder _packed
    cdef RequestParser _words
    cdef Py_ssize_t _taken
    cdef Py_ssize_t _counted
    cdef Py_ssize_t _counted_bytes

    @cython.locals(word=bytes)
    cpdef Py_ssize_t size(self) except -1
    cpdef Py_ssize_t memory(self) except -1
    cpdef append(self, Command command, list argv, int flags)
    @cython.locals(command=Command, argv=list, count=Py_ssize_t, is_one_of_many=bint)
    cpdef Py_ssize_t take_alike(self, RequestParser parser) except -1
    @cython.locals(argv=list, word=bytes)
    cdef _pack(self)
    @cython.locals(words=list)
    cpdef list next_words(self)
