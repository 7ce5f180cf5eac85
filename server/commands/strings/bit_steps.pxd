cimport cython
from libc.stdint cimport int64_t

from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace


@cython.locals(at=Py_ssize_t, mask=int, size=Py_ssize_t, text=bytearray, old=int)
cpdef int set_bit(Call call, bytes key, int64_t offset, int bit) except -1
