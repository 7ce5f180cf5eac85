cimport cython
from libc.stdint cimport int64_t

from storage.listpack.listpack cimport Listpack
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport deletions, stream_id, stream_node
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.references cimport References
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef Py_ssize_t _FEW


@cython.locals(before=int64_t, dropped=int64_t, place=RaxIterator, node=Listpack, key=bytes,
               count=int64_t, is_due=bint)
cpdef int64_t drop_nodes(
    Stream stream, int64_t most, StreamId minid, int64_t length, int64_t size
) except -1
@cython.locals(found=References, group=ConsumerGroup)
cpdef References known_references(Stream stream)
@cython.locals(counting=Rax, after=bytes, end=bytes, key=bytes, group=ConsumerGroup,
               place=RaxIterator, left=int64_t, number=int64_t)
cpdef bint count_some(Stream stream, References references, int64_t most) except -1
@cython.locals(least=StreamId, found=StreamId, first=tuple, group=ConsumerGroup)
cpdef StreamId first_needed(Stream stream, References references)
cdef StreamId _lesser(StreamId one, StreamId other)


@cython.final
@cython.no_gc
cdef class FreeEntries:
    cdef readonly list ids
    cdef readonly bint is_done
    cdef int64_t _left

    @cython.locals(acked=list, entry_id=StreamId, is_early=bint)
    cdef bint _of_acked(self, Stream stream, References references, StreamId bound) except -1
    @cython.locals(least=StreamId, swept=StreamId, start=StreamId, entry=StreamIterator,
                   entry_id=StreamId)
    cdef bint _of_unseen(self, Stream stream, References references, StreamId bound) except -1
