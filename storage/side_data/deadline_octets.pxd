# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from libc.stdint cimport uint64_t

cdef enum:
    RECORD = 24


cdef inline int resize(bytearray records, Py_ssize_t count) except -1:
    PyByteArray_Resize(records, count * RECORD)
    return 0


cdef inline int put(
    bytearray records, Py_ssize_t at, uint64_t deadline_ms, uint64_t ms, uint64_t seq
) noexcept:
    cdef uint64_t *record = (<uint64_t *>PyByteArray_AS_STRING(records)) + 3 * at
    record[0] = deadline_ms
    record[1] = ms
    record[2] = seq
    return 0


cdef inline uint64_t deadline_at(bytearray records, Py_ssize_t at) noexcept:
    return (<uint64_t *>PyByteArray_AS_STRING(records))[3 * at]


cdef inline uint64_t ms_at(bytearray records, Py_ssize_t at) noexcept:
    return (<uint64_t *>PyByteArray_AS_STRING(records))[3 * at + 1]


cdef inline uint64_t seq_at(bytearray records, Py_ssize_t at) noexcept:
    return (<uint64_t *>PyByteArray_AS_STRING(records))[3 * at + 2]


cdef inline int forget(bytearray records, Py_ssize_t at) noexcept:
    (<uint64_t *>PyByteArray_AS_STRING(records))[3 * at] = 0
    return 0
