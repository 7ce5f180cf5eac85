cimport cython
from libc.stdint cimport uint32_t, uint64_t

from storage.rdb cimport raw
from storage.strings cimport bit_octets

cdef bytes SECRET
cdef uint64_t BITS_32
cdef uint64_t BITS_64
cdef uint64_t A_32
cdef uint64_t B_32
cdef uint64_t C_32
cdef uint64_t A
cdef uint64_t B
cdef uint64_t C
cdef uint64_t D
cdef uint64_t E
cdef uint64_t MIX
cdef uint64_t ROTATING_MIX
cdef Py_ssize_t STRIPE
cdef Py_ssize_t OF_SCRAMBLING
cdef Py_ssize_t OF_THE_LAST_STRIPE
cdef Py_ssize_t OF_THE_END
cdef Py_ssize_t OF_LATER_RUNS
cdef Py_ssize_t OF_THE_LAST_RUN

@cython.locals(data=raw.Raw, secret=raw.Raw, size=Py_ssize_t)
cpdef uint64_t hashed(object text) except? 1
cdef uint64_t _avalanche_64(uint64_t word) noexcept
cdef uint64_t _avalanche(uint64_t word) noexcept
@cython.locals(low=uint64_t, high_low=uint64_t, low_high=uint64_t, high=uint64_t, cross=uint64_t,
               upper=uint64_t)
cdef uint64_t _folded(uint64_t one, uint64_t other) noexcept
@cython.locals(secret=raw.Raw, first=uint64_t, middle=uint64_t, last=uint64_t, word=uint64_t)
cdef uint64_t _few(raw.Raw data, Py_ssize_t size) noexcept
@cython.locals(secret=raw.Raw, first=uint64_t, word=uint64_t)
cdef uint64_t _some(raw.Raw data, Py_ssize_t size) noexcept
cdef uint64_t _rotated(uint64_t word, int bits) noexcept
@cython.locals(secret=raw.Raw, low=uint64_t, high=uint64_t)
cdef uint64_t _more(raw.Raw data, Py_ssize_t size) noexcept
cdef uint64_t _swapped(uint64_t word) noexcept
@cython.locals(secret=raw.Raw)
cdef uint64_t _run(raw.Raw data, Py_ssize_t at, Py_ssize_t place) noexcept
@cython.locals(total=uint64_t, pairs=Py_ssize_t, at=Py_ssize_t)
cdef uint64_t _runs(raw.Raw data, Py_ssize_t size) noexcept
@cython.locals(secret=raw.Raw, sums=bytearray, lane=Py_ssize_t, word=uint64_t, at=Py_ssize_t,
               place=Py_ssize_t, total=uint64_t)
cdef uint64_t _blocks(raw.Raw data, Py_ssize_t size) except? 1
@cython.locals(secret=raw.Raw, lanes=raw.Raw, lane=Py_ssize_t, word=uint64_t, key=uint64_t,
               product=uint64_t)
cdef int _add_stripe(bytearray sums, raw.Raw data, Py_ssize_t at, Py_ssize_t place) except -1
@cython.locals(secret=raw.Raw, lanes=raw.Raw, lane=Py_ssize_t, word=uint64_t)
cdef int _scramble(bytearray sums) except -1
