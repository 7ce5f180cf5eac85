cimport cython

from server.table.command cimport Command


@cython.final
cdef class CommandLookup:
    cdef dict _spellings
    cdef bytes _name
    cdef Command _named
    cdef bytes _called_name
    cdef Command _called

    @cython.locals(command=Command)
    cdef Command named(self, bytes name)
    @cython.locals(command=Command)
    cdef Command called(self, bytes name)
    @cython.locals(command=Command, child=Command)
    cpdef object find(self, list argv, bint logged=*)
    cpdef Command find_any(self, list argv)
