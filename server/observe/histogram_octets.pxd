# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    int leading_zeros "__builtin_clzll" (unsigned long long number) nogil

cdef enum:
    COUNT = 8


cdef inline Py_ssize_t bucket_of(int64_t ns) noexcept:
    cdef int shift = 56 - leading_zeros(<uint64_t>ns)
    if shift < 0:
        shift = 0
    return (<Py_ssize_t>shift << 7) + (ns >> shift)


cdef inline int64_t count_at(bytearray counts, Py_ssize_t bucket) noexcept:
    return (<int64_t *>PyByteArray_AS_STRING(counts))[bucket]


cdef inline Py_ssize_t count_one(bytearray counts, Py_ssize_t bucket) noexcept:
    (<int64_t *>PyByteArray_AS_STRING(counts))[bucket] += 1
    return (bucket + 1) * COUNT
