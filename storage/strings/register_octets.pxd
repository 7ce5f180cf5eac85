# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.stdint cimport uint8_t, uint32_t

cdef extern from *:
    """
    #include <string.h>

    #define PENSTOCK_REGISTERS 16384
    #define PENSTOCK_HLL_HEADER 16

    /* Eight registers: from 6 bytes to 8, and back. Halves are moved apart, then their halves. */
    static inline uint64_t penstock_spread(uint64_t n) {
        n = (n & 0x0000000000ffffffull) | (n & 0x0000ffffff000000ull) << 8;
        n = (n & 0x00000fff00000fffull) | (n & 0x00fff00000fff000ull) << 4;
        return (n & 0x003f003f003f003full) | (n & 0x0fc00fc00fc00fc0ull) << 2;
    }
    static inline uint64_t penstock_squeeze(uint64_t n) {
        n = (n & 0x003f003f003f003full) | (n & 0x3f003f003f003f00ull) >> 2;
        n = (n & 0x00000fff00000fffull) | (n & 0x0fff00000fff0000ull) >> 4;
        return (n & 0x0000000000ffffffull) | (n & 0x00ffffff00000000ull) >> 8;
    }
    static void penstock_merge_eights(uint8_t *registers, const uint8_t *dense, int count) {
        for (; count > 0; count -= 8, registers += 8, dense += 6) {
            uint64_t six = 0;
            uint8_t eight[8];
            memcpy(&six, dense, 6);
            six = penstock_spread(six);
            memcpy(eight, &six, 8);
            for (int i = 0; i < 8; i++)
                registers[i] = registers[i] > eight[i] ? registers[i] : eight[i];
        }
    }
    static void penstock_write_eights(uint8_t *dense, const uint8_t *registers, int count) {
        for (; count > 0; count -= 8, registers += 8, dense += 6) {
            uint64_t eight;
            memcpy(&eight, registers, 8);
            eight = penstock_squeeze(eight);
            memcpy(dense, &eight, 6);
        }
    }

    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    #define PENSTOCK_EACH(n) _mm256_set1_epi32(n)
    /* Merge 32 registers at a time: each three bytes go to four of their own and are spread there.
       28 bytes are read or written for 24, so the last 32 registers are left to the others. */
    __attribute__((target("avx2")))
    static void penstock_merge_avx2(uint8_t *registers, const uint8_t *dense) {
        const __m256i apart = _mm256_setr_epi8(
            0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,
            0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
        for (int left = PENSTOCK_REGISTERS; left > 32; left -= 32, registers += 32, dense += 24) {
            __m256i n = _mm256_inserti128_si256(
                _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)dense)),
                _mm_loadu_si128((const __m128i *)(dense + 12)), 1);
            __m256i old = _mm256_loadu_si256((const __m256i *)registers);
            n = _mm256_shuffle_epi8(n, apart);
            n = _mm256_or_si256(
                _mm256_and_si256(n, PENSTOCK_EACH(0x00000fff)),
                _mm256_slli_epi32(_mm256_and_si256(n, PENSTOCK_EACH(0x00fff000)), 4));
            n = _mm256_or_si256(
                _mm256_and_si256(n, PENSTOCK_EACH(0x003f003f)),
                _mm256_slli_epi32(_mm256_and_si256(n, PENSTOCK_EACH(0x0fc00fc0)), 2));
            _mm256_storeu_si256((__m256i *)registers, _mm256_max_epu8(n, old));
        }
        penstock_merge_eights(registers, dense, 32);
    }
    __attribute__((target("avx2")))
    static void penstock_write_avx2(uint8_t *dense, const uint8_t *registers) {
        const __m256i together = _mm256_setr_epi8(
            0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
            0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
        for (int left = PENSTOCK_REGISTERS; left > 32; left -= 32, registers += 32, dense += 24) {
            __m256i n = _mm256_loadu_si256((const __m256i *)registers);
            n = _mm256_or_si256(
                _mm256_and_si256(n, PENSTOCK_EACH(0x003f003f)),
                _mm256_srli_epi32(_mm256_and_si256(n, PENSTOCK_EACH(0x3f003f00)), 2));
            n = _mm256_or_si256(
                _mm256_and_si256(n, PENSTOCK_EACH(0x00000fff)),
                _mm256_srli_epi32(_mm256_and_si256(n, PENSTOCK_EACH(0x0fff0000)), 4));
            n = _mm256_shuffle_epi8(n, together);
            _mm_storeu_si128((__m128i *)dense, _mm256_castsi256_si128(n));
            _mm_storeu_si128((__m128i *)(dense + 12), _mm256_extracti128_si256(n, 1));
        }
        penstock_write_eights(dense, registers, 32);
    }
    #define PENSTOCK_HAS_AVX2 __builtin_cpu_supports("avx2")
    #else
    #define penstock_merge_avx2(registers, dense)
    #define penstock_write_avx2(dense, registers)
    #define PENSTOCK_HAS_AVX2 0
    #endif

    static void penstock_merge_dense(uint8_t *registers, const uint8_t *dense) {
        if (PENSTOCK_HAS_AVX2) {
            penstock_merge_avx2(registers, dense + PENSTOCK_HLL_HEADER);
        } else {
            penstock_merge_eights(registers, dense + PENSTOCK_HLL_HEADER, PENSTOCK_REGISTERS);
        }
    }
    static void penstock_write_dense(uint8_t *dense, const uint8_t *registers) {
        if (PENSTOCK_HAS_AVX2) {
            penstock_write_avx2(dense + PENSTOCK_HLL_HEADER, registers);
        } else {
            penstock_write_eights(dense + PENSTOCK_HLL_HEADER, registers, PENSTOCK_REGISTERS);
        }
    }

    /* Neighbours often have the same value, and adding to one counter again and again makes each
       addition wait for the one before: so there are four tables. */
    static void penstock_tally(uint32_t *table, const uint8_t *registers) {
        uint32_t tables[4][64];
        memset(tables, 0, sizeof tables);
        for (int i = 0; i < PENSTOCK_REGISTERS; i += 4) {
            tables[0][registers[i] & 63]++;
            tables[1][registers[i + 1] & 63]++;
            tables[2][registers[i + 2] & 63]++;
            tables[3][registers[i + 3] & 63]++;
        }
        for (int i = 0; i < 64; i++)
            table[i] = tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
    }
    """
    void penstock_merge_dense(uint8_t *registers, const uint8_t *dense) noexcept
    void penstock_write_dense(uint8_t *dense, const uint8_t *registers) noexcept
    void penstock_tally(uint32_t *table, const uint8_t *registers) noexcept


cdef inline int merge_dense(bytearray registers, bytearray dense) noexcept:
    penstock_merge_dense(
        <uint8_t *>PyByteArray_AS_STRING(registers), <uint8_t *>PyByteArray_AS_STRING(dense)
    )
    return 0


cdef inline int write_dense(bytearray dense, bytearray registers) noexcept:
    penstock_write_dense(
        <uint8_t *>PyByteArray_AS_STRING(dense), <uint8_t *>PyByteArray_AS_STRING(registers)
    )
    return 0


cdef inline list tally(bytearray registers):
    cdef uint32_t[64] table
    cdef int value
    cdef list counts = []
    penstock_tally(table, <uint8_t *>PyByteArray_AS_STRING(registers))
    for value in range(64):
        counts.append(table[value])
    return counts
