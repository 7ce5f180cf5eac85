# inline only
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t

from storage.keyspace cimport segment_octets
from storage.keyspace.key_table cimport KeyTable
from storage.listpack.listpack cimport Listpack
from storage.lists.node_deque cimport NodeDeque
from storage.lists.quicklist cimport QuickList
from storage.rdb cimport raw
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
    bint PyBytes_CheckExact(PyObject *value) noexcept
    bint PyLong_CheckExact(PyObject *value) noexcept
    char *PyBytes_AS_STRING(PyObject *text) noexcept
    Py_ssize_t PyBytes_GET_SIZE(PyObject *text) noexcept
    char *PyByteArray_AS_STRING(PyObject *data) noexcept
    int64_t PyLong_AsLongLong(PyObject *value) except? -1
    bint Py_IS_TYPE(PyObject *value, PyObject *kind) noexcept

ctypedef PyObject *Borrowed

cdef struct Entry:
    PyObject *key
    PyObject *value
    Py_ssize_t next


cdef inline PyObject *nothing() noexcept:
    return NULL


cdef inline bint is_nothing(PyObject *value) noexcept:
    return value == NULL


cdef inline object held(PyObject *value):
    return <object>value


# ---------------------------------------------------------------------- the table of a database

cdef inline Py_ssize_t slots(KeyTable table) noexcept:
    return PyList_GET_SIZE(<PyObject *>table._directory)


cdef inline PyObject *segment_at(KeyTable table, Py_ssize_t slot) noexcept:
    cdef PyObject *directory = <PyObject *>table._directory
    cdef PyObject *segment = PyList_GET_ITEM(directory, slot)
    if slot > 0 and segment == PyList_GET_ITEM(directory, slot - 1):
        return NULL
    return segment


cdef inline int foresee(PyObject *segment) noexcept:
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


cdef inline PyObject *find(KeyTable table, PyObject *key) except? NULL:
    cdef uint32_t place = segment_octets.place_of(<bytes>key)
    cdef Segment segment = table._segment_at(place)
    cdef Py_ssize_t at = segment.find(<bytes>key, place)
    return NULL if at < 0 else PyList_GET_ITEM(<PyObject *>segment.pairs, 2 * at + 1)


# ---------------------------------------------------------------------- strings and lists

cdef inline bint is_bytes(PyObject *value) noexcept:
    return PyBytes_CheckExact(value)


cdef inline bint is_int(PyObject *value) noexcept:
    return PyLong_CheckExact(value)


cdef inline raw.Raw octets(PyObject *text) noexcept:
    return <raw.Raw>PyBytes_AS_STRING(text)


cdef inline Py_ssize_t size(PyObject *text) noexcept:
    return PyBytes_GET_SIZE(text)


cdef inline int64_t number(PyObject *value) except? -1:
    return PyLong_AsLongLong(value)


cdef inline PyObject *lone_pack(PyObject *value) noexcept:
    cdef PyObject *head
    if not Py_IS_TYPE(value, <PyObject *>QuickList):
        return NULL
    if <PyObject *>(<QuickList>value)._nodes != <PyObject *>None:
        return NULL
    head = <PyObject *>(<QuickList>value)._head
    return head if Py_IS_TYPE(head, <PyObject *>Listpack) else NULL


cdef inline raw.Raw pack_octets(PyObject *pack) noexcept:
    return <raw.Raw>PyByteArray_AS_STRING(<PyObject *>(<Listpack>pack).data)


cdef inline Py_ssize_t pack_size(PyObject *pack) noexcept:
    return (<Listpack>pack).size
