# inline only
from cpython.bytearray cimport (
    PyByteArray_AS_STRING,
    PyByteArray_GET_SIZE,
    PyByteArray_Resize,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.list cimport PyList_Append, PyList_GET_SIZE
from cpython.object cimport PyObject, PyObject_Hash
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp, memmove

cdef extern from "Python.h":
    ctypedef struct PyListObject:
        PyObject **ob_item
    int PyList_SetSlice(list values, Py_ssize_t low, Py_ssize_t high, PyObject *new) except -1
    void PyObject_GC_UnTrack(list values) noexcept

cdef extern from *:
    void prefetch "__builtin_prefetch" (const void *address) nogil

cdef enum:
    PREFIX_BITS = 32
    PREFIX_MASK = 0xFFFFFFFF
    MARK = 8


cdef inline uint32_t prefix_of(bytes key) noexcept:
    return <uint32_t>(<size_t>PyObject_Hash(key) >> 32)


cdef inline uint32_t prefix_at(bytearray marks, Py_ssize_t at) noexcept:
    return (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at]


cdef inline Py_ssize_t first_from(
    bytearray marks, Py_ssize_t guess, uint64_t prefix
) noexcept:
    cdef const uint64_t *mark = <const uint64_t *>PyByteArray_AS_STRING(marks)
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks) // MARK
    while guess < size and <uint32_t>mark[guess] < prefix:
        guess += 1
    while guess > 0 and <uint32_t>mark[guess - 1] >= prefix:
        guess -= 1
    return guess


cdef inline int prefetch_pair(list pairs, Py_ssize_t at) noexcept:
    prefetch((<PyListObject *>pairs).ob_item + 2 * at)
    return 0


cdef inline bint is_key(list pairs, Py_ssize_t at, bytes key) noexcept:
    cdef PyObject *found = (<PyListObject *>pairs).ob_item[2 * at]
    prefetch((<PyListObject *>pairs).ob_item[2 * at + 1])
    return found == <PyObject *>key or (
        PyBytes_GET_SIZE(<object>found) == PyBytes_GET_SIZE(key)
        and memcmp(
            PyBytes_AS_STRING(<object>found), PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key)
        ) == 0
    )


cdef inline uint32_t last_use_at(bytearray marks, Py_ssize_t at) noexcept:
    return (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1]


cdef inline int put_last_use(bytearray marks, Py_ssize_t at, uint32_t last_use) noexcept:
    (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1] = last_use
    return 0


cdef inline int insert_mark(
    bytearray marks, Py_ssize_t at, uint32_t prefix, uint32_t last_use
) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks)
    cdef char *mark
    PyByteArray_Resize(marks, size + MARK)
    mark = PyByteArray_AS_STRING(marks) + at * MARK
    memmove(mark + MARK, mark, size - at * MARK)
    (<uint32_t *>mark)[0] = prefix
    (<uint32_t *>mark)[1] = last_use
    return 0


cdef inline int remove_mark(bytearray marks, Py_ssize_t at) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(marks) - MARK
    cdef char *mark = PyByteArray_AS_STRING(marks) + at * MARK
    memmove(mark, mark + MARK, size - at * MARK)
    PyByteArray_Resize(marks, size)
    return 0


cdef inline list untracked(list pairs):
    PyObject_GC_UnTrack(pairs)
    return pairs


cdef inline int insert_pair(list pairs, Py_ssize_t at, bytes key, object value) except -1:
    cdef Py_ssize_t size = PyList_GET_SIZE(pairs)
    cdef PyObject **pair
    PyList_Append(pairs, key)
    PyList_Append(pairs, value)
    pair = (<PyListObject *>pairs).ob_item + 2 * at
    memmove(pair + 2, pair, (size - 2 * at) * sizeof(PyObject *))
    pair[0] = <PyObject *>key
    pair[1] = <PyObject *>value
    return 0


cdef inline int remove_pair(list pairs, Py_ssize_t at) except -1:
    return PyList_SetSlice(pairs, 2 * at, 2 * at + 2, NULL)
