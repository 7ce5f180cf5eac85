cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation, octets
from storage.hash_table cimport packed_octets
from storage.sorted_sets cimport score_octets
from storage.sorted_sets.bound cimport Bound
from storage.sorted_sets.leaf cimport Leaf

cdef Py_ssize_t MOST
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t OBJECT


@cython.final
@cython.no_gc
cdef class Branch:
    cdef readonly list children
    cdef readonly bytearray marks
    cdef readonly Py_ssize_t size
    cdef readonly int height

    cdef int64_t _room(self) except -1
    @cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t)
    cdef Py_ssize_t child_before(self, Bound bound, list leaves) except -1
    @cython.locals(score=double, leaf=Leaf)
    cdef bint _begins_before(self, Bound bound, Py_ssize_t at, list leaves) except -1
    @cython.locals(members=Py_ssize_t, child=Py_ssize_t)
    cdef Py_ssize_t members_before(self, Py_ssize_t at) except -1
    @cython.locals(at=Py_ssize_t)
    cdef Py_ssize_t child_of(self, Py_ssize_t rank) except -1

    @cython.locals(before=int64_t)
    cdef int insert(self, Py_ssize_t at, object child) except -1
    @cython.locals(before=int64_t)
    cdef int remove(self, Py_ssize_t at) except -1
    @cython.locals(leaf=Leaf, branch=Branch, members=Py_ssize_t, score=double, first=Py_ssize_t)
    cdef int refresh(self, Py_ssize_t at) except -1
    @cython.locals(moved=Branch, half=Py_ssize_t)
    cdef Branch split(self)
    cdef int take(self, Branch after) except -1
    cdef bint is_long(self) except -1
    cdef bint may_join(self, Branch after) except -1
