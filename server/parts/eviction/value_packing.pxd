cimport cython

from server.observe.part cimport Part
from storage.keyspace.settings cimport LooseKeys

cdef Py_ssize_t MOST


@cython.final
cdef class ValuePacking(Part):
    cdef object _databases
    cdef LooseKeys _loose_keys

    cpdef pack_some(self)
    cdef _pack(self)
