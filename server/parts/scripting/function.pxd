cimport cython


cdef class Function:
    cdef readonly bytes name
    cdef readonly int ref
    cdef readonly int flags
    cdef readonly bytes description
    cdef readonly bytes library


cdef class FunctionTable:
    cdef readonly dict functions
    cdef Function _last

    @cython.locals(last=Function)
    cpdef Function find(self, bytes name)
    cpdef forget_last(self)
