cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport octets
from storage.listpack cimport element_octets
from storage.listpack.listpack cimport Listpack
from storage.stream.stream_iterator cimport StreamIterator


cdef Py_ssize_t MANY_FIELDS


@cython.final
@cython.no_gc
cdef class EntryFilter:
    cdef bytes _name
    cdef bint _name_is_number
    cdef int64_t _name_number
    cdef list _texts
    cdef list _numbers
    cdef object _many
    cdef bytes _digest
    cdef Listpack _node
    cdef list _names_at
    cdef readonly int64_t left
    cdef readonly bint is_cut
    cdef public int64_t looks
    cdef readonly int64_t passed
    cdef readonly uint64_t first_ms
    cdef readonly uint64_t first_seq
    cdef readonly uint64_t last_ms
    cdef readonly uint64_t last_seq

    cpdef int rest(self) except -1
    cpdef bytes digest(self)
    cpdef begin_again(self, int64_t left)
    cpdef bint may_look(self) noexcept
    cpdef bint find(self, StreamIterator entry) except -1
    @cython.locals(node=Listpack, data=bytearray, at=Py_ssize_t, behind=Py_ssize_t,
                   field=Py_ssize_t, value_at=Py_ssize_t)
    cpdef bint matches(self, StreamIterator entry) except -1
    @cython.locals(at=Py_ssize_t, field=Py_ssize_t)
    cdef int _find_name(self, StreamIterator entry, Listpack node) except -1
    cdef bint _is_name(self, bytearray data, Py_ssize_t at) except -1
    @cython.locals(data=bytearray, text=bytes, number=int64_t, wanted=int64_t)
    cdef bint _has_value(self, Listpack node, Py_ssize_t at) except -1


@cython.locals(head=Py_ssize_t, size=Py_ssize_t)
cdef bint _is_text(bytearray data, Py_ssize_t at, bytes text) except -1
