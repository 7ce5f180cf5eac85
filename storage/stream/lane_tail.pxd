cimport cython

from storage cimport allocation
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport pending as pendings
from storage.stream.pending cimport Pending

cdef Py_ssize_t _TAIL
cdef Py_ssize_t _PLACE
cdef Py_ssize_t _FEW
cdef Py_ssize_t _MANY


@cython.final
@cython.no_gc
cdef class LaneTail:
    cdef list _run
    cdef Py_ssize_t _begin
    cdef Py_ssize_t _found
    cdef Rax _tree

    cpdef Py_ssize_t size(self) except -1
    cpdef int add(self, Pending pending) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef int remove(self, Pending pending) except -1
    @cython.locals(run=list, begin=Py_ssize_t, pending=Pending)
    cdef int _leave(self, Py_ssize_t at) except -1
    @cython.locals(first=Pending)
    cpdef Pending pop(self)
    @cython.locals(found=tuple, first=Pending)
    cpdef Pending first(self)
    @cython.locals(found=Pending, place=RaxIterator, run=list, at=Py_ssize_t, is_here=bint)
    cpdef Pending after(self, Pending pending)
    @cython.locals(found=Pending)
    cdef Pending _at(self, Py_ssize_t place)
    @cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t, step=Py_ssize_t)
    cdef Py_ssize_t _place_after(self, Pending pending) except -1
    @cython.locals(tree=Rax, pending=Pending)
    cdef Rax _make_tree(self)


cpdef bint is_before(Pending one, Pending other) noexcept
cpdef bytes key_of(Pending pending)
