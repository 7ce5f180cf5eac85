# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport strtod
from libc.string cimport memcpy

cdef enum:
    MOST_DIGITS = 32


# ---------------------------------------------------------------------- numbers as bits

cdef inline uint64_t bits_of(double number) noexcept:
    cdef uint64_t bits
    number += 6755399441055744.0
    memcpy(&bits, &number, 8)
    return <uint32_t>bits


cdef inline int64_t signed_32(uint64_t bits) noexcept:
    return <int32_t>bits


cdef inline int64_t signed_64(uint64_t bits) noexcept:
    return <int64_t>bits


cdef inline int64_t truncated(double number) noexcept:
    if -9223372036854775808.0 <= number < 9223372036854775808.0:
        return <int64_t>number
    return INT64_MIN


cdef inline uint64_t wrapped(double number) noexcept:
    if 9223372036854775808.0 <= number < 18446744073709551616.0:
        return <uint64_t>number
    return 0 if number >= 18446744073709551616.0 else <uint64_t>truncated(number)


cdef inline bint is_single(double number) noexcept:
    return <double><float>number == number


cdef inline double single(double number) noexcept:
    return <double><float>number


# ---------------------------------------------------------------------- numbers as bytes

cdef inline Py_ssize_t put_integer(
    bytearray buffer, Py_ssize_t at, uint64_t bits, int size, bint big
) noexcept:
    cdef uint8_t *out = <uint8_t *>PyByteArray_AS_STRING(buffer) + at
    cdef int i
    for i in range(size):
        out[size - 1 - i if big else i] = bits & 0xFF
        bits >>= 8
    return at + size


cdef inline int put_bytes(uint8_t *out, const uint8_t *data, int size, bint big) noexcept:
    cdef int i
    for i in range(size):
        out[size - 1 - i if big else i] = data[i]
    return size


cdef inline Py_ssize_t put_real(
    bytearray buffer, Py_ssize_t at, double number, int size, bint big
) noexcept:
    cdef uint8_t *out = <uint8_t *>PyByteArray_AS_STRING(buffer) + at
    cdef float rounded = <float>number
    if size == 4:
        put_bytes(out, <uint8_t *>&rounded, 4, big)
    else:
        put_bytes(out, <uint8_t *>&number, 8, big)
    return at + size


cdef inline uint64_t integer_at(bytes data, Py_ssize_t at, int size, bint big) noexcept:
    cdef const uint8_t *octets = <const uint8_t *>PyBytes_AS_STRING(data) + at
    cdef uint64_t bits = 0
    cdef int i
    for i in range(size):
        bits = (bits << 8) | octets[i if big else size - 1 - i]
    return bits


cdef inline double real_at(bytes data, Py_ssize_t at, int size, bint big) noexcept:
    cdef const uint8_t *octets = <const uint8_t *>PyBytes_AS_STRING(data) + at
    cdef float rounded
    cdef double number
    if size == 4:
        put_bytes(<uint8_t *>&rounded, octets, 4, big)
        return rounded
    put_bytes(<uint8_t *>&number, octets, 8, big)
    return number


# ---------------------------------------------------------------------- numbers as text

cdef inline Py_ssize_t put_decimal(
    bytearray buffer, Py_ssize_t at, double number, int digits
) noexcept:
    cdef char *out = PyByteArray_AS_STRING(buffer) + at
    cdef char reverse[16]
    cdef int64_t rest
    cdef int count = 0
    if not (-1e9 < number < 1e9 and number == <int32_t>number and number != 0 and digits > 9):
        return at + snprintf(out, MOST_DIGITS, "%.*g", digits, number)
    rest = <int64_t>number
    if rest < 0:
        out[0] = b"-"
        out += 1
        at += 1
        rest = -rest
    while rest:
        reverse[count] = 48 + rest % 10
        rest //= 10
        count += 1
    for i in range(count):
        out[i] = reverse[count - 1 - i]
    return at + count


cdef inline Py_ssize_t read_decimal(bytes text, Py_ssize_t at, double *number) noexcept:
    cdef char *start = PyBytes_AS_STRING(text) + at
    cdef char *end
    number[0] = strtod(start, &end)
    return at + (end - start)
