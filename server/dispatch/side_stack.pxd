cimport cython

from server.client.client cimport Client
from server.dispatch.execution cimport Execution
from server.table.command cimport Command


cdef class SideStack:
    cdef Client _client
    cdef Command _command
    cdef list _argv
    cdef int _origin
    cdef Execution _execution

    cpdef bint is_left(self) except -1
    cpdef object run(self, Client client, Command command, list argv, int origin)
    cpdef object resume(self)
    cpdef bint leave(self) except -1
    cdef object _enter(self)
    @cython.locals(client=Client, command=Command, argv=list)
    cdef object _run_one(self)
