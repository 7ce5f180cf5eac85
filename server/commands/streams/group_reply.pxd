cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.commands.streams.stream_reply cimport EntryWriter
from storage.stream cimport group_lag
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.pending cimport Pending
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


@cython.final
cdef class Delivery:
    cdef readonly Encoder out
    cdef readonly Stream stream
    cdef readonly ConsumerGroup group
    cdef readonly Consumer consumer
    cdef readonly int64_t now_ms

    @cython.locals(out=Encoder, group=ConsumerGroup, given=list, entry=StreamIterator, writer=EntryWriter, mark=Py_ssize_t, entry_id=StreamId)
    cpdef list write_new(self, Py_ssize_t count, bint pends)
    @cython.locals(out=Encoder, written=Py_ssize_t, place=RaxIterator, mark=Py_ssize_t)
    cpdef int write_history(self, StreamId after, Py_ssize_t count) except -1
    @cython.locals(entry_id=StreamId)
    cdef int _write_again(self, Pending delivered) except -1
