cimport cython
from libc.stdint cimport int64_t, uint32_t

from octets cimport buffers
from storage cimport allocation, octets
from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.bucket cimport Bucket

cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t SPLIT_ABOVE_BYTES
cdef Py_ssize_t MERGE_UP_TO_BYTES
cdef Py_ssize_t HOLES_SHARE
cdef Py_ssize_t OBJECT


# Methods that no kind of bucket overrides are final: calls of them are direct.
@cython.no_gc
cdef class PackedBucket(Bucket):
    cdef readonly uint32_t holes
    cdef readonly uint32_t free
    cdef readonly bytearray data
    cdef readonly list far

    @cython.final
    cdef int64_t _room(self) except -1

    cdef PackedBucket another(self, int local_depth)
    cdef Py_ssize_t end_of(self, Py_ssize_t offset) except -1
    cdef int drop_far_of(self, Py_ssize_t offset) except -1
    cdef int take_far_of(self, PackedBucket source, Py_ssize_t offset, Py_ssize_t to) except -1
    cdef object copy_at(self, Py_ssize_t at)

    @cython.final
    @cython.locals(marks=bytearray, data=bytearray, guess=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t find(self, bytes key, uint32_t prefix) except? -1
    @cython.final
    cdef bytes key_at(self, Py_ssize_t at)
    @cython.locals(keys=list, at=Py_ssize_t)
    cdef list keys(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(items=list, at=Py_ssize_t)
    cdef list flat_items(self, Py_ssize_t first, Py_ssize_t end)

    @cython.final
    @cython.locals(before=int64_t, offset=Py_ssize_t)
    cdef Py_ssize_t add_item(self, Py_ssize_t at, uint32_t prefix, Py_ssize_t size) except -1
    @cython.final
    @cython.locals(before=int64_t, data=bytearray, offset=Py_ssize_t, old_end=Py_ssize_t,
                   end=Py_ssize_t)
    cdef Py_ssize_t move_item(self, Py_ssize_t at, Py_ssize_t kept, Py_ssize_t size) except -1
    @cython.final
    @cython.locals(before=int64_t, offset=Py_ssize_t, end=Py_ssize_t)
    cdef int remove(self, Py_ssize_t at) except -1

    @cython.final
    cdef Py_ssize_t put_text(self, Py_ssize_t at, bytes text) except -1
    @cython.final
    cdef int drop_text(self, Py_ssize_t at) except -1
    @cython.final
    cdef int take_text(self, PackedBucket source, Py_ssize_t at, Py_ssize_t to) except -1

    @cython.final
    @cython.locals(far=list)
    cdef object far_at(self, Py_ssize_t number)
    @cython.final
    @cython.locals(far=list, before=int64_t)
    cdef Py_ssize_t add_far(self, object thing) except -1
    @cython.final
    @cython.locals(far=list, number=Py_ssize_t)
    cdef Py_ssize_t _add_far_again(self, object thing) except -1
    @cython.final
    @cython.locals(far=list)
    cdef int replace_far(self, Py_ssize_t number, object thing) except -1
    @cython.final
    @cython.locals(far=list)
    cdef int drop_far(self, Py_ssize_t number) except -1
    @cython.final
    cdef int take_far(self, PackedBucket source, Py_ssize_t number, Py_ssize_t to) except -1

    @cython.final
    cdef int pack_if_holey(self) except -1
    @cython.final
    @cython.locals(packed=PackedBucket)
    cdef int _pack(self) except -1
    @cython.final
    @cython.locals(before=int64_t, marks=bytearray, at=Py_ssize_t, offset=Py_ssize_t,
                   number=Py_ssize_t)
    cdef int take_items(
        self, PackedBucket source, Py_ssize_t first, Py_ssize_t end, Py_ssize_t size
    ) except -1
    @cython.final
    @cython.locals(size=Py_ssize_t)
    cdef Py_ssize_t _take_item(
        self, PackedBucket source, Py_ssize_t at, Py_ssize_t to
    ) except -1
    @cython.final
    @cython.locals(size=Py_ssize_t, at=Py_ssize_t, offset=Py_ssize_t)
    cdef Py_ssize_t _size_of(self, Py_ssize_t first, Py_ssize_t end) except -1

    @cython.final
    cdef Py_ssize_t _live(self) noexcept
    cdef bint is_long(self) except -1
    @cython.final
    cdef bint is_short(self) except -1
    @cython.locals(other=PackedBucket, items=Py_ssize_t)
    cdef bint may_join(self, Bucket after) except -1
    @cython.locals(part=PackedBucket)
    cdef Bucket part(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(joined=PackedBucket, other=PackedBucket)
    cdef Bucket joined(self, Bucket after)
    @cython.final
    @cython.locals(copy=PackedBucket)
    cdef PackedBucket copy(self)
