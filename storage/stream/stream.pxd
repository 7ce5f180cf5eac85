cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport allocation, octets
from storage.stream cimport stream_id, stream_iterator, stream_node
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.places cimport Places
from storage.stream.positions cimport Positions
from storage.stream.producers cimport Limits, Producers
from storage.stream.references cimport References
from storage.listpack.listpack cimport Listpack
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef int64_t _MOST_BYTES
cdef int64_t _WORD
cdef int64_t _FULL
cdef uint64_t _TOP
cdef int64_t _MOST_ADDED
cdef Py_ssize_t OBJECT
cdef Py_ssize_t GROUPS
cdef dict _NO_GROUPS
cdef Py_ssize_t _FEW_GROUPS


@cython.final
cdef class StreamConfig:
    cdef public int64_t node_max_bytes
    cdef public int64_t node_max_entries
    cdef readonly Limits producers

    cpdef int64_t trim_limit(self) except? -1


@cython.final
@cython.no_gc
cdef class Stream:
    cdef readonly Rax rax
    cdef public int64_t length
    cdef public StreamId last_id
    cdef public StreamId first_id
    cdef public StreamId max_deleted_id
    cdef public int64_t entries_added
    cdef readonly dict groups
    cdef public Producers producers
    cdef Positions _positions
    cdef int64_t _bytes
    cdef Listpack _head
    cdef Listpack _tail
    cdef uint64_t _tail_ms
    cdef uint64_t _tail_seq
    cdef int _skip
    cdef bint _is_noted

    cpdef bint is_full(self) except -1
    cpdef StreamId next_auto_id(self, uint64_t now_ms)
    @cython.locals(last=StreamId)
    cpdef StreamId next_seq_id(self, uint64_t ms)

    @cython.locals(size=int64_t, at=Py_ssize_t, word=bytes, node=Listpack)
    cpdef int append(self, StreamId entry_id, list fields, Py_ssize_t start=*, StreamConfig config=*) except -1
    @cython.locals(node=Listpack, most=int64_t)
    cdef Listpack _node_with_room(self, int64_t size, Py_ssize_t words, StreamConfig config)
    @cython.locals(key=bytes, tail=Listpack)
    cdef Listpack _find_tail(self)
    @cython.locals(node=Listpack)
    cdef Listpack _new_tail(self, StreamId entry_id, list fields, Py_ssize_t start)

    cpdef StreamIterator range(self, StreamId start=*, StreamId end=*, bint reverse=*)
    cpdef StreamIterator newer(self, StreamId after, Py_ssize_t few)
    cpdef StreamIterator finder(self)
    cpdef bint contains(self, StreamId entry_id) except -1
    @cython.locals(entry=StreamIterator, found=tuple, key=bytes, node=Listpack, first=Py_ssize_t,
                   at=Py_ssize_t)
    cpdef StreamId first_entry_id(self)
    @cython.locals(entry=StreamIterator)
    cpdef StreamId last_entry_id(self)

    cpdef int64_t node_bytes(self) noexcept
    cpdef Positions positions(self)
    @cython.locals(ends_late=bint, positions=Positions, before=int64_t)
    cpdef int64_t count(self, StreamId start, StreamId end) except -1

    cpdef bint delete(self, StreamId entry_id) except -1
    cpdef Py_ssize_t delete_all(self, list entry_ids) except -1
    @cython.locals(deleted=list, first_gone=bint, place=StreamIterator, entry_id=StreamId, gone=int)
    cpdef list delete_those(self, list entry_ids)
    cpdef int delete_one(self, StreamId entry_id) except -1
    cdef int _delete_at(self, StreamIterator entry, StreamId entry_id) except -1
    @cython.locals(node=Listpack, size=Py_ssize_t)
    cpdef int delete_current(self, StreamIterator entry) except -1
    @cython.locals(count=Py_ssize_t, size=Py_ssize_t, ascends=bint, index=Py_ssize_t, at=Py_ssize_t)
    cpdef int delete_places(self, bytes key, Listpack node, Places places) except -1
    cdef int _count_marked(
        self, bytes key, Listpack node, int64_t count, Py_ssize_t size
    ) except -1
    @cython.locals(ms=uint64_t, seq=uint64_t)
    cpdef int remove_node(self, bytes key, Listpack node) except -1

    cdef bint _head_stays(self, int64_t maxlen) except -1
    @cython.locals(deleted=int64_t, count=int64_t, node=RaxIterator)
    cpdef int64_t trim_by_length(self, int64_t maxlen, bint approximate=*, int64_t limit=*) except -1
    @cython.locals(deleted=int64_t, count=int64_t, node=RaxIterator)
    cpdef int64_t trim_by_id(self, StreamId minid, bint approximate=*, int64_t limit=*) except -1
    @cython.locals(node=Listpack, key=bytes, size=Py_ssize_t, first=Py_ssize_t, at=Py_ssize_t,
                   deleted=int64_t)
    cdef int64_t _mark_from_front(self, RaxIterator place, int64_t count, StreamId end) except -1
    cpdef bint is_noted(self) except -1
    cdef int _note(self, bytes key) except -1
    @cython.locals(keys=list, key=bytes, node=Listpack, made=Listpack)
    cpdef Py_ssize_t compact(self, Py_ssize_t most) except -1

    @cython.locals(group=ConsumerGroup)
    cpdef ConsumerGroup create_group(self, bytes name, StreamId last_id, int64_t entries_read=*)
    @cython.locals(references=References)
    cdef int _add_group(self, bytes name, ConsumerGroup group) except -1
    cpdef ConsumerGroup find_group(self, bytes name)
    @cython.locals(group=ConsumerGroup)
    cdef References _known_references(self)
    @cython.locals(group=ConsumerGroup, found=References)
    cpdef References references(self)
    cpdef int add_node(self, bytes key, Listpack node) except -1
    @cython.locals(made=Stream)
    cpdef Stream copy(self)
