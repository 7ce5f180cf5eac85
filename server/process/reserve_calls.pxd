# inline only

from libc.stdint cimport uint64_t

# All of Python's allocations of more than 512 bytes are of the RAW domain, and the smaller ones too
# when no arena can be obtained for them. Threads allocate without holding the GIL, so the reserve is
# taken by an atomic exchange of the pointer, and so is the spare block. Its pages are never written
# to: it costs addresses only. It comes from malloc, which has what was freed, when the system gives
# no more. Under AddressSanitizer no block is spared: a use of it after it was freed has to be seen.
cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    #ifdef __GLIBC__
    #include <malloc.h>
    #endif
    #ifndef PENSTOCK_RESERVE
    #define PENSTOCK_RESERVE
    static void *penstock_reserve = NULL;
    static size_t penstock_reserve_size = 0;
    static uint64_t penstock_small_failures = 0;
    static PyMemAllocatorEx penstock_raw;

    enum { PENSTOCK_SPARE_LEAST = 4 << 20, PENSTOCK_SPARE_MOST = 256 << 20 };
    static void *penstock_spare = NULL;
    static uint64_t penstock_spares = 0;
    static int penstock_keeps_spares = 0;

    static int penstock_drop_spare(void) {
        void *memory = __atomic_exchange_n(&penstock_spare, NULL, __ATOMIC_SEQ_CST);
        if (memory == NULL)
            return 0;
        free(memory);
        return 1;
    }
    #if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    /* A block of *size* bytes, or up to *more* of them; NULL if the spare one is not that. */
    static void *penstock_take_spare(size_t size, size_t more) {
        void *memory, *nothing = NULL;
        size_t has;
        if (size < PENSTOCK_SPARE_LEAST || penstock_spare == NULL)
            return NULL;
        memory = __atomic_exchange_n(&penstock_spare, NULL, __ATOMIC_SEQ_CST);
        if (memory == NULL)
            return NULL;
        has = malloc_usable_size(memory);
        if (has >= size && has - size <= more)
            return memory;
        if (!__atomic_compare_exchange_n(
                &penstock_spare, &nothing, memory, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            free(memory);
        return NULL;
    }
    /* Instead of growing *before* by new pages; but most of them must be new, since the rest
       is copied. What grows may get twice as much: it grows on, or is cut to its size. */
    static void *penstock_move_to_spare(void *before, size_t size) {
        void *memory;
        size_t has;
        if (size < PENSTOCK_SPARE_LEAST || penstock_spare == NULL || before == NULL)
            return NULL;
        has = malloc_usable_size(before);
        if (has > size / 4 * 3 || (memory = penstock_take_spare(size, size)) == NULL)
            return NULL;
        memcpy(memory, before, has);
        free(before);
        return memory;
    }
    /* Whether *memory*, which is to be freed, is the spare block now. A block that has a mapping of
       its own begins 16 bytes after a page: only such a one is asked for its size. */
    static int penstock_becomes_spare(void *memory) {
        size_t has;
        if (((uintptr_t)memory & 4095) != 16 || !penstock_keeps_spares)
            return 0;
        has = malloc_usable_size(memory);
        if (has < PENSTOCK_SPARE_LEAST || has > PENSTOCK_SPARE_MOST)
            return 0;
        free(__atomic_exchange_n(&penstock_spare, memory, __ATOMIC_SEQ_CST));
        __atomic_add_fetch(&penstock_spares, 1, __ATOMIC_SEQ_CST);
        return 1;
    }
    #else
    #define penstock_take_spare(size, more) NULL
    #define penstock_move_to_spare(before, size) NULL
    #define penstock_becomes_spare(memory) 0
    #endif

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
        if (penstock_drop_spare())
            return 1;
        if (size >= penstock_reserve_size)
            return 0;
        if (penstock_give_back())
            return 1;
        penstock_small_failures++;
        return 0;
    }
    static void *penstock_malloc(void *context, size_t size) {
        void *memory = penstock_take_spare(size, size / 8);
        if (memory == NULL)
            memory = penstock_raw.malloc(penstock_raw.ctx, size);
        while (memory == NULL && penstock_make_room(size))
            memory = penstock_raw.malloc(penstock_raw.ctx, size);
        return memory;
    }
    static void *penstock_calloc(void *context, size_t count, size_t size) {
        void *memory = penstock_raw.calloc(penstock_raw.ctx, count, size);
        while (memory == NULL && penstock_make_room(count * size))
            memory = penstock_raw.calloc(penstock_raw.ctx, count, size);
        return memory;
    }
    static void *penstock_realloc(void *context, void *before, size_t size) {
        void *memory = penstock_move_to_spare(before, size);
        if (memory == NULL)
            memory = penstock_raw.realloc(penstock_raw.ctx, before, size);
        while (memory == NULL && penstock_make_room(size))
            memory = penstock_raw.realloc(penstock_raw.ctx, before, size);
        return memory;
    }
    static void penstock_free(void *context, void *memory) {
        if (!penstock_becomes_spare(memory))
            penstock_raw.free(penstock_raw.ctx, memory);
    }
    static void penstock_guard_allocations(void) {
        PyMemAllocatorEx guarded = {
            NULL, penstock_malloc, penstock_calloc, penstock_realloc, penstock_free
        };
        if (penstock_raw.malloc != NULL)
            return;
        PyMem_GetAllocator(PYMEM_DOMAIN_RAW, &penstock_raw);
        /* With a context it is that of Python's debug hooks, whose blocks are not malloc's. */
        penstock_keeps_spares = penstock_raw.ctx == NULL;
        PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &guarded);
    }
    #endif
    """
    int c_take "penstock_take" (size_t size)
    int c_give_back "penstock_give_back" ()
    void c_guard_allocations "penstock_guard_allocations" ()
    void *c_reserve "penstock_reserve"
    const uint64_t c_small_failures "penstock_small_failures"
    int c_drop_spare "penstock_drop_spare" ()
    void *c_spare "penstock_spare"
    const uint64_t c_spares "penstock_spares"


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


cdef inline bint has_spare() noexcept:
    return c_spare != NULL


cdef inline uint64_t spares() noexcept:
    return c_spares


cdef inline void drop_spare() noexcept:
    c_drop_spare()
