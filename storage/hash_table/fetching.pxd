# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage.chance cimport Chance
from storage.hash_table cimport mark_octets
from storage.hash_table.packed_bucket cimport PackedBucket

cdef enum:
    MOST = 16

cdef extern from "Python.h":
    PyObject *PyList_GET_ITEM(list items, Py_ssize_t at) noexcept
    Py_ssize_t PyList_GET_SIZE(list items) noexcept

cdef extern from *:
    """
    /* An object's head and what is after it: the two may lie in two lines of the cache. */
    #define penstock_fetch_object(p) \
        (__builtin_prefetch(p), __builtin_prefetch((const char *)(p) + 56))
    """
    void penstock_fetch "__builtin_prefetch" (const void *address) nogil
    void penstock_fetch_object(PyObject *value) nogil


cdef inline int fetch(list directory, int shift, list keys) except -1:
    cdef uint32_t prefix[MOST]
    cdef PyObject *found[MOST]
    cdef Py_ssize_t count = min(PyList_GET_SIZE(keys), MOST)
    cdef Py_ssize_t n, at
    cdef PackedBucket bucket
    for n in range(count):
        prefix[n] = mark_octets.prefix_of(<bytes>keys[n])
        found[n] = <PyObject *>directory[<uint64_t>prefix[n] >> shift]
        penstock_fetch_object(found[n])
    for n in range(count):
        bucket = <PackedBucket>found[n]
        penstock_fetch(<PyObject *>bucket.marks)
        penstock_fetch(<PyObject *>bucket.data)
    for n in range(count):
        bucket = <PackedBucket>found[n]
        at = mark_octets.guess(bucket.marks, bucket.local_depth, prefix[n])
        penstock_fetch(PyByteArray_AS_STRING(bucket.marks) + at * mark_octets.MARK)
    for n in range(count):
        bucket = <PackedBucket>found[n]
        at = mark_octets.guess(bucket.marks, bucket.local_depth, prefix[n])
        at = mark_octets.first_from(bucket.marks, at, prefix[n])
        if at < mark_octets.count(bucket.marks):
            at = mark_octets.number_at(bucket.marks, at)
            penstock_fetch(PyByteArray_AS_STRING(bucket.data) + at)
    return 0


cdef inline list draw_places(
    list directory, int shift, Py_ssize_t most, Chance chance, Py_ssize_t items
):
    cdef int64_t slot[MOST]
    cdef PyObject *found[MOST]
    cdef Py_ssize_t place[MOST]
    cdef Py_ssize_t n, at, end, block
    cdef PackedBucket bucket
    cdef list places = []
    for n in range(MOST):
        slot[n] = chance.below(PyList_GET_SIZE(directory))
        found[n] = PyList_GET_ITEM(directory, slot[n])
        penstock_fetch_object(found[n])
    for n in range(MOST):
        bucket = <PackedBucket>found[n]
        penstock_fetch(<PyObject *>bucket.marks)
        penstock_fetch(<PyObject *>bucket.data)
    for n in range(MOST):
        bucket = <PackedBucket>found[n]
        block = 1 << (mark_octets.PREFIX_BITS - shift - bucket.local_depth)
        place[n] = chance.below(most * block)
        if place[n] < mark_octets.count(bucket.marks):
            penstock_fetch(PyByteArray_AS_STRING(bucket.marks) + place[n] * mark_octets.MARK)
    for n in range(MOST):
        bucket = <PackedBucket>found[n]
        end = mark_octets.count(bucket.marks)
        if place[n] < end:
            places.append(slot[n] << mark_octets.AT_BITS | place[n])
            for at in range(place[n], min(end, place[n] + items)):
                penstock_fetch(
                    PyByteArray_AS_STRING(bucket.data) + mark_octets.number_at(bucket.marks, at)
                )
    return places
