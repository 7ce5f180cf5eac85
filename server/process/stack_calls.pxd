# inline only

# A second stack of C. Code that runs on it can be suspended at any point, and resumed later, maybe
# from another place: its frames stay there meanwhile.
#
#     | guard page | ... frames <- grows |      each change is a _setjmp here and a _longjmp there
#
# Python's frames are linked from one stack to the next, so a stack must not be suspended while a
# function of Python runs on it: frame() tells. From 3.14 on Python itself minds which stack it is on.
cdef extern from *:
    """
    typedef void (*penstock_server)(PyObject *);

    #include <stdlib.h>

    #if defined(__linux__) && defined(__GLIBC__) && PY_VERSION_HEX < 0x030E0000
    #include <setjmp.h>
    #include <sys/mman.h>
    #include <ucontext.h>
    #include <unistd.h>
    #define PENSTOCK_HAS_STACKS 1

    #ifdef __SANITIZE_ADDRESS__
    #include <sanitizer/common_interface_defs.h>
    #define PENSTOCK_BEGIN_CHANGE(kept, bottom, size) \\
        __sanitizer_start_switch_fiber(kept, bottom, size)
    #define PENSTOCK_END_CHANGE(kept, bottom, size) \\
        __sanitizer_finish_switch_fiber(kept, bottom, size)
    #else
    #define PENSTOCK_BEGIN_CHANGE(kept, bottom, size) ((void)0)
    #define PENSTOCK_END_CHANGE(kept, bottom, size) ((void)0)
    #endif

    #define PENSTOCK_STACK_BYTES (8 << 20) /* as many as a process has by default on most systems */
    #define PENSTOCK_GUARD_BYTES (64 << 10) /* at its end, whatever the size of a page */

    typedef struct {
        jmp_buf outside; /* where the code that entered this stack resumes */
        jmp_buf inside; /* where the code that left it resumes */
        penstock_server serve;
        PyObject *server;
        int is_begun;
        char *memory;
        const void *bottom_outside; /* for AddressSanitizer */
        size_t size_outside;
        void *kept_outside;
        void *kept_inside;
    } penstock_stack;

    /* By the symbol: of its other name fortified builds check that no frame is jumped into. */
    extern void penstock_jump(jmp_buf, int) __asm__("_longjmp") __attribute__((noreturn));

    static penstock_stack *penstock_entered; /* handed over to the first function on a stack */

    __attribute__((noinline, unused)) static void penstock_leave(penstock_stack *s) {
        if (_setjmp(s->inside) == 0) {
            PENSTOCK_BEGIN_CHANGE(&s->kept_inside, s->bottom_outside, s->size_outside);
            penstock_jump(s->outside, 1);
        }
        PENSTOCK_END_CHANGE(s->kept_inside, &s->bottom_outside, &s->size_outside);
    }

    /* The first function on a stack: it serves at each entry with nothing suspended. */
    __attribute__((unused)) static void penstock_serve(void) {
        penstock_stack *s = penstock_entered;
        PENSTOCK_END_CHANGE(NULL, &s->bottom_outside, &s->size_outside);
        for (;;) {
            s->serve(s->server);
            penstock_leave(s);
        }
    }

    __attribute__((noinline, unused)) static void penstock_enter(
        penstock_stack *s, penstock_server serve, PyObject *server
    ) {
        s->serve = serve;
        s->server = server;
        if (_setjmp(s->outside) == 0) {
            PENSTOCK_BEGIN_CHANGE(
                &s->kept_outside, s->memory + PENSTOCK_GUARD_BYTES,
                PENSTOCK_STACK_BYTES - PENSTOCK_GUARD_BYTES
            );
            if (s->is_begun) {
                penstock_jump(s->inside, 1);
            } else {
                ucontext_t begin;
                s->is_begun = 1;
                penstock_entered = s;
                getcontext(&begin);
                begin.uc_stack.ss_sp = s->memory;
                begin.uc_stack.ss_size = PENSTOCK_STACK_BYTES;
                begin.uc_link = NULL;
                makecontext(&begin, penstock_serve, 0);
                setcontext(&begin);
                abort(); /* it has not gone there */
            }
        }
        PENSTOCK_END_CHANGE(s->kept_outside, NULL, NULL);
    }

    /* NULL if there is no memory for it. Pages of it take memory once they are used. */
    __attribute__((unused)) static penstock_stack *penstock_make_stack(void) {
        penstock_stack *s = (penstock_stack *)calloc(1, sizeof(penstock_stack));
        if (s == NULL) return NULL;
        s->memory = (char *)mmap(
            NULL, PENSTOCK_STACK_BYTES, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0
        );
        if (s->memory == (char *)MAP_FAILED) {
            free(s);
            return NULL;
        }
        (void)mprotect(s->memory, PENSTOCK_GUARD_BYTES, PROT_NONE);
        (void)madvise(s->memory, PENSTOCK_STACK_BYTES, MADV_NOHUGEPAGE);
        return s;
    }

    __attribute__((unused)) static void penstock_free_stack(penstock_stack *s) {
        if (s == NULL) return;
        munmap(s->memory, PENSTOCK_STACK_BYTES);
        free(s);
    }

    static CYTHON_INLINE void *penstock_frame(void) {
    #if PY_VERSION_HEX < 0x030D0000
        return PyThreadState_Get()->cframe->current_frame;
    #else
        return PyThreadState_Get()->current_frame;
    #endif
    }
    #else
    #define PENSTOCK_HAS_STACKS 0
    typedef struct { int none; } penstock_stack;
    static CYTHON_INLINE penstock_stack *penstock_make_stack(void) { return NULL; }
    static CYTHON_INLINE void penstock_free_stack(penstock_stack *s) { (void)s; }
    static CYTHON_INLINE void penstock_leave(penstock_stack *s) { (void)s; }
    static CYTHON_INLINE void *penstock_frame(void) { return NULL; }
    static CYTHON_INLINE void penstock_enter(
        penstock_stack *s, penstock_server serve, PyObject *server
    ) { (void)s; (void)serve; (void)server; }
    #endif
    """
    ctypedef struct penstock_stack:
        pass
    ctypedef void (*penstock_server)(object server) noexcept
    bint PENSTOCK_HAS_STACKS
    penstock_stack *penstock_make_stack() noexcept
    void penstock_free_stack(penstock_stack *stack) noexcept
    void penstock_enter(penstock_stack *stack, penstock_server serve, object server) noexcept
    void penstock_leave(penstock_stack *stack) noexcept
    void *penstock_frame() noexcept


cdef inline bint are_there() noexcept:
    return PENSTOCK_HAS_STACKS


cdef inline penstock_stack *make() except NULL:
    cdef penstock_stack *stack = penstock_make_stack()
    if stack == NULL:
        raise MemoryError
    return stack


cdef inline int free(penstock_stack *stack) except -1:
    penstock_free_stack(stack)
    return 0


cdef inline int enter(penstock_stack *stack, penstock_server serve, object server) except -1:
    penstock_enter(stack, serve, server)
    return 0


cdef inline int leave(penstock_stack *stack) except -1:
    penstock_leave(stack)
    return 0


cdef inline size_t frame() noexcept:
    return <size_t>penstock_frame()
