# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from storage.rdb.raw cimport Raw

cdef extern from *:
    """
    #define PENSTOCK_COUNT_ONES(ones_of) \
        uint64_t found = 0, word; \
        Py_ssize_t at = 0; \
        for (; at + 8 <= size; at += 8) { \
            memcpy(&word, octets + at, 8); \
            found += ones_of(word); \
        } \
        if (at < size) { \
            word = 0; \
            memcpy(&word, octets + at, size - at); \
            found += ones_of(word); \
        } \
        return (int64_t)found;

    static inline uint64_t penstock_ones_of(uint64_t n) {
        n -= (n >> 1) & 0x5555555555555555ull;
        n = (n & 0x3333333333333333ull) + ((n >> 2) & 0x3333333333333333ull);
        n = (n + (n >> 4)) & 0x0f0f0f0f0f0f0f0full;
        return (n * 0x0101010101010101ull) >> 56;
    }
    static int64_t penstock_ones_anywhere(const uint8_t *octets, Py_ssize_t size) {
        PENSTOCK_COUNT_ONES(penstock_ones_of)
    }
    #if defined(__x86_64__) && defined(__GNUC__)
    __attribute__((target("popcnt")))
    static int64_t penstock_ones_popcnt(const uint8_t *octets, Py_ssize_t size) {
        PENSTOCK_COUNT_ONES(__builtin_popcountll)
    }
    static int64_t penstock_ones(const uint8_t *octets, Py_ssize_t size) {
        return __builtin_cpu_supports("popcnt") ? penstock_ones_popcnt(octets, size)
                                                : penstock_ones_anywhere(octets, size);
    }
    #else
    #define penstock_ones penstock_ones_anywhere
    #endif

    static void penstock_and(uint8_t *out, const uint8_t *octets, Py_ssize_t size) {
        for (Py_ssize_t i = 0; i < size; i++) out[i] &= octets[i];
    }
    static void penstock_or(uint8_t *out, const uint8_t *octets, Py_ssize_t size) {
        for (Py_ssize_t i = 0; i < size; i++) out[i] |= octets[i];
    }
    static void penstock_xor(uint8_t *out, const uint8_t *octets, Py_ssize_t size) {
        for (Py_ssize_t i = 0; i < size; i++) out[i] ^= octets[i];
    }
    static void penstock_not(uint8_t *out, Py_ssize_t size) {
        for (Py_ssize_t i = 0; i < size; i++) out[i] = ~out[i];
    }
    """
    int64_t penstock_ones(const uint8_t *octets, Py_ssize_t size) noexcept
    void penstock_and(uint8_t *out, const uint8_t *octets, Py_ssize_t size) noexcept
    void penstock_or(uint8_t *out, const uint8_t *octets, Py_ssize_t size) noexcept
    void penstock_xor(uint8_t *out, const uint8_t *octets, Py_ssize_t size) noexcept
    void penstock_not(uint8_t *out, Py_ssize_t size) noexcept


cdef inline Raw octets_of(object text) noexcept:
    if PyBytes_CheckExact(text):
        return <Raw>PyBytes_AS_STRING(text)
    return <Raw>PyByteArray_AS_STRING(text)


cdef inline int64_t ones(Raw data, Py_ssize_t start, Py_ssize_t end) noexcept:
    return penstock_ones(data + start, end - start)


cdef inline Py_ssize_t first_other(
    Raw data, int byte, Py_ssize_t start, Py_ssize_t end
) noexcept:
    cdef uint64_t wanted = 0x0101010101010101ULL * <uint64_t>byte
    cdef uint64_t word
    while start + 8 <= end:
        memcpy(&word, data + start, 8)
        if word != wanted:
            break
        start += 8
    while start < end and data[start] == byte:
        start += 1
    return start


cdef inline uint8_t *_from(bytearray out, Py_ssize_t at) noexcept:
    return <uint8_t *>PyByteArray_AS_STRING(out) + at


cdef inline int copy(bytearray out, Py_ssize_t at, Raw data, Py_ssize_t size) noexcept:
    memcpy(_from(out, at), data + at, size)
    return 0


cdef inline int clear(bytearray out, Py_ssize_t start, Py_ssize_t end) noexcept:
    memset(_from(out, start), 0, end - start)
    return 0


cdef inline int both(bytearray out, Py_ssize_t at, Raw data, Py_ssize_t size) noexcept:
    penstock_and(_from(out, at), data + at, size)
    return 0


cdef inline int either(bytearray out, Py_ssize_t at, Raw data, Py_ssize_t size) noexcept:
    penstock_or(_from(out, at), data + at, size)
    return 0


cdef inline int different(bytearray out, Py_ssize_t at, Raw data, Py_ssize_t size) noexcept:
    penstock_xor(_from(out, at), data + at, size)
    return 0


cdef inline int inverted(bytearray out, Py_ssize_t at, Py_ssize_t size) noexcept:
    penstock_not(_from(out, at), size)
    return 0
