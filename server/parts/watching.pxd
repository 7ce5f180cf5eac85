cimport cython

from server.client.client cimport Client
from server.observe.memory cimport Memory
from server.observe.part cimport Part
from storage.keyspace.keyspace cimport Keyspace

cdef Py_ssize_t PLACE_BYTES


@cython.final
cdef class Watching(Part):
    cdef Memory _memory
    cdef readonly dict watchers

    @cython.locals(place=tuple, key=bytes)
    cpdef watch(self, Client client, Keyspace db, bytes key)
    @cython.locals(place=tuple, watchers=dict)
    cpdef unwatch(self, Client client)
    @cython.locals(client=Client)
    cpdef touched(self, int db_index, bytes key)
