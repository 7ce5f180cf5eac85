cdef class Script:
    cdef readonly bytes sha
    cdef readonly bytes source
    cdef readonly int ref
    cdef readonly int flags
    cdef public bint is_loaded


cdef class ScriptTable:
    cpdef Script find(self, bytes sha)
    cpdef Script get(self, bytes source)
