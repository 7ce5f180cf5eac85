# inline only
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.math cimport INFINITY, fabs, signbit
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <math.h>

    /* degrees * 10**17, rounded half to even; degrees from 0 up to 180. */
    static unsigned __int128 penstock_scaled(double degrees) {
        int exponent;
        unsigned long long mantissa = (unsigned long long)ldexp(frexp(degrees, &exponent), 53);
        unsigned __int128 whole, rest, half, product;
        int shift = 53 - exponent;
        product = (unsigned __int128)mantissa * 100000000000000000ULL;
        if (shift > 120) return 0;
        whole = product >> shift;
        rest = product - (whole << shift);
        half = (unsigned __int128)1 << (shift - 1);
        return whole + (rest > half || (rest == half && (whole & 1)));
    }
    static uint64_t penstock_degrees(double degrees, uint64_t *behind) {
        unsigned __int128 scaled = penstock_scaled(degrees);
        *behind = (uint64_t)(scaled % 100000000000000000ULL);
        return (uint64_t)(scaled / 100000000000000000ULL);
    }
    """
    uint64_t penstock_degrees(double degrees, uint64_t *behind) noexcept


# ---------------------------------------------------------------------- bits

cdef inline uint64_t spread(uint32_t number) noexcept:
    cdef uint64_t bits = number
    bits = (bits | bits << 16) & 0x0000FFFF0000FFFFULL
    bits = (bits | bits << 8) & 0x00FF00FF00FF00FFULL
    bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0FULL
    bits = (bits | bits << 2) & 0x3333333333333333ULL
    return (bits | bits << 1) & 0x5555555555555555ULL


cdef inline uint32_t gathered(uint64_t bits) noexcept:
    bits = bits & 0x5555555555555555ULL
    bits = (bits | bits >> 1) & 0x3333333333333333ULL
    bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0FULL
    bits = (bits | bits >> 4) & 0x00FF00FF00FF00FFULL
    bits = (bits | bits >> 8) & 0x0000FFFF0000FFFFULL
    return <uint32_t>(bits | bits >> 16)


cdef inline uint64_t cell(uint32_t column, uint32_t row) noexcept:
    return spread(column) << 1 | spread(row)


cdef inline uint64_t bits_of(double score) noexcept:
    if score >= 18446744073709551616.0:
        return 0
    if score < -9223372036854775808.0:
        return 1ULL << 63
    if score < 0:
        return <uint64_t><int64_t>score
    return <uint64_t>score


# ---------------------------------------------------------------------- degrees

cdef inline double _cells(int step) noexcept:
    return <double>(1LL << step)


cdef inline bint is_on_map(double longitude, double latitude) noexcept:
    return fabs(longitude) <= 180.0 and fabs(latitude) <= 85.05112878


cdef inline uint32_t column_of(double longitude, int step) noexcept:
    return <uint32_t>((longitude + 180.0) / 360.0 * _cells(step))


cdef inline uint32_t row_of(double latitude, int step) noexcept:
    return <uint32_t>((latitude + 85.05112878) / 170.10225756 * _cells(step))


cdef inline double west_of(int64_t column, int step) noexcept:
    return -180.0 + <double>column / _cells(step) * 360.0


cdef inline double south_of(int64_t row, int step) noexcept:
    return -85.05112878 + <double>row / _cells(step) * 170.10225756


cdef inline double score_of(double longitude, double latitude) noexcept:
    return <double>cell(column_of(longitude, 26), row_of(latitude, 26))


cdef inline double _within(double degrees, double most) noexcept:
    if degrees > most:
        return most
    return -most if degrees < -most else degrees


cdef inline double longitude_of(double score) noexcept:
    cdef int64_t column = gathered(bits_of(score) >> 1)
    return _within((west_of(column, 26) + west_of(column + 1, 26)) / 2, 180.0)


cdef inline double latitude_of(double score) noexcept:
    cdef int64_t row = gathered(bits_of(score))
    return _within((south_of(row, 26) + south_of(row + 1, 26)) / 2, 85.05112878)


# ---------------------------------------------------------------------- texts

cdef inline bytes degrees_text(double degrees):
    cdef char text[24]
    cdef uint64_t behind
    cdef uint64_t whole = penstock_degrees(fabs(degrees), &behind)
    cdef Py_ssize_t at = 24, end = 24, digit
    for digit in range(17):
        at -= 1
        text[at] = <char>(48 + behind % 10)
        behind = behind // 10
    while end > at and text[end - 1] == c"0":
        end -= 1
    if end > at:
        at -= 1
        text[at] = c"."
    else:
        at = end = 7
    digit = 0
    while whole or not digit:
        at -= 1
        text[at] = <char>(48 + whole % 10)
        whole = whole // 10
        digit += 1
    if signbit(degrees):
        at -= 1
        text[at] = c"-"
    return PyBytes_FromStringAndSize(text + at, end - at)


cdef inline double read_degrees(bytes text) noexcept:
    cdef const char *digits = PyBytes_AS_STRING(text)
    cdef Py_ssize_t end = PyBytes_GET_SIZE(text)
    cdef Py_ssize_t first = 1 if end and digits[0] == c"-" else 0
    cdef Py_ssize_t at = first, point = -1
    cdef int64_t number = 0, scale = 1
    if end - first > 16:
        return INFINITY
    while at < end:
        if c"0" <= digits[at] <= c"9":
            number = number * 10 + (digits[at] - 48)
            if point >= 0:
                scale *= 10
        elif digits[at] == c"." and point < 0:
            point = at
        else:
            return INFINITY
        at += 1
    if point <= first or point == end - 1:
        return INFINITY
    return -(<double>number / <double>scale) if first else <double>number / <double>scale


cdef inline bytes text_of(double score):
    cdef uint32_t column = <uint32_t>((longitude_of(score) + 180.0) / 360.0 * _cells(26))
    cdef uint32_t row = <uint32_t>((latitude_of(score) + 90.0) / 180.0 * _cells(26))
    cdef uint64_t bits = cell(column, row) >> 2
    cdef bytes text = PyBytes_FromStringAndSize(NULL, 11)
    cdef char *out = PyBytes_AS_STRING(text)
    cdef int at
    for at in range(10):
        out[at] = (<const char *>b"0123456789bcdefghjkmnpqrstuvwxyz")[bits >> (45 - 5 * at) & 31]
    out[10] = c"0"
    return text
