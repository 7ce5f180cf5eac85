cimport cython

from server.table.command cimport Command
from server.users.selector cimport Selector


@cython.final
cdef class User:
    cdef readonly bytes name
    cdef readonly Py_ssize_t version
    cdef readonly bint is_on
    cdef readonly bint sanitizes
    cdef readonly object passwords
    cdef readonly list selectors

    cpdef become(self, User other)
    @cython.locals(selector=Selector, first=Selector, asks_keys=bint)
    cpdef object denial(self, Command command, list argv, list more=*)
