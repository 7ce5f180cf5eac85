# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

from storage.hash_table cimport mark_octets
from storage.hash_table.packed_bucket cimport PackedBucket

cdef enum:
    MOST = 16

cdef extern from *:
    """
    /* An object's head and what is behind it: the two may lie in two lines of the cache. */
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
