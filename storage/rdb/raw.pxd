# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from octets cimport buffers
from storage cimport octets

cdef extern from *:
    """
    #define penstock_be32(n) __builtin_bswap32(n)
    #define penstock_be64(n) __builtin_bswap64(n)
    """
    uint32_t penstock_be32(uint32_t number) noexcept nogil
    uint64_t penstock_be64(uint64_t number) noexcept nogil

cdef extern from "Python.h":
    Py_buffer *PyMemoryView_GET_BUFFER(object view) noexcept

ctypedef const uint8_t *Raw


cdef inline Raw of_bytes(bytes data) noexcept:
    return <Raw>PyBytes_AS_STRING(data)


cdef inline Raw of_bytearray(bytearray data) noexcept:
    return <Raw>PyByteArray_AS_STRING(data)


cdef inline Raw of_view(object data) noexcept:
    return <Raw>PyMemoryView_GET_BUFFER(data).buf


cdef inline uint8_t *into(bytearray data) noexcept:
    return <uint8_t *>PyByteArray_AS_STRING(data)


cdef inline uint32_t *table32(object entries) noexcept:
    return <uint32_t *>PyMemoryView_GET_BUFFER(entries).buf


cdef inline const uint64_t *table64(object entries) noexcept:
    return <const uint64_t *>PyMemoryView_GET_BUFFER(entries).buf


cdef inline Raw part(Raw data, Py_ssize_t at, Py_ssize_t size) noexcept:
    return data + at


cdef inline bytes cut(Raw data, Py_ssize_t at, Py_ssize_t size):
    return PyBytes_FromStringAndSize(<const char *>data + at, size)


cdef inline Py_ssize_t put(
    bytearray buffer, Py_ssize_t at, Raw data, Py_ssize_t start, Py_ssize_t size
) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, data + start, size)
    return at + size


cdef inline uint16_t u16(Raw data, Py_ssize_t at) noexcept:
    cdef uint16_t number
    memcpy(&number, data + at, 2)
    return number


cdef inline uint32_t u32(Raw data, Py_ssize_t at) noexcept:
    cdef uint32_t number
    memcpy(&number, data + at, 4)
    return number


cdef inline uint64_t u64(Raw data, Py_ssize_t at) noexcept:
    cdef uint64_t number
    memcpy(&number, data + at, 8)
    return number


cdef inline int64_t i64(Raw data, Py_ssize_t at) noexcept:
    return <int64_t>u64(data, at)


cdef inline uint32_t u32_be(Raw data, Py_ssize_t at) noexcept:
    return penstock_be32(u32(data, at))


cdef inline uint64_t u64_be(Raw data, Py_ssize_t at) noexcept:
    return penstock_be64(u64(data, at))


cdef inline Py_ssize_t put_u32_be(bytearray buffer, Py_ssize_t at, uint32_t number) noexcept:
    number = penstock_be32(number)
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 4)
    return at + 4


cdef inline Py_ssize_t put_u64_be(bytearray buffer, Py_ssize_t at, uint64_t number) noexcept:
    number = penstock_be64(number)
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 8)
    return at + 8


cdef inline Py_ssize_t put_u64(bytearray buffer, Py_ssize_t at, uint64_t number) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, &number, 8)
    return at + 8


cdef inline bytearray blank(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)


# Runs are short. Copying in steps of a fixed size needs no call, but may copy a few bytes too many.
cdef inline int copy(
    uint8_t *out, Py_ssize_t to, Raw data, Py_ssize_t at, Py_ssize_t size, Py_ssize_t left
) noexcept:
    if size <= 16 <= left:
        memcpy(out + to, data + at, 16)
    else:
        memcpy(out + to, data + at, size)
    return 0


cdef inline int repeat(
    uint8_t *out, Py_ssize_t to, Py_ssize_t offset, Py_ssize_t size, Py_ssize_t left
) noexcept:
    cdef uint8_t *end = out + to + size
    out += to
    if offset >= 16 and left >= size + 16:
        while out < end:
            memcpy(out, out - offset, 16)
            out += 16
    elif offset >= 8 and left >= size + 8:
        while out < end:
            memcpy(out, out - offset, 8)
            out += 8
    else:
        while out < end:
            out[0] = (out - offset)[0]
            out += 1
    return 0


cdef inline int64_t int32_of(Raw text, Py_ssize_t size) noexcept:
    cdef bint negative = text[0] == 45
    cdef int64_t number = <int64_t>octets.value_of(<const char *>text + negative, size - negative)
    return -number if negative else number


cdef inline bint is_int32(Raw text, Py_ssize_t size) noexcept:
    cdef bint negative = size > 0 and text[0] == 45
    cdef int64_t number
    if not octets.is_digits(<const char *>text + negative, size - negative):
        return False
    if text[negative] == 48:
        return size == 1
    number = int32_of(text, size)
    return -2147483648LL <= number <= 2147483647LL
