# inline only
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t

from storage.hash_table.packed_segment cimport PackedSegment
from storage.hash_table.packed_table cimport PackedTable
from storage.rdb cimport raw

cdef extern from "Python.h":
    Py_ssize_t PyList_GET_SIZE(PyObject *items) noexcept
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t at) noexcept
    char *PyByteArray_AS_STRING(PyObject *data) noexcept
    Py_ssize_t PyByteArray_GET_SIZE(PyObject *data) noexcept
    char *PyBytes_AS_STRING(PyObject *text) noexcept
    Py_ssize_t PyBytes_GET_SIZE(PyObject *text) noexcept

cdef struct Text:
    raw.Raw octets
    Py_ssize_t size


cdef inline Py_ssize_t size(PyObject *table) noexcept:
    return (<PackedTable>table).used


cdef inline Py_ssize_t slots(PyObject *table) noexcept:
    return PyList_GET_SIZE(<PyObject *>(<PackedTable>table)._directory)


cdef inline PyObject *segment_at(PyObject *table, Py_ssize_t slot) noexcept:
    cdef PyObject *directory = <PyObject *>(<PackedTable>table)._directory
    cdef PyObject *segment = PyList_GET_ITEM(directory, slot)
    if slot > 0 and segment == PyList_GET_ITEM(directory, slot - 1):
        return NULL
    return segment


cdef inline Py_ssize_t count(PyObject *segment) noexcept:
    return PyByteArray_GET_SIZE(<PyObject *>(<PackedSegment>segment).marks) // 8


# The texts of packed_octets.pxd, read without touching a bytearray's reference count.
cdef inline Text _read(PyObject *segment, const uint8_t *head) noexcept:
    cdef Text text
    cdef uint32_t number
    cdef PyObject *far
    if head[0] < 128:
        text.octets = <raw.Raw>(head + 1)
        text.size = head[0]
    elif head[0] == 0xFF:
        number = raw.u32(<raw.Raw>head, 1)
        far = PyList_GET_ITEM(<PyObject *>(<PackedSegment>segment).far, number)
        text.octets = <raw.Raw>PyBytes_AS_STRING(far)
        text.size = PyBytes_GET_SIZE(far)
    else:
        text.octets = <raw.Raw>(head + 2)
        text.size = (head[0] & 1) << 8 | head[1]
    return text


cdef inline const uint8_t *_item_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef PyObject *marks = <PyObject *>(<PackedSegment>segment).marks
    cdef PyObject *data = <PyObject *>(<PackedSegment>segment).data
    cdef uint32_t offset = (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1]
    return <const uint8_t *>PyByteArray_AS_STRING(data) + offset


cdef inline Text key_at(PyObject *segment, Py_ssize_t at) noexcept:
    return _read(segment, _item_at(segment, at))


cdef inline Text value_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef const uint8_t *key = _item_at(segment, at)
    if key[0] < 128:
        return _read(segment, key + 1 + key[0])
    if key[0] == 0xFF:
        return _read(segment, key + 5)
    return _read(segment, key + 2 + ((key[0] & 1) << 8 | key[1]))
