cimport cython
from libc.stdint cimport uint64_t

from protocol.encoder cimport Encoder
from octets cimport buffers
from protocol cimport wire
from storage.listpack cimport element_octets
from storage.listpack.listpack cimport Element, Listpack
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef bytes _PAIR
cdef bytes _ID_ALONE
cdef unsigned char _DASH
cdef int _ARRAY
cdef list _NO_NAMES
cdef Py_ssize_t _ID_SIZE
cdef Py_ssize_t _HEADS
cdef Py_ssize_t _PER_ELEMENT
cdef Py_ssize_t _MUCH


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class EntryWriter:
    cdef Encoder _out
    cdef bint _ids_only
    cdef public bytes head
    cdef Element _element
    cdef Listpack _seen
    cdef Listpack _node
    cdef list _names
    cdef Py_ssize_t _names_size
    cdef bytearray _id
    cdef uint64_t _ms
    cdef Py_ssize_t _seq_at

    cdef int begin(self, Encoder out, bint ids_only) except -1
    cpdef int write(self, StreamIterator entry) except -1
    @cython.locals(node=Listpack, out=Encoder, size=Py_ssize_t, buffer=bytearray, at=Py_ssize_t,
                   is_alone=bint)
    cdef int _write_whole(self, StreamIterator entry) except -1
    @cython.locals(element_at=Py_ssize_t)
    cdef Py_ssize_t _put_all(self, bytearray buffer, Py_ssize_t at, StreamIterator entry, Listpack node) except -1
    @cython.locals(name_at=Py_ssize_t, value_at=Py_ssize_t)
    cdef Py_ssize_t _put_pairs(self, bytearray buffer, Py_ssize_t at, StreamIterator entry, Listpack node) except -1
    @cython.locals(out=Encoder, at=Py_ssize_t)
    cdef int _write_id(self, StreamIterator entry) except -1
    @cython.locals(text=bytearray, dash_at=Py_ssize_t, size=Py_ssize_t)
    cdef Py_ssize_t _put_id(self, bytearray buffer, Py_ssize_t at, uint64_t ms, uint64_t seq) except -1
    @cython.locals(name_at=Py_ssize_t, pen=Encoder, name=bytes)
    cdef int _render_names(self, StreamIterator entry, Listpack node) except -1
    @cython.locals(data=bytearray, value_at=Py_ssize_t, name=bytes, size=Py_ssize_t)
    cdef Py_ssize_t _put_values(self, bytearray buffer, Py_ssize_t at, StreamIterator entry, Listpack node) except -1
    @cython.locals(element=Element)
    cdef Py_ssize_t _put_element(self, bytearray buffer, Py_ssize_t at, Listpack node, Py_ssize_t element_at) except -1


@cython.locals(made=EntryWriter)
cpdef EntryWriter new_writer(Encoder out, bint ids_only=*)
@cython.locals(mark=Py_ssize_t, writer=EntryWriter, written=Py_ssize_t)
cpdef Py_ssize_t write_entries(Encoder out, StreamIterator entry, Py_ssize_t count, bint ids_only=*) except -1
@cython.locals(mark=Py_ssize_t, writer=EntryWriter, written=Py_ssize_t, has_room=bint,
               size=Py_ssize_t)
cpdef tuple write_within(
    Encoder out, StreamIterator entry, EntryFilter where, Py_ssize_t count, Py_ssize_t end,
    bint is_first, bint ids_only=*
)
cpdef Py_ssize_t write_range(
    Encoder out, Stream stream, StreamId start, StreamId end, Py_ssize_t count=*, bint reverse=*,
    bint ids_only=*
) except -1
cpdef bint write_entry(Encoder out, StreamIterator finder, StreamId entry_id) except -1
