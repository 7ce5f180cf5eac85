cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.rdb.raw cimport Raw
from storage.strings cimport bit_octets

cdef int64_t GREATEST


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class BitField:
    cdef bint _signed
    cdef int _width
    cdef int64_t _offset
    cdef int64_t _least
    cdef int64_t _most

    cpdef int64_t end(self) noexcept
    @cython.locals(data=Raw, size=Py_ssize_t, at=int64_t, skipped=int, left=int, bits=uint64_t,
                   taken=int, byte=int)
    cpdef int64_t read(self, object text) except? -1
    @cython.locals(bits=uint64_t, at=int64_t, skipped=int, left=int, taken=int, below=int,
                   mask=int)
    cpdef int write(self, bytearray text, int64_t number) except -1
    @cython.locals(is_high=bint)
    cpdef object replaced(self, int64_t number, int overflow)
    @cython.locals(is_high=bint, is_low=bint, total=uint64_t)
    cpdef object increased(self, int64_t old, int64_t number, int overflow)
    cdef object _overflown(self, uint64_t bits, bint is_high, int overflow)
    @cython.locals(half=uint64_t)
    cdef int64_t _value_of(self, uint64_t bits) noexcept
