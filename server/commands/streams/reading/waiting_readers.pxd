cimport cython

from server.commands.streams.reading.stream_request cimport Request
from server.parts.waiting.blocking cimport Blocking
from server.table.command cimport Block


@cython.locals(block=Block)
cpdef set waiting_at(Blocking blocking, Py_ssize_t db_index, bytes key)
@cython.locals(block=Block)
cpdef bint waits_as(
    Blocking blocking, Py_ssize_t db_index, bytes key, bytes group, bytes consumer
) except -1
