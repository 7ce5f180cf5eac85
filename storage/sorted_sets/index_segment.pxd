cimport cython
from libc.stdint cimport uint32_t

from octets cimport buffers
from storage cimport allocation, octets
from storage.hash_table cimport mark_octets
from storage.hash_table.bucket cimport Bucket
from storage.sorted_sets cimport score_octets
from storage.sorted_sets.leaf cimport Leaf

cdef Py_ssize_t NONE
cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t OBJECT


# Not final, since Cython lets no final class override a method. Methods that are called here are.
@cython.no_gc
cdef class IndexSegment(Bucket):
    cdef readonly list leaves

    @cython.final
    @cython.locals(at=Py_ssize_t)
    cdef Py_ssize_t find_mark(self, uint32_t prefix, uint32_t leaf) except -1
    @cython.final
    @cython.locals(before=Py_ssize_t)
    cdef int insert(self, uint32_t prefix, uint32_t leaf) except -1
    @cython.final
    @cython.locals(before=Py_ssize_t)
    cdef int remove(self, Py_ssize_t at) except -1

    cdef list keys(self, Py_ssize_t first, Py_ssize_t end)
    cdef list flat_items(self, Py_ssize_t first, Py_ssize_t end)
    @cython.final
    @cython.locals(found=list, at=Py_ssize_t, prefix=uint32_t, leaf=Leaf, place=Py_ssize_t)
    cdef list _members(self, Py_ssize_t first, Py_ssize_t end, bint with_scores)
    @cython.final
    @cython.locals(prefix=uint32_t, number=uint32_t)
    cdef bint _is_again(self, Py_ssize_t first, Py_ssize_t at) except -1

    cdef bint is_long(self) except -1
    cdef bint may_join(self, Bucket after) except -1
    @cython.locals(part=IndexSegment)
    cdef Bucket part(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(joined=IndexSegment)
    cdef Bucket joined(self, Bucket after)
    @cython.final
    @cython.locals(before=Py_ssize_t, here=Py_ssize_t, size=Py_ssize_t)
    cdef int _take(self, Bucket source, Py_ssize_t first, Py_ssize_t end) except -1
