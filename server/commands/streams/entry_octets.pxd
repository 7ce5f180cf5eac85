# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint64_t
from libc.string cimport memcpy


cdef inline Py_ssize_t put(bytearray buffer, Py_ssize_t at, bytes data) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    memcpy(PyByteArray_AS_STRING(buffer) + at, PyBytes_AS_STRING(data), size)
    return at + size


cdef inline Py_ssize_t _write_u64(char *out, uint64_t number) noexcept:
    cdef char digits[20]
    cdef int start = 20
    if number < 10:
        out[0] = 48 + number
        return 1
    while number >= 10:
        start -= 1
        digits[start] = 48 + number % 10
        number //= 10
    start -= 1
    digits[start] = 48 + number
    memcpy(out, digits + start, 20 - start)
    return 20 - start


cdef inline Py_ssize_t put_u64(bytearray buffer, Py_ssize_t at, uint64_t number) noexcept:
    return at + _write_u64(PyByteArray_AS_STRING(buffer) + at, number)


cdef inline Py_ssize_t short_size(bytearray source, Py_ssize_t at) noexcept:
    cdef unsigned char head = PyByteArray_AS_STRING(source)[at]
    return head & 0x3F if head & 0xC0 == 0x80 else -1
