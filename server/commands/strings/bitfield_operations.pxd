cimport cython
from libc.stdint cimport int64_t

from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from server.table cimport args as words
from server.table.args cimport Args
from storage.keyspace.keyspace cimport Keyspace
from storage.strings.bit_field cimport BitField

cdef int GET
cdef int SET
cdef int INCRBY


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Operation:
    cdef readonly int kind
    cdef readonly BitField field
    cdef readonly int64_t number
    cdef readonly int overflow


@cython.locals(args=Args, found=list, overflow=int, left=Py_ssize_t)
cpdef list of(Call call)
@cython.locals(kind=int, encoding=bytes, signed=bint, width=int64_t, offset=int64_t, number=int64_t)
cdef Operation _operation(Call call, Args args, Py_ssize_t left, int overflow)
@cython.locals(operation=Operation)
cpdef bint change_any(list operations) except -1
@cython.locals(replies=list, operation=Operation)
cpdef object read(Call call, list operations)
@cython.locals(size=int64_t, needed=int64_t, text=bytearray, grown=bint, changes=Py_ssize_t,
               replies=list, operation=Operation, old=int64_t)
cpdef object change(Call call, list operations)
