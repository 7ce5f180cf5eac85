cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport links
from storage.stream cimport pending as pendings
from storage.stream.pending cimport Pending


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Lane:
    cdef public uint64_t number
    cdef public Pending first
    cdef public bytes key
    cdef Rax _others
    cdef public Py_ssize_t taken
    cdef public int64_t turn
    cdef public int64_t ready_as
    cdef PyObject* in_chain

    cpdef int begin(self, uint64_t number, int64_t turn) except -1
    @cython.locals(others=Py_ssize_t)
    cpdef Py_ssize_t size(self) except -1
    cpdef Py_ssize_t waiting(self) except -1
    @cython.locals(first=Pending, first_key=bytes)
    cpdef int add(self, bytes key, Pending pending) except -1
    @cython.locals(others=Rax, next_one=tuple)
    cpdef int remove(self, bytes key) except -1
    @cython.locals(place=RaxIterator, found=Pending)
    cpdef Pending after(self, Pending pending)


cpdef bytes key_of(Pending pending)
