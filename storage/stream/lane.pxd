cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from storage.stream cimport lane_tail, links
from storage.stream.lane_tail cimport LaneTail
from storage.stream.pending cimport Pending


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Lane:
    cdef public uint64_t number
    cdef public Pending first
    cdef LaneTail _tail
    cdef public Py_ssize_t taken
    cdef public int64_t turn
    cdef public int64_t ready_as
    cdef PyObject* in_chain

    cpdef int begin(self, uint64_t number, int64_t turn) except -1
    @cython.locals(others=Py_ssize_t)
    cpdef Py_ssize_t size(self) except -1
    cpdef Py_ssize_t waiting(self) except -1
    @cython.locals(first=Pending, tail=LaneTail)
    cpdef int add(self, Pending pending) except -1
    @cython.locals(tail=LaneTail)
    cpdef int remove(self, Pending pending) except -1
    @cython.locals(first=Pending)
    cpdef Pending after(self, Pending pending)
