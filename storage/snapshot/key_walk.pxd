cimport cython
from libc.stdint cimport int64_t

from storage cimport types
from storage.hash_table cimport borrowed_packed
from storage.keyspace cimport item_octets
from storage.keyspace.key_table cimport KeyTable
from storage.rdb cimport borrowed, raw
from storage.snapshot cimport borrowed_table


@cython.final
cdef class KeyWalk:
    cdef borrowed.Borrowed key
    cdef borrowed.Borrowed value
    cdef KeyTable _table
    cdef borrowed.Borrowed _segment
    cdef Py_ssize_t _slot
    cdef Py_ssize_t _at
    cdef bytes _key
    cdef object _copy

    @cython.locals(kind=int)
    cpdef bint step(self) except -1
    cdef object _copy_of_value(self, int kind)
    @cython.locals(slots=Py_ssize_t, table=borrowed.Borrowed)
    cdef bint _next_segment(self) except -1
    cpdef int64_t last_use(self) except -1
    cpdef bytes current_key(self)
    cpdef object current_value(self)


cdef bytes _copy(borrowed_packed.Text text)
