from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.streams.reading cimport group_serving, stream_request, stream_serving
from server.commands.streams.reading.stream_request cimport Request
from server.dispatch.call cimport Call
from storage.stream cimport stream_id
from storage.stream.stream cimport Stream


cdef int64_t _NO_CLAIM

cdef Encoder _begin_reply(Call call, Request request)
