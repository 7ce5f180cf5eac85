cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.rax cimport branches
from storage.rax.branches cimport Branches

cdef object ABSENT
cdef list ZEROS
cdef Py_ssize_t NODE_BYTES
cdef Py_ssize_t COUNTED
cdef Py_ssize_t BYTES_BYTES


@cython.final
@cython.freelist(64)
cdef class Node:
    cdef bytes run
    cdef bytes tail
    cdef PyObject* value
    cdef Branches* branches


@cython.no_gc
cdef class Tree:
    cdef Node root
    cdef Py_ssize_t size
    cdef readonly Py_ssize_t node_count
    cdef uint64_t changes


cdef Node EMPTY


@cython.locals(node=Node)
cdef Node new_node(bytes run, object value)

cdef int discard() except -1

@cython.locals(doomed=list, lower=Node, index=Py_ssize_t, child=object, block="Branches*")
cdef int dismantle(Node node) except -1

cdef object value_of(Node node)

cdef bint has_value(Node node) except -1

@cython.locals(old="PyObject*")
cdef int set_value(Node node, object value) except -1

@cython.locals(left=Py_ssize_t)
cdef bytes rest_of(bytes key, Py_ssize_t at)

@cython.locals(child=object, lower=Node)
cdef Py_ssize_t rest_length(Node node, Py_ssize_t index) except -1

@cython.locals(lower=Node, edge=cython.uchar)
cdef int split(Node node, Py_ssize_t at) except -1

@cython.locals(lower=Node, edge=cython.uchar)
cdef int join(Node node) except -1

@cython.locals(leaf=Node)
cdef Node wrap(Node node, Py_ssize_t index)

@cython.locals(bare=Py_ssize_t)
cdef int unwrap(Node node, Py_ssize_t index, Node leaf) except -1

@cython.locals(total=Py_ssize_t, part=bytes)
cdef Py_ssize_t weight(Node node) except -1

@cython.locals(siblings=Py_ssize_t, keys=Py_ssize_t, bare=Py_ssize_t, index=Py_ssize_t,
               edge=cython.uchar, child=object, lower=Node)
cdef Py_ssize_t check(Node node, bint is_root) except -1
