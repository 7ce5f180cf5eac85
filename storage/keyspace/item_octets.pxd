# inline only
from libc.stdint cimport int64_t, uint32_t

from storage cimport octets
from storage.hash_table cimport packed_octets

cdef enum:
    TEXT = 0
    NUMBER = 1
    OBJECT = 2
    PACKED = 16
    USE = 4
    NUMBER_CELL = 9


cdef inline Py_ssize_t kind_start(bytearray data, Py_ssize_t offset) noexcept:
    return packed_octets.behind(data, offset) + USE


cdef inline int64_t number_of(bytearray data, Py_ssize_t cell) noexcept:
    return octets.i64(data, cell + 1)


cdef inline Py_ssize_t object_place(bytearray data, Py_ssize_t cell) noexcept:
    if packed_octets.is_far(data, cell):
        return cell + 1
    return packed_octets.start_of(data, cell)


cdef inline uint32_t object_of(bytearray data, Py_ssize_t cell) noexcept:
    return octets.u32(data, object_place(data, cell))


cdef inline Py_ssize_t put_number(bytearray data, Py_ssize_t cell, int64_t number) noexcept:
    return octets.put_i64(data, octets.put_u8(data, cell, NUMBER_CELL - 1), number)
