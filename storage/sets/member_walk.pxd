cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from storage cimport octets
from storage.hash_table.packed_iterator cimport PackedIterator
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Element, Listpack
from storage.sets cimport intset

cdef Py_ssize_t NONE


@cython.final
cdef class MemberWalk:
    cdef readonly bint is_int
    cdef readonly int64_t number
    cdef readonly bytes whole
    cdef readonly bytearray data
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t _at
    cdef Py_ssize_t _left
    cdef bytes _numbers
    cdef Listpack _pack
    cdef Element _element
    cdef PackedIterator _table

    cpdef bint next(self) except -1
    @cython.locals(element=Element)
    cdef bint _next_in_listpack(self, Listpack pack) except -1
    cdef bint _next_in_table(self, PackedIterator table) except -1
    cpdef bytes value(self)
