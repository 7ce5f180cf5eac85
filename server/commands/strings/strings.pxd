from server.commands.strings cimport string_steps
from server.table.args cimport Args
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace

cdef object _set_with_options(Call call)
cdef object _set_for(Call call, bytes unit, str name)
