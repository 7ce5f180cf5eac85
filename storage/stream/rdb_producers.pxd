from libc.stdint cimport uint64_t

import cython

from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.stream cimport stream_id
from storage.stream.producers cimport Limits, Producers


@cython.locals(producers=Producers, seconds=uint64_t, ids=uint64_t)
cpdef Producers read(RdbReader reader)
@cython.locals(producer=bytes, name=bytes, ms=uint64_t)
cdef int _read_producer(RdbReader reader, Producers producers) except -1
