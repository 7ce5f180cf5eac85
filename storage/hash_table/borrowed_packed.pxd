# inline only
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t

from storage.hash_table.packed_bucket cimport PackedBucket
from storage.hash_table.packed_directory cimport PackedDirectory
from storage.hash_table.packed_octets cimport FAR, FAR_SIZE, LONG
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
    return (<PackedDirectory>table).used


cdef inline Py_ssize_t slots(PyObject *table) noexcept:
    return PyList_GET_SIZE(<PyObject *>(<PackedDirectory>table)._directory)


cdef inline PyObject *segment_at(PyObject *table, Py_ssize_t slot) noexcept:
    cdef PyObject *directory = <PyObject *>(<PackedDirectory>table)._directory
    cdef PyObject *segment = PyList_GET_ITEM(directory, slot)
    if slot > 0 and segment == PyList_GET_ITEM(directory, slot - 1):
        return NULL
    return segment


cdef inline Py_ssize_t count(PyObject *segment) noexcept:
    return PyByteArray_GET_SIZE(<PyObject *>(<PackedBucket>segment).marks) // 8


cdef inline const uint8_t *_item_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef PyObject *marks = <PyObject *>(<PackedBucket>segment).marks
    cdef PyObject *data = <PyObject *>(<PackedBucket>segment).data
    cdef uint32_t offset = (<uint32_t *>PyByteArray_AS_STRING(marks))[2 * at + 1]
    return <const uint8_t *>PyByteArray_AS_STRING(data) + offset


# The texts of packed_octets.pxd, read without touching a bytearray's reference count.
cdef inline Text _text(PyObject *segment, const uint8_t *head) noexcept:
    cdef Text text
    cdef PyObject *far
    if head[0] < LONG:
        text.octets = <raw.Raw>(head + 1)
        text.size = head[0]
    elif head[0] == FAR:
        far = PyList_GET_ITEM(
            <PyObject *>(<PackedBucket>segment).far, raw.u32(<raw.Raw>head, 1)
        )
        text.octets = <raw.Raw>PyBytes_AS_STRING(far)
        text.size = PyBytes_GET_SIZE(far)
    else:
        text.octets = <raw.Raw>(head + 2)
        text.size = (head[0] & 1) << 8 | head[1]
    return text


cdef inline const uint8_t *_behind(const uint8_t *head) noexcept:
    if head[0] < LONG:
        return head + 1 + head[0]
    return head + FAR_SIZE if head[0] == FAR else head + 2 + ((head[0] & 1) << 8 | head[1])


cdef inline Text key_at(PyObject *segment, Py_ssize_t at) noexcept:
    return _text(segment, _item_at(segment, at))


cdef inline Text value_at(PyObject *segment, Py_ssize_t at) noexcept:
    return text_behind_key(segment, at, 0)


cdef inline raw.Raw behind_key(PyObject *segment, Py_ssize_t at) noexcept:
    return <raw.Raw>_behind(_item_at(segment, at))


cdef inline Text text_behind_key(
    PyObject *segment, Py_ssize_t at, Py_ssize_t distance
) noexcept:
    return _text(segment, <const uint8_t *>behind_key(segment, at) + distance)
