cimport cython
from libc.stdint cimport uint64_t

from storage.rdb cimport raw

cdef object TABLE

cdef uint64_t _bits_of(uint64_t crc) noexcept
cpdef uint64_t crc64(bytes data, uint64_t crc=*) except? 0
@cython.locals(table="const uint64_t *", behind=uint64_t)
cdef uint64_t of_raw(raw.Raw data, Py_ssize_t at, Py_ssize_t end, uint64_t crc) noexcept
