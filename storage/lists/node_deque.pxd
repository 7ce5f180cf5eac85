cimport cython
from libc.stdint cimport int16_t, uint8_t

from storage.listpack.listpack cimport Listpack

@cython.locals(pack=Listpack)
cpdef Py_ssize_t count_of(object node) except -1


@cython.no_gc  # it holds listpacks and bytes: no cycles
@cython.freelist(16)
cdef class NodeDeque:
    cdef object _head
    cdef object _tail
    cdef list _nodes
    cdef readonly Py_ssize_t length
    cdef int _gap
    cdef readonly int16_t fill
    cdef uint8_t _outgrown

    cdef int _clear(self) except -1
    @cython.locals(nodes=list)
    cdef int _push_node_left(self, object node) except -1
    cdef int _push_node_right(self, object node) except -1
    cdef list _several(self)
    @cython.locals(nodes=list)
    cdef int _drop_head(self) except -1
    @cython.locals(nodes=list)
    cdef int _drop_tail(self) except -1
    cdef list _unfold(self)
    cdef int _fold(self, list nodes) except -1
    @cython.locals(nodes=list, i=Py_ssize_t, count=Py_ssize_t, behind=Py_ssize_t)
    cdef (Py_ssize_t, Py_ssize_t) _locate(self, Py_ssize_t index)
