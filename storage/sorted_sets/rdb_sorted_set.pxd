cimport cython

from storage cimport borrowed_listpack
from storage.listpack.listpack cimport Listpack
from storage.limits cimport ListpackLimits
from storage.rdb cimport borrowed, raw
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.sorted_sets cimport borrowed_sorted_set
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.sorted_set cimport SortedSet

cdef Py_ssize_t NONE

cpdef int write_pack(RdbWriter writer, Listpack pack) except -1
cpdef int write_leaf(RdbWriter writer, Leaf leaf) except -1
cdef int write_borrowed_pack(RdbWriter writer, borrowed.Borrowed pack) except -1
@cython.locals(leaf=borrowed.Borrowed)
cdef int write_borrowed_tree(RdbWriter writer, borrowed.Borrowed tree) except -1
@cython.locals(at=Py_ssize_t, member=borrowed_sorted_set.Text)
cdef int _write_leaf(RdbWriter writer, borrowed.Borrowed leaf) except -1

@cython.locals(pack=Listpack)
cpdef SortedSet read(RdbReader reader, int code, ListpackLimits limits)
@cython.locals(made=SortedSet)
cdef SortedSet _of_pack(Listpack pack, ListpackLimits limits)
@cython.locals(members=set, at=Py_ssize_t, behind=Py_ssize_t, pair=tuple)
cdef int _check_pairs(Listpack pack) except -1
@cython.locals(made=SortedSet, count=Py_ssize_t, member=bytes, score=double)
cdef SortedSet _of_pairs(RdbReader reader, int code, ListpackLimits limits)
