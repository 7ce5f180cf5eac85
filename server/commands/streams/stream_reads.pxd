from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply, stream_request
from server.dispatch.call cimport Call
from server.commands.streams.group_reply cimport Delivery
from server.commands.streams.stream_request cimport Request
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId


cdef Encoder _begin_reply(Call call, Request request)
cdef _write_key(Encoder body, bytes key)
cdef bint _write_after(Encoder body, bytes key, Stream stream, StreamId after, Request request) except -1
cdef StreamId _last_seen(Stream stream, bytes text)
cdef StreamId _before_last(Stream stream)
cdef bint _has_more(Stream stream, StreamId after) except -1
