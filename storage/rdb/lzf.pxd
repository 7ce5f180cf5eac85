cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from storage.rdb cimport raw

cdef Py_ssize_t LONGEST_RUN
cdef Py_ssize_t LONGEST_MATCH
cdef Py_ssize_t FARTHEST
cdef Py_ssize_t GREATEST_RATIO
cdef uint32_t SLOTS
cdef Py_ssize_t UNROLLED


@cython.final
cdef class Compressor:
    # Places are kept modulo 2**32. In a string of 4 GiB and more one may be taken for another then:
    # that costs a match, since the bytes themselves are compared.
    cdef object _slots
    cdef int64_t _base

    cpdef object compress(self, bytes data)
    @cython.locals(room=Py_ssize_t, base=uint32_t)
    cdef Py_ssize_t compress_into(self, raw.Raw data, Py_ssize_t size, bytearray out, Py_ssize_t at) except -1


@cython.locals(three=uint32_t)
cdef uint32_t _slot_of(raw.Raw data, Py_ssize_t at) noexcept
@cython.locals(to=Py_ssize_t, end=Py_ssize_t, run=Py_ssize_t, at=Py_ssize_t, slot=uint32_t,
               seen=uint32_t, length=Py_ssize_t)
cdef Py_ssize_t _compress(
    raw.Raw data, Py_ssize_t size, uint8_t *out, Py_ssize_t start, Py_ssize_t room, uint32_t *slots,
    uint32_t base
) noexcept
cdef bint _matches(raw.Raw data, Py_ssize_t seen, Py_ssize_t at) noexcept
@cython.locals(most=Py_ssize_t, length=Py_ssize_t)
cdef Py_ssize_t _match_length(raw.Raw data, Py_ssize_t seen, Py_ssize_t at, Py_ssize_t size) noexcept
cdef Py_ssize_t _close_run(uint8_t *out, Py_ssize_t to, Py_ssize_t run) noexcept
cdef Py_ssize_t _put_reference(
    uint8_t *out, Py_ssize_t to, Py_ssize_t offset, Py_ssize_t length
) noexcept

cpdef bytes decompress(bytes data, uint64_t size)
@cython.locals(out=bytearray)
cdef bytearray expand(raw.Raw data, Py_ssize_t at, Py_ssize_t end, uint64_t size)
@cython.locals(to=Py_ssize_t, length=Py_ssize_t, offset=Py_ssize_t)
cdef Py_ssize_t _expand(raw.Raw data, Py_ssize_t at, Py_ssize_t end, uint8_t *out, Py_ssize_t size) noexcept
