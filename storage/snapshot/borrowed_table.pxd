# inline only
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t

from storage.hash_table cimport borrowed_packed
from storage.hash_table.packed_bucket cimport PackedBucket
from storage.hash_table.packed_octets cimport FAR, LONG
from storage.keyspace.item_octets cimport USE
from storage.rdb cimport raw

cdef enum:
    KIND = USE
    CELL = USE + 1

cdef extern from *:
    """
    /* An object's head and what is after it: the two may lie in two lines of the cache. */
    #define penstock_prefetch(p) \
        (__builtin_prefetch(p), __builtin_prefetch((const char *)(p) + 40))
    """
    void penstock_prefetch(PyObject *value) noexcept

cdef extern from "Python.h":
    Py_ssize_t PyList_GET_SIZE(PyObject *items) noexcept
    PyObject *PyList_GET_ITEM(PyObject *items, Py_ssize_t at) noexcept


cdef inline int prefetch(PyObject *segment) noexcept:
    cdef PyObject *far = <PyObject *>(<PackedBucket>segment).far
    cdef Py_ssize_t number
    if far != <PyObject *>None:
        for number in range(PyList_GET_SIZE(far)):
            penstock_prefetch(PyList_GET_ITEM(far, number))
    return 0


cdef inline uint32_t last_use_at(PyObject *segment, Py_ssize_t at) noexcept:
    return raw.u32(borrowed_packed.behind_key(segment, at), 0)


cdef inline int kind_at(PyObject *segment, Py_ssize_t at) noexcept:
    return borrowed_packed.behind_key(segment, at)[KIND]


cdef inline PyObject *object_at(PyObject *segment, Py_ssize_t at) noexcept:
    cdef raw.Raw item = borrowed_packed.behind_key(segment, at)
    cdef Py_ssize_t number = CELL + (1 if item[CELL] < LONG or item[CELL] == FAR else 2)
    return PyList_GET_ITEM(<PyObject *>(<PackedBucket>segment).far, raw.u32(item, number))


cdef inline int64_t number_at(PyObject *segment, Py_ssize_t at) noexcept:
    return raw.i64(borrowed_packed.behind_key(segment, at), CELL + 1)


cdef inline borrowed_packed.Text text_at(PyObject *segment, Py_ssize_t at) noexcept:
    return borrowed_packed.text_behind_key(segment, at, CELL)
