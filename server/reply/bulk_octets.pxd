# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy


cdef inline Py_ssize_t _write_number(char *out, uint64_t number) noexcept:
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


cdef inline Py_ssize_t _write_bulk(char *out, const char *data, Py_ssize_t size) noexcept:
    cdef char *start = out
    out[0] = 36
    if size < 10:
        out[1] = 48 + size
        out += 2
    elif size < 100:
        out[1] = 48 + size // 10
        out[2] = 48 + size % 10
        out += 3
    else:
        out += 1 + _write_number(out + 1, size)
    out[0] = 13
    out[1] = 10
    memcpy(out + 2, data, size)
    out += 2 + size
    out[0] = 13
    out[1] = 10
    return out + 2 - start


cdef inline Py_ssize_t put_bulk_int(bytearray buffer, Py_ssize_t at, int64_t number) noexcept:
    cdef char text[21]
    cdef Py_ssize_t size
    if number < 0:
        text[0] = 45
        size = 1 + _write_number(text + 1, 0 - <uint64_t>number)
    else:
        size = _write_number(text, number)
    return at + _write_bulk(PyByteArray_AS_STRING(buffer) + at, text, size)


cdef inline Py_ssize_t put_bulk(
    bytearray buffer, Py_ssize_t at, bytearray source, Py_ssize_t start, Py_ssize_t size
) noexcept:
    return at + _write_bulk(
        PyByteArray_AS_STRING(buffer) + at, PyByteArray_AS_STRING(source) + start, size
    )
