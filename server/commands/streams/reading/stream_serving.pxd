cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.commands.streams.reading.stream_request cimport Request
from server.table.command cimport new_block
from storage.stream cimport stream_id
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cpdef Encoder with_head(Encoder body, Py_ssize_t served)
cpdef bint write_after(Encoder body, bytes key, Stream stream, StreamId after, Request request) except -1
@cython.locals(entries=StreamIterator)
cdef Py_ssize_t _write_within(Encoder body, Stream stream, StreamId after, Request request) except -1
cpdef StreamId last_seen(Stream stream, bytes text)
@cython.locals(keys=list, words=list, on_no_key=bint, for_more=bint, goes_on=bint)
cpdef object wait_for(
    list argv, Request request, list ids, int64_t wake_ms, bytes speaks_for,
    bytes active=*
)
