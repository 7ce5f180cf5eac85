cimport cython
from libc.stdint cimport int64_t

from storage.geo cimport place_marks
from storage.geo.area cimport Area
from storage.geo.places cimport Places
from storage.listpack.listpack cimport Element, Listpack
from storage.sorted_sets cimport bound, score_listpack, score_octets
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.score_tree cimport ScoreTree
from storage.sorted_sets.sorted_set cimport SortedSet

cdef Py_ssize_t NONE
cdef int LEAF_SHIFT
cdef int64_t AT_MASK

@cython.locals(found=Places, marks=bytearray, low=double, high=double)
cpdef Places find(SortedSet values, Area area, Py_ssize_t most)
@cython.locals(rank=Py_ssize_t, spot=int64_t, number=int64_t, at=Py_ssize_t, leaf=Leaf,
               end=Py_ssize_t, score=double, distance=double)
cdef void _find_in_tree(
    Places found, ScoreTree tree, Area area, double low, double high, Py_ssize_t most
) except *
@cython.locals(marks=bytearray, element=Element, at=Py_ssize_t, number=Py_ssize_t,
               behind=Py_ssize_t, score=double)
cdef bytearray _marks_of(Listpack pack)
@cython.locals(at=Py_ssize_t, score=double, distance=double)
cdef void _find_in_marks(
    Places found, bytearray marks, Area area, double low, double high, Py_ssize_t most
) except *
