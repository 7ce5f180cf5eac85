cimport cython

from protocol.encoder cimport Encoder
from server cimport stream_reply
from server.args cimport Args
from server.call cimport Call
from server.group_reply cimport Delivery
from storage cimport stream_id
from storage.consumer_group cimport Consumer, ConsumerGroup
from storage.stream cimport Stream
from storage.stream_id cimport StreamId


cdef class Request:
    cdef public object count
    cdef public object block_ms
    cdef public bytes group
    cdef public bytes consumer
    cdef public bint noack
    cdef public list keys
    cdef public Py_ssize_t ids_at


@cython.locals(request=Request, args=Args)
cdef Request _take_request(list argv, bint with_group)
cdef int _take_option(Request request, Args args, bint with_group) except -1
cdef int _take_streams(Request request, Args args, bint with_group) except -1
@cython.locals(out=Encoder)
cdef Encoder _reply_of(Encoder body, Py_ssize_t streams)
cdef int _write_key(Encoder body, bytes key) except -1
cdef StreamId _last_seen(Stream stream, bytes text)
cdef StreamId _before_last(Stream stream)
cdef bint _has_more(Stream stream, StreamId after) except -1
cdef tuple _source(Call call, Request request, bytes key, bytes text)
@cython.locals(has_new=bint, implied=bint, consumer=Consumer, delivery=Delivery)
cdef bint _serve(Call call, Request request, Encoder body, bytes key, Stream stream, ConsumerGroup group, StreamId after) except -1
@cython.locals(consumer=Consumer)
cdef Consumer _consumer(Call call, Request request, bytes key, ConsumerGroup group, bint implied)
