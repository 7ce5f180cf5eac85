# inline only
from cpython.bytearray cimport (
    PyByteArray_AS_STRING,
    PyByteArray_GET_SIZE,
    PyByteArray_Resize,
)
from cpython.object cimport PyObject_Hash
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memmove

from storage cimport octets

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(list values) noexcept

cdef enum:
    PREFIX_BITS = 32
    PREFIX_MASK = 0xFFFFFFFF
    MARK = 8
    AT_BITS = 32
    AT_MASK = 0xFFFFFFFF


cdef inline uint32_t prefix_of(bytes key) noexcept:
    return <uint32_t>(<size_t>PyObject_Hash(key) >> 32)


cdef inline Py_ssize_t count(bytearray marks) noexcept:
    return PyByteArray_GET_SIZE(marks) // MARK


cdef inline uint32_t prefix_at(bytearray marks, Py_ssize_t at) noexcept:
    return (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at]


cdef inline uint32_t number_at(bytearray marks, Py_ssize_t at) noexcept:
    return (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1]


cdef inline int put_number(bytearray marks, Py_ssize_t at, uint32_t number) noexcept:
    (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1] = number
    return 0


cdef inline Py_ssize_t guess(bytearray marks, int local_depth, uint64_t prefix) noexcept:
    cdef uint64_t offset = (prefix << local_depth) & PREFIX_MASK
    return (offset * (PyByteArray_GET_SIZE(marks) // MARK)) >> PREFIX_BITS


cdef inline Py_ssize_t first_from(
    bytearray marks, Py_ssize_t near, uint64_t prefix
) noexcept:
    cdef const uint64_t *mark = <const uint64_t *>PyByteArray_AS_STRING(marks)
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks) // MARK
    while near < size and <uint32_t>mark[near] < prefix:
        near += 1
    while near > 0 and <uint32_t>mark[near - 1] >= prefix:
        near -= 1
    return near


cdef inline int insert_mark(
    bytearray marks, Py_ssize_t at, uint32_t prefix, uint32_t number
) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks)
    cdef char *mark
    PyByteArray_Resize(marks, size + MARK)
    mark = PyByteArray_AS_STRING(marks) + at * MARK
    memmove(mark + MARK, mark, size - at * MARK)
    (<uint32_t *>mark)[0] = prefix
    (<uint32_t *>mark)[1] = number
    return 0


cdef inline int remove_mark(bytearray marks, Py_ssize_t at) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks) - MARK
    cdef char *mark = PyByteArray_AS_STRING(marks) + at * MARK
    memmove(mark, mark + MARK, size - at * MARK)
    return octets.shorten(marks, size)


cdef inline list untracked(list values):
    PyObject_GC_UnTrack(values)
    return values
