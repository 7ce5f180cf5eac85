cimport cython
from libc.stdint cimport uint64_t

from storage.stream cimport rdb_groups, rdb_producers, stream_id
from storage.listpack.listpack cimport Listpack
from storage.rdb cimport raw
from storage.stream.rdb_nodes cimport NodeCheck
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t KEY_SIZE
cdef uint64_t I64_MAX
cdef Py_ssize_t LEAST_NODE


cpdef int write_node(RdbWriter writer, bytes key, Listpack node) except -1
cpdef int write_counters(RdbWriter writer, Stream stream) except -1
cdef int write_id(RdbWriter writer, StreamId entry_id) except -1

@cython.locals(stream=Stream, top=StreamId)
cpdef Stream read(RdbReader reader, int code)
@cython.locals(ms=uint64_t)
cdef StreamId read_id(RdbReader reader)
@cython.locals(top=StreamId, last_key=bytes, key=bytes, node=Listpack, check=NodeCheck)
cdef StreamId _read_nodes(RdbReader reader, Stream stream)
@cython.locals(added=uint64_t)
cdef int _read_counters(RdbReader reader, Stream stream) except -1
cpdef int code_of(Stream stream, int version) except -1
