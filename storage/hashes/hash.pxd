cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Listpack
from storage.limits cimport ListpackLimits

cdef Py_ssize_t NONE
cdef Py_ssize_t HEADS
cdef Py_ssize_t MOST
cdef Py_ssize_t OBJECT
cdef Py_ssize_t FEW

cdef bint _has_room(
    Listpack pack, Py_ssize_t field, Py_ssize_t value, ListpackLimits limits
) noexcept


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Hash:
    cdef readonly Listpack pack
    cdef readonly PackedTable table
    cdef readonly object timed

    cpdef Py_ssize_t length(self) except -1
    @cython.locals(pack=Listpack, at=Py_ssize_t)
    cpdef bytes get(self, bytes field)
    cpdef bint has(self, bytes field) except -1
    @cython.locals(pack=Listpack, at=Py_ssize_t)
    cpdef bint set(self, bytes field, bytes value, ListpackLimits limits) except -1
    @cython.locals(added=Py_ssize_t, at=Py_ssize_t)
    cpdef Py_ssize_t put(self, list words, Py_ssize_t first, ListpackLimits limits) except -1
    @cython.locals(pack=Listpack, at=Py_ssize_t)
    cpdef bint remove(self, bytes field) except -1
    cpdef bint set_keeping_time(self, bytes field, bytes value, ListpackLimits limits) except -1
    cdef bint _set_timed(
        self, bytes field, bytes value, ListpackLimits limits, bint keeps_time
    ) except -1
    cpdef tuple scan(self, uint64_t cursor, Py_ssize_t count)
    @cython.locals(made=Hash)
    cpdef Hash copy(self)
    @cython.locals(table=PackedTable)
    cpdef PackedTable as_table(self)
    cpdef int shrink(self) except -1


@cython.locals(made=Hash)
cpdef Hash of_pack(Listpack pack)
