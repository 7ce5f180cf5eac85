# inline only
from cpython.bytearray cimport (
    PyByteArray_AS_STRING,
    PyByteArray_FromStringAndSize,
    PyByteArray_Resize,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.string cimport memchr, memcpy, strncmp


# ---------------------------------------------------------------------- reading

cdef inline int byte_at(bytes text, Py_ssize_t at) noexcept:
    return <unsigned char>PyBytes_AS_STRING(text)[at]


cdef inline Py_ssize_t blank_end(bytes text, Py_ssize_t at) noexcept:
    cdef const char *octets = PyBytes_AS_STRING(text)
    while octets[at] == 32 or octets[at] == 9 or octets[at] == 10 or octets[at] == 13:
        at += 1
    return at


cdef inline Py_ssize_t plain_end(bytes text, Py_ssize_t at) noexcept:
    cdef const char *octets = PyBytes_AS_STRING(text)
    while octets[at] != 34 and octets[at] != 92 and octets[at] != 0:
        at += 1
    return at


cdef inline bint starts_with(bytes text, Py_ssize_t at, bytes word) noexcept:
    return strncmp(PyBytes_AS_STRING(text) + at, PyBytes_AS_STRING(word), PyBytes_GET_SIZE(word)) == 0


cdef inline int hex_digit(bytes text, Py_ssize_t at) noexcept:
    cdef int digit = byte_at(text, at)
    if 48 <= digit <= 57:
        return digit - 48
    digit |= 32
    return digit - 87 if 97 <= digit <= 102 else -1


cdef inline Py_ssize_t zero_at(bytes text, Py_ssize_t at) noexcept:
    cdef const char *octets = PyBytes_AS_STRING(text)
    cdef const char *found = <const char *>memchr(octets + at, 0, PyBytes_GET_SIZE(text) - at)
    return -1 if found == NULL else found - octets


# ---------------------------------------------------------------------- writing

cdef inline bytearray new_buffer(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)


cdef inline int grow(bytearray buffer, Py_ssize_t size) except -1:
    return PyByteArray_Resize(buffer, size)


cdef inline Py_ssize_t put_slice(
    bytearray buffer, Py_ssize_t end, bytes text, Py_ssize_t start, Py_ssize_t stop
) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + end, PyBytes_AS_STRING(text) + start, stop - start)
    return end + stop - start
