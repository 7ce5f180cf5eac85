from server.commands.strings cimport conditions, string_steps
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace

cdef int _remove(Call call, bytes key) except -1
