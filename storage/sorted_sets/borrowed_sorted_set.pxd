# inline only
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from storage.rdb cimport raw
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.member_index cimport MemberIndex
from storage.sorted_sets.score_tree cimport ScoreTree
from storage.sorted_sets.sorted_set cimport SortedSet

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t at) noexcept
    char *PyByteArray_AS_STRING(PyObject *data) noexcept
    Py_ssize_t PyByteArray_GET_SIZE(PyObject *data) noexcept

cdef struct Text:
    raw.Raw octets
    Py_ssize_t size


cdef inline PyObject *pack_of(PyObject *value) noexcept:
    cdef PyObject *pack = <PyObject *>(<SortedSet>value).pack
    return pack if pack != <PyObject *>None else NULL


cdef inline PyObject *tree_of(PyObject *value) noexcept:
    cdef PyObject *tree = <PyObject *>(<SortedSet>value).tree
    return tree if tree != <PyObject *>None else NULL


cdef inline Py_ssize_t size(PyObject *tree) noexcept:
    cdef PyObject *index = <PyObject *>(<ScoreTree>tree)._index
    return (<MemberIndex>index).used


cdef inline PyObject *_leaf(PyObject *tree, int number) noexcept:
    return PyList_GET_ITEM(<PyObject *>(<ScoreTree>tree).leaves, number)


cdef inline PyObject *last_leaf(PyObject *tree) noexcept:
    return _leaf(tree, (<ScoreTree>tree).last)


cdef inline PyObject *leaf_before(PyObject *tree, PyObject *leaf) noexcept:
    cdef int number = (<Leaf>leaf).before
    return NULL if number < 0 else _leaf(tree, number)


cdef inline PyObject *leaf_of(Leaf leaf) noexcept:
    return <PyObject *>leaf


cdef inline Py_ssize_t count(PyObject *leaf) noexcept:
    return PyByteArray_GET_SIZE(<PyObject *>(<Leaf>leaf).marks) // 16


# The marks and texts of score_octets.pxd, read without touching a bytearray's reference count.
cdef inline const uint8_t *_mark(PyObject *leaf, Py_ssize_t at) noexcept:
    return <const uint8_t *>PyByteArray_AS_STRING(<PyObject *>(<Leaf>leaf).marks) + at * 16


cdef inline Text member_at(PyObject *leaf, Py_ssize_t at) noexcept:
    cdef const uint8_t *text = <const uint8_t *>PyByteArray_AS_STRING(<PyObject *>(<Leaf>leaf).data)
    cdef uint32_t offset
    cdef Text found
    memcpy(&offset, _mark(leaf, at) + 12, 4)
    text += offset
    if text[0] < 128:
        found.octets = <raw.Raw>(text + 1)
        found.size = text[0]
    else:
        found.octets = <raw.Raw>(text + 4)
        found.size = <Py_ssize_t>(text[0] & 0x7F) << 24 | text[1] << 16 | text[2] << 8 | text[3]
    return found


cdef inline uint64_t score_bits_at(PyObject *leaf, Py_ssize_t at) noexcept:
    cdef uint64_t bits
    memcpy(&bits, _mark(leaf, at), 8)
    return bits
