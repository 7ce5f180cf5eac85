cimport cython

from protocol.encoder cimport Encoder
from server.client.client cimport Client


cdef class Script:
    cdef readonly bytes sha
    cdef readonly bytes source
    cdef readonly int ref
    cdef readonly int flags
    cdef public bint is_loaded


cdef class ScriptTable:
    cpdef Script known_by(self, bytes sha)
    cpdef Script compiled(self, bytes source)


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
    cpdef Function named(self, bytes name)
    cpdef forget_last(self)


cdef class Engine:
    cpdef Encoder run_for(
        self, Client client, list argv, bytes name, int flags, int ref, int keys, bint is_function
    )
