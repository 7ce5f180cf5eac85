# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from libc.stdint cimport uint64_t

cdef enum:
    RECORD = 24


cdef inline int add(bytearray records, uint64_t deadline_ms, uint64_t ms, uint64_t seq) except -1:
    cdef Py_ssize_t size = PyByteArray_GET_SIZE(records)
    cdef uint64_t *record
    PyByteArray_Resize(records, size + RECORD)
    record = <uint64_t *>(PyByteArray_AS_STRING(records) + size)
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
