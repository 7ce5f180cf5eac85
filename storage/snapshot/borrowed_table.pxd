# inline only
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from storage.hash_table.packed_octets cimport FAR
from storage.keyspace.item_octets cimport USE
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
    Py_ssize_t PyByteArray_GET_SIZE(PyObject *text) noexcept
    char *PyBytes_AS_STRING(PyObject *text) noexcept
    Py_ssize_t PyBytes_GET_SIZE(PyObject *text) noexcept



cdef inline Py_ssize_t slots(KeyTable table) noexcept:
    return PyList_GET_SIZE(<PyObject *>table._directory)


cdef inline PyObject *segment_at(KeyTable table, Py_ssize_t slot) noexcept:
    cdef PyObject *directory = <PyObject *>table._directory
    cdef PyObject *segment = PyList_GET_ITEM(directory, slot)
    if slot > 0 and segment == PyList_GET_ITEM(directory, slot - 1):
        return NULL
    return segment


cdef inline int prefetch(PyObject *segment) noexcept:
    cdef PyObject *far = <PyObject *>(<Segment>segment).far
    cdef Py_ssize_t number
    if far != <PyObject *>None:
        for number in range(PyList_GET_SIZE(far)):
            penstock_prefetch(PyList_GET_ITEM(far, number))
    return 0


cdef inline Py_ssize_t count(PyObject *segment) noexcept:
    return PyByteArray_GET_SIZE(<PyObject *>(<Segment>segment).marks) // 8


# The items of item_octets.pxd, read without touching a bytearray's reference count.
cdef inline const uint8_t *_item_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef PyObject *marks = <PyObject *>(<Segment>segment).marks
    cdef PyObject *data = <PyObject *>(<Segment>segment).data
    cdef uint32_t offset = (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1]
    return <const uint8_t *>PyByteArray_AS_STRING(data) + offset


cdef inline const uint8_t *_behind(const uint8_t *text) noexcept:
    if text[0] < 128:
        return text + 1 + text[0]
    return text + 5 if text[0] == FAR else text + 2 + ((text[0] & 1) << 8 | text[1])


cdef inline const uint8_t *_kind(PyObject *segment, Py_ssize_t at) noexcept:
    return _behind(_item_at(segment, at) + USE)


cdef inline PyObject *_far_at(PyObject *segment, const uint8_t *number) noexcept:
    cdef uint32_t found
    memcpy(&found, number, 4)
    return PyList_GET_ITEM(<PyObject *>(<Segment>segment).far, found)


cdef inline bytes _copy(PyObject *segment, const uint8_t *text):
    cdef PyObject *far
    if text[0] < 128:
        return PyBytes_FromStringAndSize(<const char *>text + 1, text[0])
    if text[0] != FAR:
        return PyBytes_FromStringAndSize(<const char *>text + 2, (text[0] & 1) << 8 | text[1])
    far = _far_at(segment, text + 1)
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(far), PyBytes_GET_SIZE(far))


cdef inline bytes key_at(PyObject *segment, Py_ssize_t at):
    return _copy(segment, _item_at(segment, at) + USE)


cdef inline uint32_t last_use_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef uint32_t last_use
    memcpy(&last_use, _item_at(segment, at), 4)
    return last_use


cdef inline int kind_at(PyObject *segment, Py_ssize_t at) noexcept:
    return _kind(segment, at)[0]


cdef inline PyObject *object_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef const uint8_t *cell = _kind(segment, at) + 1
    return _far_at(segment, cell + (1 if cell[0] < 128 or cell[0] == FAR else 2))


cdef inline int64_t number_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef int64_t number
    memcpy(&number, _kind(segment, at) + 2, 8)
    return number


cdef inline bytes text_at(PyObject *segment, Py_ssize_t at):
    return _copy(segment, _kind(segment, at) + 1)
