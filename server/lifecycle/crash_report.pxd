cimport cython

from server.client.client cimport Client
from server.observe.part cimport Part
from server.process cimport crash_calls
from server.table.command cimport Command

cdef int STDERR
cdef int MOST_CLIENTS
cdef dict _clients


cdef class CrashReport(Part):
    cdef dict _clients
    cdef bint _is_begun
    cdef int _python_fd


@cython.locals(last=Client, client=Client, left=int)
cdef void _write_commands(int fd) noexcept
@cython.locals(command=Command)
cdef void _write_command(int fd, Client client) noexcept
