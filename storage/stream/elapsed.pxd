# inline only
from libc.stdint cimport int64_t, uint64_t


cdef inline int64_t since(int64_t then_ms, int64_t now_ms) noexcept:
    # Unsigned numbers wrap around by definition.
    return <int64_t>(<uint64_t>now_ms - <uint64_t>then_ms)
