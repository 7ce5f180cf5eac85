# inline only
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t

from storage.hash_table cimport mark_octets
from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.segment cimport Segment

cdef extern from *:
    """
    /* An object's head and what is behind it: the two may lie in two lines of the cache. */
    #define penstock_prefetch(p) \
        (__builtin_prefetch(p), __builtin_prefetch((const char *)(p) + 40))
    """
    void penstock_prefetch(PyObject *value) noexcept

cdef extern from "Python.h":
    Py_ssize_t PyList_GET_SIZE(PyObject *items) noexcept
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t at) noexcept
    char *PyByteArray_AS_STRING(PyObject *text) noexcept

cdef struct Entry:
    PyObject *key
    PyObject *value
    Py_ssize_t next


cdef inline Py_ssize_t slots(KeyTable table) noexcept:
    return PyList_GET_SIZE(<PyObject *>table._directory)


cdef inline PyObject *segment_at(KeyTable table, Py_ssize_t slot) noexcept:
    cdef PyObject *directory = <PyObject *>table._directory
    cdef PyObject *segment = PyList_GET_ITEM(directory, slot)
    if slot > 0 and segment == PyList_GET_ITEM(directory, slot - 1):
        return NULL
    return segment


cdef inline int prefetch(PyObject *segment) noexcept:
    cdef PyObject *pairs = <PyObject *>(<Segment>segment).pairs
    cdef Py_ssize_t at
    for at in range(PyList_GET_SIZE(pairs)):
        penstock_prefetch(PyList_GET_ITEM(pairs, at))
    return 0


cdef inline Entry entry_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef PyObject *pairs = <PyObject *>(<Segment>segment).pairs
    cdef Entry entry
    entry.next = -1
    if 2 * at < PyList_GET_SIZE(pairs):
        entry.key = PyList_GET_ITEM(pairs, 2 * at)
        entry.value = PyList_GET_ITEM(pairs, 2 * at + 1)
        entry.next = at + 1
    return entry


cdef inline uint32_t last_use_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef PyObject *marks = <PyObject *>(<Segment>segment).marks
    return (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1]


cdef inline PyObject *find(KeyTable table, PyObject *key) except? NULL:
    cdef uint32_t prefix = mark_octets.prefix_of(<bytes>key)
    cdef Segment segment = table._segment_of(prefix)
    cdef Py_ssize_t at = segment.find(<bytes>key, prefix)
    return NULL if at < 0 else PyList_GET_ITEM(<PyObject *>segment.pairs, 2 * at + 1)
