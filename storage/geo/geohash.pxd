# inline only
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.math cimport fabs
from libc.stdint cimport int64_t, uint32_t, uint64_t


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
