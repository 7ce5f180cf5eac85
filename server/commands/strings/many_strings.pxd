cimport cython

from protocol.encoder cimport Encoder
from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace
from storage.hash_table cimport fetching


@cython.locals(db=Keyspace, argv=list, first=Py_ssize_t, keys=list, key=bytes, value=object)
cdef int _write_strings(Call call, Encoder out) except -1
