cimport cython

from server.client.client cimport Client
from server.table.command cimport Command


cdef class CommandRunner:
    cpdef object run_here(self, Client client, Command command, list argv, int origin)


cdef class SideStack:
    cdef Client _client
    cdef Command _command
    cdef list _argv
    cdef int _origin
    cdef CommandRunner _runner

    cpdef bint is_suspended(self) except -1
    cpdef object run(self, Client client, Command command, list argv, int origin)
    cpdef object resume(self)
    cpdef bint suspend(self) except -1
    cdef object _enter(self)
    @cython.locals(client=Client, command=Command, argv=list)
    cdef object _run_one(self)
