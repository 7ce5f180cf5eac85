cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation, xxh3
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Listpack
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport stream_id, stream_node
from storage.stream.places cimport Places
from storage.stream.removal cimport Removal
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef int64_t _FEW
cdef Py_ssize_t _SHORT
cdef int64_t _BATCH
cdef int64_t _BATCH_BYTES
cdef int64_t _OLDER


@cython.final
@cython.no_gc
cdef class Newest:
    cdef readonly bytes field
    cdef readonly StreamId upto
    cdef StreamId _looked_to
    cdef StreamId _walked_to
    cdef list _older
    cdef PackedTable _table
    cdef int64_t _used
    cdef int64_t _held
    cdef int64_t _deleted

    cpdef int64_t values(self) except -1
    cpdef int64_t bytes_used(self) except? -1
    @cython.locals(looked_to=StreamId)
    cpdef bint is_behind(self, Stream stream, StreamId end) except -1
    cpdef bint is_beyond(self, StreamId end) except -1
    @cython.locals(older=list, gone=list)
    cpdef list remove_some(self, Stream stream, int64_t most, StreamId end)
    @cython.locals(start=StreamId, last=StreamId, newest=dict, removal=Removal)
    cdef list _remove_batch(self, Stream stream, StreamId end)
    @cython.locals(removal=Removal, first_key=bytes, is_first=bint, is_last=bint,
                   place=RaxIterator, node=Listpack, key=bytes, places=Places, name=Py_ssize_t,
                   index=Py_ssize_t, at=Py_ssize_t, entry_id=StreamId, value=bytes)
    cdef Removal _walk(self, Stream stream, StreamId start, StreamId last, dict newest)
    @cython.locals(used=int64_t, value=bytes, key=bytes, name=bytes, older=bytes)
    cdef int _note(self, dict newest) except -1
    @cython.locals(removal=Removal, may_be_gone=bint, entry=StreamIterator, key=bytes, value=bytes,
                   newer=bytes, entry_id=StreamId, node=Listpack)
    cdef list _remove_older(self, Stream stream, list older)


cdef bytes _name_of(bytes value)
@cython.locals(places=Places, at=Py_ssize_t, entry_id=StreamId, is_early=bint)
cdef Places _places_within(
    Listpack node, bytes key, StreamId start, StreamId last, bint is_partly
)
@cython.locals(place=RaxIterator, entries=int64_t, size=int64_t, last=StreamId, node=Listpack)
cdef StreamId _end_of_batch(Stream stream, StreamId start, StreamId end)
@cython.locals(node=Listpack, first_at=Py_ssize_t, left=int64_t, last=StreamId)
cdef StreamId _end_of_part(StreamIterator entry, StreamId end)
