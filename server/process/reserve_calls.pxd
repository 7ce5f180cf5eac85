# inline only

from libc.stdint cimport uint64_t

# All of Python's allocations of more than 512 bytes are of the RAW domain, and the smaller ones too
# when no arena can be had for them. Threads allocate without holding the GIL, so who takes the
# reserve away exchanges the pointer. Its pages are never written to: it costs addresses only. It
# comes from malloc, which has what was freed, when the system gives no more.
cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #ifndef PENSTOCK_RESERVE
    #define PENSTOCK_RESERVE
    static void *penstock_reserve = NULL;
    static size_t penstock_reserve_size = 0;
    static uint64_t penstock_small_failures = 0;
    static PyMemAllocatorEx penstock_raw;

    static int penstock_take(size_t size) {
        void *memory;
        if (penstock_reserve != NULL)
            return 1;
        memory = malloc(size);
        if (memory == NULL)
            return 0;
        penstock_reserve_size = size;
        __atomic_store_n(&penstock_reserve, memory, __ATOMIC_SEQ_CST);
        return 1;
    }
    static int penstock_give_back(void) {
        void *memory = __atomic_exchange_n(&penstock_reserve, NULL, __ATOMIC_SEQ_CST);
        if (memory == NULL)
            return 0;
        free(memory);
        return 1;
    }
    /* An allocation of *size* bytes has failed: whether to try it again. */
    static int penstock_make_room(size_t size) {
        if (size >= penstock_reserve_size)
            return 0;
        if (penstock_give_back())
            return 1;
        penstock_small_failures++;
        return 0;
    }
    static void *penstock_malloc(void *context, size_t size) {
        void *memory = penstock_raw.malloc(penstock_raw.ctx, size);
        if (memory == NULL && penstock_make_room(size))
            memory = penstock_raw.malloc(penstock_raw.ctx, size);
        return memory;
    }
    static void *penstock_calloc(void *context, size_t count, size_t size) {
        void *memory = penstock_raw.calloc(penstock_raw.ctx, count, size);
        if (memory == NULL && penstock_make_room(count * size))
            memory = penstock_raw.calloc(penstock_raw.ctx, count, size);
        return memory;
    }
    static void *penstock_realloc(void *context, void *before, size_t size) {
        void *memory = penstock_raw.realloc(penstock_raw.ctx, before, size);
        if (memory == NULL && penstock_make_room(size))
            memory = penstock_raw.realloc(penstock_raw.ctx, before, size);
        return memory;
    }
    static void penstock_free(void *context, void *memory) {
        penstock_raw.free(penstock_raw.ctx, memory);
    }
    static void penstock_guard_allocations(void) {
        PyMemAllocatorEx guarded = {
            NULL, penstock_malloc, penstock_calloc, penstock_realloc, penstock_free
        };
        if (penstock_raw.malloc != NULL)
            return;
        PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &penstock_raw);
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &guarded);
    }
    #endif
    """
    int c_take "penstock_take" (size_t size)
    int c_give_back "penstock_give_back" ()
    void c_guard_allocations "penstock_guard_allocations" ()
    void *c_reserve "penstock_reserve"
    const uint64_t c_small_failures "penstock_small_failures"


cdef inline bint take(size_t size) noexcept:
    return c_take(size)


cdef inline void give_back() noexcept:
    c_give_back()


cdef inline bint is_held() noexcept:
    return c_reserve != NULL


cdef inline uint64_t small_failures() noexcept:
    return c_small_failures


cdef inline void guard_allocations() noexcept:
    c_guard_allocations()
