cimport cython
from libc.stdint cimport int64_t

from server.commands.strings cimport conditions
from storage cimport octets

cdef bytes NX
cdef bytes XX
cdef bytes GET
cdef bytes KEEPTTL


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class PutOptions:
    cdef readonly bytes condition
    cdef readonly bytes operand
    cdef readonly bint gets
    cdef readonly bint keeps
    cdef readonly bytes unit
    cdef readonly bytes duration

    @cython.locals(word=bytes)
    cpdef Py_ssize_t take(self, list argv, Py_ssize_t at) except -1
    @cython.locals(word=bytes)
    cpdef Py_ssize_t take_of_set(self, list argv, Py_ssize_t at) except -1
    cdef int _set_condition(self, bytes word) except -1
    cpdef int64_t when_ms(self, int64_t now_ms, str name) except? -1


@cython.locals(options=PutOptions, at=Py_ssize_t)
cpdef PutOptions of_set(list argv)
@cython.locals(options=PutOptions)
cpdef PutOptions of_msetex(list argv, Py_ssize_t at)
