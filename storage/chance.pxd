cimport cython
from libc.stdint cimport uint64_t

cdef uint64_t MASK_64
cdef uint64_t MULTIPLIER


@cython.final
cdef class Chance:
    cdef uint64_t _state

    @cython.locals(state=uint64_t, upper=uint64_t)
    cpdef uint64_t below(self, uint64_t limit) noexcept
