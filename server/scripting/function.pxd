cdef class Function:
    cdef readonly bytes name
    cdef readonly int ref
    cdef readonly int flags
    cdef readonly bytes description
    cdef readonly bytes library
