cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.pending cimport Pending
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId

cdef uint64_t I64_MAX
cdef Py_ssize_t LEAST_GROUP
cdef Py_ssize_t LEAST_PENDING
cdef Py_ssize_t LEAST_CONSUMER
cdef Py_ssize_t ID_SIZE


cpdef int write_pending(RdbWriter writer, Pending pending) except -1

@cython.locals(ms=uint64_t, name=bytes, last_id=StreamId, group=ConsumerGroup)
cpdef int read(RdbReader reader, int code, Stream stream) except -1
@cython.locals(entry_id=StreamId, delivered=int64_t)
cdef int restore(RdbReader reader, ConsumerGroup group) except -1
cdef StreamId _read_key(RdbReader reader)
@cython.locals(name=bytes, consumer=Consumer)
cdef int _read_consumer(RdbReader reader, int code, ConsumerGroup group) except -1
cdef list _read_released(RdbReader reader)
