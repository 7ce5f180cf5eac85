from libc.stdint cimport int64_t

from storage.consumer_group cimport ConsumerGroup
from storage.stream cimport Stream
from storage.stream_id cimport StreamId


cpdef object lag(Stream stream, ConsumerGroup group)
cpdef int move_on(Stream stream, ConsumerGroup group, StreamId entry_id) except -1
cpdef bint has_tombstone_after(Stream stream, StreamId entry_id) except -1
cpdef int64_t number_of(Stream stream, StreamId entry_id) except? -1
