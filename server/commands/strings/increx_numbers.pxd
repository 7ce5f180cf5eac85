cimport cython
from libc.stdint cimport int64_t

from server.commands.shared cimport long_double
from server.commands.strings.increx_options cimport IncrexOptions
from server.table cimport args

cdef tuple ONE
cdef tuple GREATEST
cdef tuple LEAST
cdef tuple INFINITY
cdef tuple MINUS_INFINITY


@cython.final
@cython.no_gc
cdef class Sum:
    cdef readonly bytes old
    cdef readonly bytes new
    cdef readonly bytes difference


cdef class Adder:
    cdef bint _saturates

    cpdef Sum added_to(self, bytes value)


cdef class IntAdder(Adder):
    cdef object _by
    cdef object _low
    cdef object _high


cdef class FloatAdder(Adder):
    cdef tuple _by
    cdef tuple _low
    cdef tuple _high


cdef bint _is_infinite(tuple number) except -1
cdef tuple _to_float(bytes text, object error)
