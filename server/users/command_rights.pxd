cimport cython

from server.table.command cimport Command

cdef int NO_AUTH


@cython.final
cdef class CommandRights:
    cdef bint _everything
    cdef set _exceptions
    cdef dict _first_words
    cdef dict _rules
    cdef dict _parts

    @cython.locals(other=CommandRights)
    cpdef CommandRights copy(self)
    cpdef bint allow(self, Command command, list argv) except -1
