cimport cython
from libc.stdint cimport int64_t

from server.observe.part cimport Part
from storage.limits cimport ListpackLimits, SetLimits
from storage.stream.stream cimport StreamConfig


@cython.final
cdef class NodeLimits(Part):
    cdef readonly StreamConfig stream
    cdef readonly int64_t hyperloglog
    cdef readonly int64_t list_size
    cdef readonly SetLimits sets
    cdef readonly ListpackLimits hash
    cdef readonly ListpackLimits sorted_set
