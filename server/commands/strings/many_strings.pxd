cimport cython

from protocol.encoder cimport Encoder
from server.commands.strings cimport put_options, string_steps
from server.commands.strings.put_options cimport PutOptions
from server.dispatch.call cimport Call
from server.table cimport args
from storage.keyspace.keyspace cimport Keyspace
from storage.hash_table cimport fetching


@cython.locals(db=Keyspace, argv=list, first=Py_ssize_t, keys=list, key=bytes, value=object)
cdef int _write_strings(Call call, Encoder out) except -1
