cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.streams cimport group_reply, stream_reply, stream_request
from server.dispatch.call cimport Call
from server.commands.streams.group_reply cimport Delivery
from server.commands.streams.stream_request cimport Request
from server.table.command cimport new_block
from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.pending cimport Pending
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _NO_CLAIM

cdef Encoder _begin_reply(Call call, Request request)
cdef bint _write_after(Encoder body, bytes key, Stream stream, StreamId after, Request request) except -1
cdef Py_ssize_t _write_within(Encoder body, Stream stream, StreamId after, Request request) except -1
cdef Py_ssize_t _write_matching(Encoder body, Stream stream, StreamId after, Request request) except -1
cdef StreamId _last_seen(Stream stream, bytes text)
@cython.locals(stream=Stream, name=bytes, group=ConsumerGroup)
cdef Delivery _delivery(Call call, Request request, bytes key, bytes text)
@cython.locals(
    is_of_new=bint, entry=StreamIterator, key=bytes, group=ConsumerGroup, consumer=Consumer,
    min_idle=int64_t, idle=Pending, pends=bint, is_given=bint
)
cdef bint _serve(Call call, Request request, Encoder body, Delivery delivery) except -1
@cython.locals(key=bytes, group=ConsumerGroup, name=bytes, entry_id=StreamId, pending=Pending)
cdef _delivered(Call call, Request request, Delivery delivery)
@cython.locals(key=bytes, group=ConsumerGroup, name=bytes)
cdef _log_position(Call call, Request request, Delivery delivery)
