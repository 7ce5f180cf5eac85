# inline only
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.list cimport PyList_Append, PyList_GET_SIZE
from cpython.object cimport PyObject
from libc.string cimport memcmp, memmove

cdef extern from "Python.h":
    ctypedef struct PyListObject:
        PyObject **ob_item
    int PyList_SetSlice(list values, Py_ssize_t low, Py_ssize_t high, PyObject *new) except -1

cdef extern from *:
    void prefetch "__builtin_prefetch" (const void *address) nogil


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
