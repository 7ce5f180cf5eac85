# inline only
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.string cimport memcpy

cdef extern from *:
    """
    #ifndef PENSTOCK_WORD_MEMORY
    #define PENSTOCK_WORD_MEMORY
    #define penstock_word(memory) (((PyListObject *)(memory))->ob_item[0])
    #ifdef __linux__
    #include <sys/mman.h>
    #endif
    enum { PENSTOCK_MANY = 8 * 1024 * 1024, PENSTOCK_PAGE = 4096 };
    /* Ask for huge pages: to have each small one made when its first byte comes takes most of the
       time that a very long word takes. All its pages are alike, the first and the last too: the
       kernel could not make memory larger of which parts are not, and all of it would be copied. */
    static inline void penstock_use_huge_pages(PyObject *word) {
    #ifdef MADV_HUGEPAGE
        uintptr_t start = (uintptr_t)word, end = start + PyBytes_GET_SIZE(word);
        start &= ~(uintptr_t)(PENSTOCK_PAGE - 1);
        end = (end + PENSTOCK_PAGE - 1) & ~(uintptr_t)(PENSTOCK_PAGE - 1);
        madvise((void *)start, end - start, MADV_HUGEPAGE);
    #endif
    }
    /* What cannot grow is gone, and an empty word in its place; a MemoryError is set then. */
    static inline int penstock_resize_word(PyObject *memory, Py_ssize_t size) {
        int grows = size > PyBytes_GET_SIZE(penstock_word(memory));
        int result = _PyBytes_Resize(&penstock_word(memory), size);
        if (result == 0 && grows && size >= PENSTOCK_MANY)
            penstock_use_huge_pages(penstock_word(memory));
        if (result < 0) {
            PyObject *type, *error, *traceback;
            PyErr_Fetch(&type, &error, &traceback);
            penstock_word(memory) = PyBytes_FromStringAndSize(NULL, 0);
            PyErr_Restore(type, error, traceback);
        }
        return result;
    }
    static inline PyObject *penstock_view_word(PyObject *memory, Py_ssize_t start, Py_ssize_t end) {
        char *text = PyBytes_AS_STRING(penstock_word(memory));
        return PyMemoryView_FromMemory(text + start, end - start, PyBUF_WRITE);
    }
    #endif
    """
    int c_resize "penstock_resize_word" (object memory, Py_ssize_t size) except -1
    object c_view "penstock_view_word" (object memory, Py_ssize_t start, Py_ssize_t end)


cdef inline list new():
    return [b""]


cdef inline int resize(list memory, Py_ssize_t size) except -1:
    return c_resize(memory, size)


cdef inline object view(list memory, Py_ssize_t start, Py_ssize_t end):
    return c_view(memory, start, end)


cdef inline Py_ssize_t put(
    list memory, Py_ssize_t at, bytes data, Py_ssize_t start, Py_ssize_t size
) noexcept:
    memcpy(PyBytes_AS_STRING(memory[0]) + at, PyBytes_AS_STRING(data) + start, size)
    return at + size


cdef inline bytes finish(list memory, Py_ssize_t size):
    cdef object word
    resize(memory, size)
    word = memory[0]
    memory[0] = b""
    return word
