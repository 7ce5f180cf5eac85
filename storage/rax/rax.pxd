cimport cython

from storage cimport allocation
from storage.rax cimport branches, rax_iterator, rax_node
from storage.rax.branches cimport Branches
from storage.rax.rax_iterator cimport RaxIterator
from storage.rax.rax_node cimport Node, Tree

cdef Py_ssize_t OBJECT


@cython.final
@cython.no_gc
cdef class Rax(Tree):
    @cython.locals(node=Node, at=Py_ssize_t, index=Py_ssize_t, child=object, value=object)
    cpdef object find(self, bytes key, object default=*)

    @cython.locals(node=Node, at=Py_ssize_t, apart=bint, same=Py_ssize_t, index=Py_ssize_t,
                   old=object, child=object)
    cpdef object insert(self, bytes key, object value)
    @cython.locals(siblings=Py_ssize_t, index=Py_ssize_t, leaf=Node)
    cdef int _add_leaf(self, Node node, bytes key, Py_ssize_t at, object value) except -1

    @cython.locals(node=Node, above=Node, top=Node, index=Py_ssize_t, top_index=Py_ssize_t,
                   at=Py_ssize_t, branch=Py_ssize_t, value=object, child=object)
    cpdef object remove(self, bytes key, object default=*)
    @cython.locals(siblings=Py_ssize_t)
    cdef int _cut(self, Node node, Py_ssize_t index, Py_ssize_t rest) except -1
    @cython.locals(apart=bint)
    cdef int _mend(self, Node node, Node above, Py_ssize_t index) except -1
    @cython.locals(root=Node)
    cpdef int clear(self) except -1
    @cython.locals(waiting=list, node=Node, index=Py_ssize_t, child=object, total=Py_ssize_t)
    cpdef Py_ssize_t weight(self) except -1

    cpdef tuple first(self)
    cpdef tuple last(self)
    @cython.locals(made=RaxIterator)
    cpdef RaxIterator seek(self, str op, bytes key=*)
