# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t

from octets cimport buffers
from storage cimport octets

cdef enum:
    STR6 = 0x80
    INT13 = 0xC0
    STR12 = 0xE0
    STR32 = 0xF0
    INT16 = 0xF1
    INT24 = 0xF2
    INT32 = 0xF3
    INT64 = 0xF4


cdef inline const uint8_t *bytes_at(bytearray data, Py_ssize_t at) noexcept:
    return <const uint8_t *>PyByteArray_AS_STRING(data) + at


cdef inline Py_ssize_t backlen_size(Py_ssize_t size) noexcept:
    if size <= 127:
        return 1
    if size < 16383:
        return 2
    if size < 2097151:
        return 3
    return 4 if size < 268435455 else 5


cdef inline Py_ssize_t put_backlen(bytearray data, Py_ssize_t at, Py_ssize_t size) noexcept:
    cdef Py_ssize_t end
    cdef Py_ssize_t last
    if size <= 127:
        return octets.put_u8(data, at, size)
    end = at + backlen_size(size)
    last = end - 1
    while last > at:
        octets.put_u8(data, last, size & 0x7F | 0x80)
        size >>= 7
        last -= 1
    octets.put_u8(data, at, size)
    return end


cdef inline Py_ssize_t backlen_before(bytearray data, Py_ssize_t at) noexcept:
    cdef const uint8_t *group = bytes_at(data, at)
    cdef Py_ssize_t size = 0
    cdef int shift = 0
    while shift < 35:
        group -= 1
        size |= <Py_ssize_t>(group[0] & 0x7F) << shift
        if group[0] < 0x80:
            break
        shift += 7
    return size


cdef inline Py_ssize_t string_size(Py_ssize_t length) noexcept:
    if length < 64:
        return 1 + length
    return (2 if length < 4096 else 5) + length


cdef inline int int_size(int64_t number) noexcept:
    if 0 <= number <= 127:
        return 1
    if -0x1000 <= number < 0x1000:
        return 2
    if -0x8000 <= number < 0x8000:
        return 3
    if -0x800000 <= number < 0x800000:
        return 4
    return 5 if -0x80000000LL <= number < 0x80000000LL else 9


cdef inline Py_ssize_t put_string(bytearray data, Py_ssize_t at, bytes value) noexcept:
    cdef Py_ssize_t length = PyBytes_GET_SIZE(value)
    cdef Py_ssize_t start = at
    if length < 64:
        at = octets.put_u8(data, at, STR6 | length)
    elif length < 4096:
        at = octets.put_u8(data, at, STR12 | length >> 8)
        at = octets.put_u8(data, at, length)
    else:
        at = octets.put_u8(data, at, STR32)
        at = octets.put_u32(data, at, length)
    at = buffers.put(data, at, value)
    return put_backlen(data, at, at - start)


cdef inline Py_ssize_t put_int(bytearray data, Py_ssize_t at, int64_t number) noexcept:
    cdef int size = int_size(number)
    if size == 1:
        at = octets.put_u8(data, at, number)
    elif size == 2:
        at = octets.put_u8(data, at, INT13 | number >> 8 & 0x1F)
        at = octets.put_u8(data, at, number)
    elif size == 3:
        at = octets.put_u16(data, octets.put_u8(data, at, INT16), number)
    elif size == 4:
        at = octets.put_u24(data, octets.put_u8(data, at, INT24), number)
    elif size == 5:
        at = octets.put_u32(data, octets.put_u8(data, at, INT32), number)
    else:
        at = octets.put_i64(data, octets.put_u8(data, at, INT64), number)
    return octets.put_u8(data, at, size)


cdef inline Py_ssize_t most_bytes(Py_ssize_t length) noexcept:
    cdef Py_ssize_t size = string_size(length)
    return size + backlen_size(size)


cdef inline Py_ssize_t put(bytearray data, Py_ssize_t at, bytes value) noexcept:
    if octets.is_int64(value):
        return put_int(data, at, octets.int64_of(value))
    return put_string(data, at, value)


cdef inline Py_ssize_t encoded_size(bytearray data, Py_ssize_t at) noexcept:
    cdef const uint8_t *head = bytes_at(data, at)
    if head[0] < STR6:
        return 1
    if head[0] < INT13:
        return 1 + (head[0] & 0x3F)
    if head[0] < STR12:
        return 2
    if head[0] < STR32:
        return 2 + (<Py_ssize_t>(head[0] & 0x0F) << 8 | head[1])
    if head[0] == STR32:
        return 5 + <Py_ssize_t>octets.u32(data, at + 1)
    if head[0] <= INT32:
        return 2 + head[0] - STR32
    return 9 if head[0] == INT64 else 0


cdef inline Py_ssize_t after(bytearray data, Py_ssize_t at) noexcept:
    cdef Py_ssize_t size = encoded_size(data, at)
    return at + size + backlen_size(size)


cdef inline Py_ssize_t short_size(bytearray data, Py_ssize_t at) noexcept:
    cdef uint8_t head = bytes_at(data, at)[0]
    return head & 0x3F if head & 0xC0 == STR6 else -1


cdef inline bint is_string(bytearray data, Py_ssize_t at) noexcept:
    cdef uint8_t head = bytes_at(data, at)[0]
    return head >= STR6 and (head < INT13 or STR12 <= head <= STR32)


cdef inline int64_t number_at(bytearray data, Py_ssize_t at) noexcept:
    cdef const uint8_t *head = bytes_at(data, at)
    cdef int number
    if head[0] < STR6:
        return head[0]
    if head[0] < STR12:
        number = (head[0] & 0x1F) << 8 | head[1]
        return number - 0x2000 if number >= 0x1000 else number
    if head[0] == INT16:
        return octets.i16(data, at + 1)
    if head[0] == INT24:
        return octets.i24(data, at + 1)
    if head[0] == INT32:
        return octets.i32(data, at + 1)
    return octets.i64(data, at + 1)


cdef inline Py_ssize_t head_size(bytearray data, Py_ssize_t at) noexcept:
    cdef uint8_t head = bytes_at(data, at)[0]
    if head < INT13:
        return 1
    return 2 if head < STR32 else 5
