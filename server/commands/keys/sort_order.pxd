cimport cython

from server.dispatch.call cimport Call
from storage cimport octets
from storage.hashes.hash cimport Hash
from storage.keyspace.keyspace cimport Keyspace

cdef Py_ssize_t EXACT_DIGITS


@cython.locals(first=Py_ssize_t, end=Py_ssize_t, rows=list)
cpdef list by_number(list elements, list texts, bint descending)
cdef double _double(bytes text) except? -1


@cython.final
@cython.no_gc
cdef class Pattern:
    cdef bytes _before
    cdef bytes _behind
    cdef bytes _field
    cdef bint _is_itself
    cdef bint _names_keys

    cpdef bytes lookup(self, Call call, bytes element)
