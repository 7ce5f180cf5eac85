# inline only
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec
from libc.stdint cimport uint64_t


cdef inline uint64_t now_ns() noexcept:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <uint64_t>now.tv_sec * 1000000000 + <uint64_t>now.tv_nsec
