cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from storage cimport octets
from storage.listpack.listpack cimport Element, Listpack

cdef Py_ssize_t NONE
cdef Py_ssize_t PLAIN


@cython.final
cdef class QuickListIterator:
    cdef readonly bint is_int
    cdef bint _reverse
    cdef readonly int64_t number
    cdef readonly bytearray data
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t size
    cdef readonly bytes plain
    cdef readonly Py_ssize_t node
    cdef readonly Py_ssize_t at
    cdef Element _element
    cdef list _nodes
    cdef readonly Listpack pack
    cdef Py_ssize_t _upcoming

    cdef int begin(self, list nodes, Py_ssize_t node, Py_ssize_t index, bint reverse) except -1
    cpdef bint next(self) except -1
    cpdef bint next_run(self) except -1
    @cython.locals(element=Element, after=Py_ssize_t)
    cdef int _read(self, Listpack pack) except -1
    @cython.locals(node=Py_ssize_t)
    cdef bint _next_node(self) except -1
    @cython.locals(node=object, pack=Listpack)
    cdef int _enter(self, Py_ssize_t index) except -1
    cpdef bytes value(self)
    cpdef bint matches(self, bytes value) except -1
