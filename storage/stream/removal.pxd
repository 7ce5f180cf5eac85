cimport cython

from storage.listpack.listpack cimport Listpack
from storage.stream cimport stream_id, stream_node
from storage.stream.places cimport Places
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId


@cython.final
@cython.no_gc
cdef class Removal:
    cdef Stream _stream
    cdef list _ids
    cdef Listpack _node
    cdef list _nodes
    cdef list _keys
    cdef list _places
    cdef Places _last

    @cython.locals(places=Places)
    cpdef int add(self, bytes key, Listpack node, Py_ssize_t at, StreamId entry_id) except -1
    @cython.locals(ids=list, stream=Stream, index=Py_ssize_t, least=StreamId, greatest=StreamId)
    cpdef list run(self)
