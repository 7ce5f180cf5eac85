cimport cython
from libc.stdint cimport int64_t, uint32_t

from storage cimport allocation, octets
from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.bucket cimport Bucket

cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t SPLIT_ABOVE_BYTES
cdef Py_ssize_t MERGE_UP_TO_BYTES
cdef Py_ssize_t HOLES_SHARE
cdef Py_ssize_t OBJECT


# Not final, since Cython lets no final class override a method. Methods that are called here are.
@cython.no_gc
cdef class PackedSegment(Bucket):
    cdef readonly uint32_t holes
    cdef readonly bytearray data
    cdef readonly list far
    cdef int64_t _held

    @cython.final
    cdef int _grew(self, int64_t size) except -1
    @cython.final
    cdef int64_t _room(self) except -1

    @cython.locals(marks=bytearray, data=bytearray, guess=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t find(self, bytes key, uint32_t prefix) except? -1
    @cython.final
    cdef bytes key_at(self, Py_ssize_t at)
    @cython.final
    cdef bytes value_at(self, Py_ssize_t at)
    @cython.final
    cdef Py_ssize_t _value_start(self, Py_ssize_t at) noexcept
    @cython.locals(keys=list, at=Py_ssize_t)
    cdef list keys(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(items=list, at=Py_ssize_t)
    cdef list flat_items(self, Py_ssize_t first, Py_ssize_t end)

    @cython.locals(before=int64_t, data=bytearray, offset=Py_ssize_t, space=Py_ssize_t)
    cdef int insert(self, Py_ssize_t at, bytes key, bytes value, uint32_t prefix) except -1
    @cython.locals(start=Py_ssize_t, data=bytearray, size=Py_ssize_t, was_far=bint)
    cdef int replace(self, Py_ssize_t at, bytes value) except -1
    @cython.final
    @cython.locals(before=int64_t, data=bytearray, offset=Py_ssize_t, old_end=Py_ssize_t,
                   size=Py_ssize_t, space=Py_ssize_t)
    cdef int _renew(self, Py_ssize_t at, Py_ssize_t start, bytes value) except -1
    @cython.locals(before=int64_t, data=bytearray, offset=Py_ssize_t, start=Py_ssize_t,
                   end=Py_ssize_t)
    cdef int remove(self, Py_ssize_t at) except -1
    @cython.final
    cdef Py_ssize_t _put(self, Py_ssize_t at, bytes text) except -1

    @cython.final
    @cython.locals(far=list, number=Py_ssize_t)
    cdef Py_ssize_t _add_far(self, bytes text) except -1
    @cython.final
    @cython.locals(far=list)
    cdef int _replace_far(self, Py_ssize_t number, bytes text) except -1
    @cython.final
    @cython.locals(far=list)
    cdef int _drop_far(self, Py_ssize_t number) except -1
    @cython.final
    cdef int _drop_text(self, Py_ssize_t at) except -1

    @cython.final
    cdef int _pack_if_holey(self) except -1
    @cython.final
    @cython.locals(packed=PackedSegment)
    cdef int _pack(self) except -1
    @cython.final
    @cython.locals(before=int64_t, marks=bytearray, at=Py_ssize_t, offset=Py_ssize_t,
                   number=Py_ssize_t)
    cdef int _take(self, PackedSegment source, Py_ssize_t first, Py_ssize_t end) except -1
    @cython.final
    @cython.locals(data=bytearray, start=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t _take_item(
        self, PackedSegment source, Py_ssize_t at, Py_ssize_t to
    ) except -1
    @cython.final
    @cython.locals(text=bytes)
    cdef int _take_far(self, PackedSegment source, Py_ssize_t at, Py_ssize_t to) except -1
    @cython.final
    @cython.locals(size=Py_ssize_t, at=Py_ssize_t)
    cdef Py_ssize_t _size_of(self, Py_ssize_t first, Py_ssize_t end) except -1

    @cython.final
    cdef Py_ssize_t _live(self) noexcept
    cdef bint is_long(self) except -1
    cdef bint is_short(self) except -1
    @cython.locals(other=PackedSegment, items=Py_ssize_t)
    cdef bint may_join(self, Bucket after) except -1
    @cython.locals(part=PackedSegment)
    cdef Bucket part(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(joined=PackedSegment, other=PackedSegment)
    cdef Bucket joined(self, Bucket after)
    @cython.locals(copy=PackedSegment)
    cdef PackedSegment copy(self)
