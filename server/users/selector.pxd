cimport cython

from server.table.command cimport Command
from server.users.command_rights cimport CommandRights
from server.users.key_rights cimport KeyRights


@cython.final
cdef class Selector:
    cdef readonly CommandRights commands
    cdef readonly KeyRights keys
    cdef readonly object channels

    @cython.locals(other=Selector)
    cpdef Selector copy(self)
    cpdef bint allows(self, Command command, list argv) except -1
    cpdef object denial(self, Command command, list argv, list uses)
