cimport cython
from libc.stdint cimport int64_t

from storage.limits cimport ListpackLimits, SetLimits


@cython.final
cdef class WriteOptions:
    cdef readonly bint compress
    cdef readonly bint checksum
    cdef readonly int version


@cython.final
cdef class ReadOptions:
    cdef readonly bint checksum
    cdef readonly int64_t list_fill
    cdef readonly ListpackLimits hash_limits
    cdef readonly bint verify
    cdef readonly SetLimits set_limits
    cdef readonly ListpackLimits sorted_set_limits
