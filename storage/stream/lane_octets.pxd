# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport uint64_t

cdef enum:
    NUMBER = 8


cdef inline uint64_t number_at(bytearray numbers, Py_ssize_t at) noexcept:
    return (<uint64_t *>PyByteArray_AS_STRING(numbers))[at]


cdef inline int put(bytearray numbers, Py_ssize_t at, uint64_t number) noexcept:
    (<uint64_t *>PyByteArray_AS_STRING(numbers))[at] = number
    return 0


cdef inline Py_ssize_t place_of(bytearray numbers, Py_ssize_t mask, uint64_t number) noexcept:
    cdef const uint64_t *held = <const uint64_t *>PyByteArray_AS_STRING(numbers)
    cdef Py_ssize_t at = number & <uint64_t>mask
    while held[at] != 0 and held[at] != number:
        at = (at + 1) & mask
    return at


cdef inline Py_ssize_t place_to_move(bytearray numbers, Py_ssize_t mask, Py_ssize_t gap) noexcept:
    cdef const uint64_t *held = <const uint64_t *>PyByteArray_AS_STRING(numbers)
    cdef Py_ssize_t at = (gap + 1) & mask
    while held[at] != 0 and <Py_ssize_t>((<uint64_t>at - held[at]) & <uint64_t>mask) < ((at - gap) & mask):
        at = (at + 1) & mask
    return at if held[at] != 0 else -1
