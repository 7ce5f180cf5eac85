cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation, xxh3
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Listpack
from storage.stream cimport stream_id, stream_iterator
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef int64_t _FEW
cdef Py_ssize_t _SHORT
cdef int64_t _MOST_HELD


@cython.final
@cython.no_gc
cdef class Newest:
    cdef readonly bytes field
    cdef readonly StreamId upto
    cdef StreamId _looked_to
    cdef PackedTable _table
    cdef int64_t _used

    cpdef int64_t values(self) except -1
    cpdef int64_t bytes_used(self) except? -1
    @cython.locals(looked_to=StreamId)
    cpdef bint is_behind(self, Stream stream, StreamId end) except -1
    @cython.locals(used=int64_t, found=list, candidates=list, held=int64_t, entry=StreamIterator,
                   left=int64_t, value=bytes, name=bytes, older=bytes)
    cpdef list replaced(self, Stream stream, int64_t most, StreamId end)
    @cython.locals(found=list, entry=StreamIterator, key=bytes, value=bytes, entry_id=StreamId)
    cdef list _still_there(self, Stream stream, list candidates)


@cython.locals(at=Py_ssize_t, node=Listpack)
cpdef bytes value_of(StreamIterator entry, bytes field)
@cython.locals(node=Listpack, name_at=Py_ssize_t, at=Py_ssize_t, is_it=bint)
cpdef Py_ssize_t place_of(StreamIterator entry, bytes field) except? -1
