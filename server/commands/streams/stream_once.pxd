cimport cython

from server.commands.streams cimport stream_steps
from server.commands.streams.stream_args cimport Trim
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.keyspace.keyspace cimport Keyspace
from storage cimport octets
from storage.stream cimport producers
from storage.stream.producers cimport Producers
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Once:
    cdef readonly list words
    cdef readonly bytes producer
    cdef readonly bytes name

    @cython.locals(at=Py_ssize_t)
    cpdef bint take(self, Args args) except -1
    cdef int _check_once(self) except -1
    cpdef int check(self, Call call, StreamId wanted) except -1


@cython.locals(word=bytes)
cpdef bint is_next(Args args) except -1
@cython.locals(argv=list, db=Keyspace, key=bytes, stream=Stream, name=bytes, earlier=StreamId,
               known=Producers)
cpdef bytes add_once(
    Call call, Py_ssize_t id_at, StreamId wanted, Trim trim, bint may_create, Once once,
    StreamId last=*
)
@cython.locals(found=Producers)
cpdef Producers producers_of(Call call, Stream stream)
