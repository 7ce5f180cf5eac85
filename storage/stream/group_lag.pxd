cimport cython
from libc.stdint cimport int64_t

from storage.stream cimport stream_id
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId

cdef int64_t _UNKNOWN


@cython.locals(number=int64_t)
cpdef object lag(Stream stream, ConsumerGroup group)
cpdef int64_t counted_lag(Stream stream, ConsumerGroup group) except? -1
cpdef int move_on(Stream stream, ConsumerGroup group, StreamId entry_id) except -1
cpdef int move_past(
    Stream stream, ConsumerGroup group, StreamId first, StreamId last, int64_t entries
) except -1
@cython.locals(last_deleted=StreamId)
cpdef bint has_tombstone_after(Stream stream, StreamId entry_id) except -1
@cython.locals(added=int64_t, first_id=StreamId)
cpdef int64_t number_of(Stream stream, StreamId entry_id) except? -1
