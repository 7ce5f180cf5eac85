# inline only
from cpython.bytearray cimport (
    PyByteArray_AS_STRING, PyByteArray_FromStringAndSize, PyByteArray_Resize
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memcpy, memmove


cdef inline int resize(bytearray buffer, Py_ssize_t size) except -1:
    return PyByteArray_Resize(buffer, size)


cdef inline bytearray make(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)


cdef inline bytes cut(bytearray buffer, Py_ssize_t start, Py_ssize_t end):
    return PyBytes_FromStringAndSize(PyByteArray_AS_STRING(buffer) + start, end - start)


cdef inline Py_ssize_t put(bytearray buffer, Py_ssize_t at, bytes data) noexcept:
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    memcpy(PyByteArray_AS_STRING(buffer) + at, PyBytes_AS_STRING(data), size)
    return at + size


cdef inline Py_ssize_t put_slice(
    bytearray buffer, Py_ssize_t at, bytearray source, Py_ssize_t start, Py_ssize_t size
) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + at, PyByteArray_AS_STRING(source) + start, size)
    return at + size


cdef inline int move(
    bytearray buffer, Py_ssize_t to, Py_ssize_t start, Py_ssize_t size
) noexcept:
    cdef char *data = PyByteArray_AS_STRING(buffer)
    memmove(data + to, data + start, size)
    return 0
