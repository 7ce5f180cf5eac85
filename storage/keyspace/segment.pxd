cimport cython
from libc.stdint cimport int64_t, uint32_t

from storage cimport allocation, octets, types
from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.packed_bucket cimport PackedBucket
from storage.keyspace cimport item_octets
from storage.value_type cimport ValueType


# Not final, since Cython lets no final class override a method. Methods that are called here are.
@cython.no_gc
cdef class Segment(PackedBucket):
    cdef PackedBucket another(self, int local_depth)
    cdef Py_ssize_t end_of(self, Py_ssize_t offset) except -1
    @cython.locals(start=Py_ssize_t)
    cdef int drop_far_of(self, Py_ssize_t offset) except -1
    @cython.locals(start=Py_ssize_t, place=Py_ssize_t)
    cdef int take_far_of(self, PackedBucket source, Py_ssize_t offset, Py_ssize_t to) except -1

    @cython.final
    cdef Py_ssize_t kind_start(self, Py_ssize_t at) noexcept
    @cython.final
    cdef int kind_at(self, Py_ssize_t at) except -1
    @cython.final
    cdef object value_at(self, Py_ssize_t at)
    @cython.final
    @cython.locals(data=bytearray, kind=int)
    cdef object value_from(self, Py_ssize_t start)
    @cython.final
    @cython.locals(data=bytearray)
    cdef object _unpack(self, Py_ssize_t start)
    @cython.locals(start=Py_ssize_t)
    cdef object copy_at(self, Py_ssize_t at)
    @cython.final
    @cython.locals(text=bytes)
    cdef object unpacked(self, Py_ssize_t start)
    @cython.final
    @cython.locals(start=Py_ssize_t)
    cdef int64_t number_at(self, Py_ssize_t at) noexcept
    @cython.final
    @cython.locals(offset=Py_ssize_t, size=Py_ssize_t)
    cdef Py_ssize_t bytes_at(self, Py_ssize_t at) except -1
    @cython.final
    @cython.locals(key_at=Py_ssize_t)
    cdef uint32_t last_use_at(self, Py_ssize_t at) noexcept

    @cython.final
    @cython.locals(size=Py_ssize_t, behind=Py_ssize_t)
    cdef int insert(
        self, Py_ssize_t at, bytes key, int kind, object value, uint32_t prefix, uint32_t last_use
    ) except -1
    @cython.final
    @cython.locals(key_at=Py_ssize_t)
    cdef int use(self, Py_ssize_t at, uint32_t last_use) noexcept
    @cython.final
    @cython.locals(start=Py_ssize_t)
    cdef int replace(self, Py_ssize_t at, int kind, object value) except -1
    @cython.final
    @cython.locals(start=Py_ssize_t, row=ValueType, text=bytes)
    cdef int pack(self, Py_ssize_t at) except -1
    @cython.final
    @cython.locals(space=Py_ssize_t, old_space=Py_ssize_t, kept=Py_ssize_t,
                   offset=Py_ssize_t)
    cdef int rewrite(self, Py_ssize_t at, Py_ssize_t start, int kind, object value) except -1
    @cython.final
    @cython.locals(kind=type)
    cdef int kind_of(self, object value) except -1
    @cython.final
    @cython.locals(text=bytes)
    cdef Py_ssize_t _space_of(self, int kind, object value) except -1
    @cython.final
    @cython.locals(data=bytearray)
    cdef int _put_value(self, Py_ssize_t at, int kind, object value) except -1


cdef Py_ssize_t _kind_start(bytearray data, Py_ssize_t offset) noexcept
cdef Py_ssize_t _object_place(bytearray data, Py_ssize_t cell) noexcept
cdef uint32_t _object_of(bytearray data, Py_ssize_t cell) noexcept
