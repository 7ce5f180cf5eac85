# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memchr, memcpy, memmove

cdef enum:
    MAX_DIGITS = 18

cdef extern from *:
    """
    #define PENSTOCK_NOT_A_NUMBER INT64_MIN
    """
    const int64_t NOT_A_NUMBER "PENSTOCK_NOT_A_NUMBER"


cdef inline int grow(bytearray buffer, Py_ssize_t size) except -1:
    return PyByteArray_Resize(buffer, size)


cdef inline bytes cut(bytearray buffer, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(PyByteArray_AS_STRING(buffer) + start, end - start)


cdef inline bytes cut_bytes(bytes data, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(data) + start, end - start)


cdef inline Py_ssize_t put(bytearray buffer, Py_ssize_t at, bytes data) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    memcpy(PyByteArray_AS_STRING(buffer) + at, PyBytes_AS_STRING(data), size)
    return at + size


cdef inline Py_ssize_t put_slice(
    bytearray buffer, Py_ssize_t at, bytearray source, Py_ssize_t start, Py_ssize_t size
) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, PyByteArray_AS_STRING(source) + start, size)
    return at + size


cdef inline Py_ssize_t put_decimal(char *out, int64_t number) noexcept:
    cdef char digits[20]
    cdef int n = 0
    cdef Py_ssize_t at = 0
    cdef uint64_t rest = <uint64_t>number
    if number < 0:
        out[0] = b"-"
        at = 1
        rest = 0 - rest
    while rest >= 10:
        digits[n] = 48 + rest % 10
        rest //= 10
        n += 1
    out[at] = 48 + rest
    at += 1
    while n:
        n -= 1
        out[at] = digits[n]
        at += 1
    return at


cdef inline Py_ssize_t put_line(
    bytearray buffer, Py_ssize_t at, int mark, int64_t number
) noexcept:
    cdef char *out = PyByteArray_AS_STRING(buffer)
    out[at] = mark
    at += 1
    at += put_decimal(out + at, number)
    out[at] = 13
    out[at + 1] = 10
    return at + 2


cdef inline Py_ssize_t put_crlf(bytearray buffer, Py_ssize_t at) noexcept:
    cdef char *out = PyByteArray_AS_STRING(buffer)
    out[at] = 13
    out[at + 1] = 10
    return at + 2


cdef inline Py_ssize_t decimal_size(int64_t number) noexcept:
    cdef Py_ssize_t size = 1
    cdef uint64_t rest = <uint64_t>number
    if number < 0:
        size = 2
        rest = 0 - rest
    while rest >= 10:
        rest //= 10
        size += 1
    return size


cdef inline int shift(bytearray buffer, Py_ssize_t start, Py_ssize_t end, Py_ssize_t by) noexcept:
    cdef char *out = PyByteArray_AS_STRING(buffer)
    memmove(out + start + by, out + start, end - start)
    return 0


cdef inline Py_ssize_t find(bytes data, int byte, Py_ssize_t start) noexcept:
    cdef const char *text = PyBytes_AS_STRING(data)
    cdef const char *found = <const char *>memchr(
        text + start, byte, PyBytes_GET_SIZE(data) - start
    )
    return found - text if found != NULL else -1


cdef inline int64_t read_number(bytes data, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef const unsigned char *text = <const unsigned char *>PyBytes_AS_STRING(data)
    cdef int64_t number = 0
    cdef Py_ssize_t size = end - start
    cdef bint negative = size > 0 and text[start] == 45
    cdef Py_ssize_t at = start + negative
    if at >= end or end - at > MAX_DIGITS or (text[at] == 48 and size > 1):
        return NOT_A_NUMBER
    while at < end:
        if not 48 <= text[at] <= 57:
            return NOT_A_NUMBER
        number = number * 10 + (text[at] - 48)
        at += 1
    return -number if negative else number
