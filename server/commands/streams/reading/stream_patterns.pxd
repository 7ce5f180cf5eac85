cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.streams.reading cimport group_serving, stream_serving
from server.commands.streams.reading.delivery cimport Delivery
from server.commands.streams.reading.stream_request cimport Request
from server.dispatch.call cimport Call
from server.parts.waiting.pattern_reads cimport Readers
from server.parts.due_keys cimport DueKeys
from server.table.command cimport new_block
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId


cdef int64_t _NO_CLAIM, _NEVER
