# inline only
from libc.stdint cimport int64_t
from posix.time cimport CLOCK_MONOTONIC, CLOCK_REALTIME, clock_gettime, timespec

cdef extern from *:
    """
    #if defined(__x86_64__)
    #include <x86intrin.h>
    #define penstock_cpu_ticks() ((int64_t)__rdtsc())
    #elif defined(__aarch64__)
    static inline int64_t penstock_cpu_ticks(void) {
        int64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
    #else
    #include <time.h>
    static inline int64_t penstock_cpu_ticks(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
    #endif
    """
    int64_t penstock_cpu_ticks() noexcept nogil


cdef inline int64_t now_ns() noexcept:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <int64_t>now.tv_sec * 1000000000 + <int64_t>now.tv_nsec


cdef inline int64_t cpu_ticks() noexcept:
    return penstock_cpu_ticks()


cdef inline int64_t unix_ns() noexcept:
    cdef timespec now
    clock_gettime(CLOCK_REALTIME, &now)
    return <int64_t>now.tv_sec * 1000000000 + <int64_t>now.tv_nsec
