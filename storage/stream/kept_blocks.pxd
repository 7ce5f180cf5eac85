# inline only
from cpython.object cimport PyTypeObject

cdef extern from *:
    """
    enum { MOST_KEPT = 256 };
    static void *kept_blocks[MOST_KEPT];
    static int kept_count = 0;

    static CYTHON_UNUSED PyObject *alloc_kept(PyTypeObject *type, Py_ssize_t items) {
        if (kept_count == 0)
            return PyType_GenericAlloc(type, items);
        PyObject *block = (PyObject *)kept_blocks[--kept_count];
        memset(block, 0, (size_t)type->tp_basicsize);
        return PyObject_Init(block, type);
    }

    static CYTHON_UNUSED void free_kept(void *block) {
        if (kept_count < MOST_KEPT)
            kept_blocks[kept_count++] = block;
        else
            PyObject_Free(block);
    }

    static CYTHON_UNUSED int keep_blocks_for(PyTypeObject *type) {
    #if CYTHON_USE_FREELISTS
        if (PyType_IS_GC(type) || type->tp_itemsize || (type->tp_flags & Py_TPFLAGS_BASETYPE)) {
            PyErr_SetString(PyExc_TypeError, "its objects may have blocks of other sizes");
            return -1;
        }
        type->tp_alloc = alloc_kept;
        type->tp_free = free_kept;
    #endif
        return 0;
    }
    """
    int keep_blocks_for(PyTypeObject *made) except -1


cdef inline int keep_for(type made) except -1:
    return keep_blocks_for(<PyTypeObject *>made)
