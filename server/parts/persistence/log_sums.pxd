cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t

from octets cimport buffers
from storage.rdb cimport crc64, raw

cdef int HASH
cdef int LETTER
cdef int BEGINS
cdef int FOLLOWS
cdef Py_ssize_t LINE
cdef int64_t MOST
cdef Py_ssize_t CHECKED
cdef int CHECK_DIGITS
cdef uint64_t CHECK_MASK
cdef int ZERO
cdef int NINE
cdef int A
cdef int F
cdef int CR
cdef int LF

@cython.locals(total=uint64_t)
cdef Py_ssize_t put_line(
    bytearray out, Py_ssize_t to, raw.Raw data, Py_ssize_t at, Py_ssize_t end, uint64_t start,
    int mark
) noexcept
@cython.locals(size=Py_ssize_t, out=bytearray)
cpdef bytes line_for(bytes data, uint64_t start, bint follows)
@cython.locals(line="uint8_t *", check=uint64_t)
cdef Py_ssize_t _put(
    bytearray out, Py_ssize_t to, int mark, uint64_t size, uint64_t total, uint64_t offset
) noexcept
@cython.locals(line="uint8_t *", index=int, digit=int)
cdef void _put_hex(bytearray out, Py_ssize_t to, int digits, uint64_t number) noexcept
cdef bint begins_line(raw.Raw data, Py_ssize_t at, Py_ssize_t end) noexcept
@cython.locals(size=int64_t, check=int64_t, found=int64_t)
cdef Py_ssize_t size_at(raw.Raw data, Py_ssize_t at, Py_ssize_t end) noexcept
@cython.locals(total=uint64_t, index=int, digit=int)
cdef bint is_right(raw.Raw data, Py_ssize_t at, Py_ssize_t size) noexcept
cdef Py_ssize_t sound_line(raw.Raw data, Py_ssize_t at, Py_ssize_t end) noexcept
@cython.locals(number=int64_t, index=int, digit=int)
cdef int64_t _hex(raw.Raw data, Py_ssize_t at, int digits) noexcept
