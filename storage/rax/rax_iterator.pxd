cimport cython
from libc.stdint cimport uint64_t

from storage.rax cimport branches, rax_node
from storage.rax.rax_node cimport Node, Tree


@cython.final
@cython.no_gc
@cython.freelist(8)
cdef class RaxIterator:
    cdef Tree _tree
    cdef Node _node
    cdef Py_ssize_t _index
    cdef bytes _path
    cdef bytes _tail
    cdef uint64_t _changes
    cdef unsigned char _edge
    cdef bint _fresh
    cdef readonly bint valid
    cdef readonly object value

    cpdef bytes current_key(self)
    cpdef bint next(self) except -1
    cpdef bint prev(self) except -1
    @cython.locals(root=Node, or_equal=bint, way=cython.Py_UCS4)
    cpdef bint seek(self, str op, bytes key=*) except -1

    cdef bint _stand(self, Node node, Py_ssize_t index, bytes path, object value) except -1
    @cython.locals(child=object, edge=cython.uchar)
    cdef bint _first_from(self, Node node, Py_ssize_t index, bytes path) except -1
    @cython.locals(child=object, edge=cython.uchar)
    cdef bint _last_from(self, Node node, Py_ssize_t index, bytes path) except -1

    @cython.locals(node=Node, fork=Node, fork_index=Py_ssize_t, fork_at=Py_ssize_t, at=Py_ssize_t,
                   same=Py_ssize_t, index=Py_ssize_t, behind=Py_ssize_t, ahead=bint, order=int,
                   child=object)
    cdef bint _find_after(self, bytes key, bint or_equal) except -1
    @cython.locals(node=Node, fork=Node, fork_index=Py_ssize_t, fork_at=Py_ssize_t, at=Py_ssize_t,
                   same=Py_ssize_t, index=Py_ssize_t, order=int, child=object)
    cdef bint _find_before(self, bytes key, bint or_equal) except -1


@cython.locals(made=RaxIterator)
cdef RaxIterator new_iterator(Tree tree)
