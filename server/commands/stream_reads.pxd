from protocol.encoder cimport Encoder
from server cimport stream_reply, stream_request
from server.call cimport Call
from server.group_reply cimport Delivery
from server.stream_request cimport Request
from storage cimport stream_id
from storage.consumer_group cimport Consumer, ConsumerGroup
from storage.stream cimport Stream
from storage.stream_id cimport StreamId


cdef Encoder _begin_reply(Call call, Request request)
cdef _write_key(Encoder body, bytes key)
cdef bint _write_after(Encoder body, bytes key, Stream stream, StreamId after, Request request) except -1
cdef StreamId _last_seen(Stream stream, bytes text)
cdef StreamId _before_last(Stream stream)
cdef bint _has_more(Stream stream, StreamId after) except -1
