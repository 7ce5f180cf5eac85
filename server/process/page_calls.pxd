# inline only

from libc.stdint cimport uintptr_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <sys/mman.h>
    #ifdef __GLIBC__
    #include <malloc.h>
    #endif

    /* Pages that may not be given back, since they are locked, stay: nothing is lost by that. */
    static CYTHON_INLINE void penstock_give_back_pages(uintptr_t start, size_t size) {
        (void)madvise((void *)start, size, MADV_DONTNEED);
    }
    static CYTHON_INLINE void penstock_keep_freed(int most, int largest) {
    #ifdef __GLIBC__
        (void)mallopt(M_TRIM_THRESHOLD, most);
        (void)mallopt(M_MMAP_THRESHOLD, largest);
    #endif
    }
    static CYTHON_INLINE void penstock_trim_heap(void) {
    #ifdef __GLIBC__
        (void)malloc_trim(0);
    #endif
    }
    """
    void c_give_back "penstock_give_back_pages" (uintptr_t start, size_t size)
    void c_keep_freed "penstock_keep_freed" (int most, int largest)
    void c_trim_heap "penstock_trim_heap" ()


cdef inline void give_back(uintptr_t start, size_t size) noexcept:
    c_give_back(start, size)


cdef inline void keep_freed(int most, int largest) noexcept:
    c_keep_freed(most, largest)


cdef inline void trim_heap() noexcept:
    c_trim_heap()
