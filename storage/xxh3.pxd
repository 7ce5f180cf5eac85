cimport cython
from libc.stdint cimport uint64_t

from storage cimport octets
from storage.rdb cimport raw

cdef uint64_t _U64
cdef uint64_t _U32
cdef uint64_t _P32_1
cdef uint64_t _P32_2
cdef uint64_t _P32_3
cdef uint64_t _P64_1
cdef uint64_t _P64_2
cdef uint64_t _P64_3
cdef uint64_t _P64_4
cdef uint64_t _P64_5
cdef uint64_t _MIX_1
cdef uint64_t _MIX_2
cdef Py_ssize_t _LATER
cdef Py_ssize_t _STRIPE
cdef Py_ssize_t _BLOCK

@cython.locals(size=Py_ssize_t, halves=Halves)
cpdef uint64_t hashed(object text) except? 1
cpdef uint64_t keyed(bytearray data, Py_ssize_t at, Py_ssize_t size, bytes secret) except? 1
cdef uint64_t _hash_of_most(raw.Raw data, Py_ssize_t size, raw.Raw secret) noexcept
cdef raw.Raw _raw(object text) except NULL
@cython.locals(first=uint64_t, keyed=uint64_t)
cdef uint64_t _hash_of_8(raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
@cython.locals(a=uint64_t, b=uint64_t, folded=uint64_t)
cdef uint64_t _hash_of_16(raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
@cython.locals(total=uint64_t, portion=Py_ssize_t, end=Py_ssize_t)
cdef uint64_t _hash_of_128(raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
@cython.locals(total=uint64_t, portion=Py_ssize_t, key_at=Py_ssize_t)
cdef uint64_t _hash_of_240(raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
@cython.locals(result=Halves)
cpdef bytes digest(bytes data)


@cython.final
@cython.no_gc
cdef class Halves:
    cdef readonly uint64_t low
    cdef readonly uint64_t high
    cdef uint64_t[8] _acc

    cpdef bytes octets(self)
    @cython.locals(size=Py_ssize_t, text=raw.Raw, secret=raw.Raw)
    cpdef int take(self, object data) except -1
    @cython.locals(low=uint64_t, high=uint64_t, first=uint64_t, middle=uint64_t)
    cdef void _of_3(self, raw.Raw text, uint64_t size, raw.Raw secret) noexcept
    @cython.locals(last=uint64_t, keyed=uint64_t, factor=uint64_t, low=uint64_t, high=uint64_t)
    cdef void _of_8(self, raw.Raw text, uint64_t size, raw.Raw secret) noexcept
    @cython.locals(first=uint64_t, last=uint64_t, keyed=uint64_t, low=uint64_t, high=uint64_t)
    cdef void _of_16(self, raw.Raw text, uint64_t size, raw.Raw secret) noexcept
    @cython.locals(portion=Py_ssize_t)
    cdef void _of_128(self, raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
    @cython.locals(portion=Py_ssize_t)
    cdef void _of_240(self, raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
    cdef void _mix(self, raw.Raw text, Py_ssize_t a, Py_ssize_t b, raw.Raw secret, Py_ssize_t at) noexcept
    @cython.locals(low=uint64_t, high=uint64_t, mixed=uint64_t)
    cdef void _finish(self, uint64_t size) noexcept
    @cython.locals(acc="uint64_t *", at=Py_ssize_t, stripe=Py_ssize_t)
    cdef void _of_long(self, raw.Raw text, Py_ssize_t size, raw.Raw secret) noexcept
    @cython.locals(acc="uint64_t *", lane=Py_ssize_t, number=uint64_t, keyed=uint64_t)
    cdef void _accumulate(self, raw.Raw text, Py_ssize_t at, raw.Raw secret, Py_ssize_t key_at) noexcept
    @cython.locals(acc="uint64_t *", lane=Py_ssize_t, number=uint64_t)
    cdef void _scramble(self, raw.Raw secret) noexcept
    @cython.locals(acc="uint64_t *", total=uint64_t, lane=Py_ssize_t, a=uint64_t, b=uint64_t)
    cdef uint64_t _merged(self, raw.Raw secret, Py_ssize_t at, uint64_t start) noexcept


@cython.locals(a=uint64_t, b=uint64_t)
cdef uint64_t mix16(raw.Raw text, Py_ssize_t at, raw.Raw secret, Py_ssize_t key_at) noexcept
cdef uint64_t avalanche(uint64_t number) noexcept
cdef uint64_t xxh64_avalanche(uint64_t number) noexcept
