cimport cython

from storage cimport glob


@cython.final
cdef class KeyRights:
    cdef readonly bint are_full
    cdef dict _patterns

    @cython.locals(other=KeyRights)
    cpdef KeyRights copy(self)
    @cython.locals(pattern=bytes, given=int)
    cpdef bint allow(self, bytes key, int rights) except -1
