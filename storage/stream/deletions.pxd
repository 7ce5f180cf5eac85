cimport cython
from libc.stdint cimport int64_t

from storage.listpack.listpack cimport Listpack
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport stream_id, stream_node
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.references cimport References
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef int _KEEPREF
cdef int _DELREF
cdef int _ACKED
cdef int _MISSING
cdef int _DELETED
cdef int _REFERENCED
cdef int64_t MANY_ENTRIES


@cython.final
@cython.no_gc
cdef class Done:
    cdef readonly dict acked
    cdef readonly list deleted
    cdef readonly StreamId greatest

    cpdef int note_deleted(self, StreamId entry_id) except -1
    @cython.locals(is_last=bint)
    cpdef bint forget_deleted(self, bytes text) except -1
    cpdef int note_acked(self, bytes name, StreamId entry_id) except -1


@cython.final
@cython.no_gc
cdef class Deletion:
    cdef Done _done
    cdef readonly Stream stream
    cdef readonly int policy
    cdef References _references
    cdef bint _first_gone
    cdef readonly int64_t deleted
    cdef readonly int64_t dropped
    cdef readonly int64_t acked

    @cython.locals(references=References, gone=int)
    cpdef int delete(self, StreamId entry_id) except -2
    cpdef int ack(self, bytes name, ConsumerGroup group, StreamId entry_id) except -2
    cpdef int end(self) except -1


@cython.locals(key=bytes, group=ConsumerGroup)
cpdef bint is_referenced(Stream stream, References references, StreamId entry_id) except -1
@cython.locals(found=StreamId, group=ConsumerGroup)
cpdef StreamId least(Stream stream, References references)
@cython.locals(dropped=int64_t, most=int64_t, name=bytes, group=ConsumerGroup)
cpdef int64_t drop_references(
    Stream stream, References references, StreamId entry_id, Done done
) except -1
@cython.locals(place=RaxIterator, group=ConsumerGroup)
cpdef bint any_pending(Stream stream, References references, bytes first, bytes last) except -1


@cython.final
@cython.no_gc
cdef class ReferencedTrim:
    cdef Done _done
    cdef readonly Stream stream
    cdef readonly int policy
    cdef readonly int64_t maxlen
    cdef readonly StreamId minid
    cdef readonly int64_t limit
    cdef References _references
    cdef int64_t _deleted
    cdef readonly bint keeps
    cdef readonly StreamId upto

    @cython.locals(stream=Stream, references=References, is_acked=bint, start=bytes, place=RaxIterator,
                   node=Listpack, looked_at=StreamId)
    cpdef int64_t run(self) except -1
    @cython.locals(stream=Stream, references=References, first=StreamId, last=StreamId, count=int64_t,
                   is_past=bint, is_free=bint)
    cdef bint _trim_node(self, bytes key, Listpack node) except -1
    @cython.locals(entry=StreamIterator)
    cdef int _note_all(self, StreamId first, StreamId last) except -1
    @cython.locals(stream=Stream, references=References, entry=StreamIterator, entry_id=StreamId,
                   is_past=bint)
    cdef bint _trim_entries(self, StreamId first, StreamId last) except -1
