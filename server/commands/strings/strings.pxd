from server.commands.strings cimport conditions, put_options, string_steps
from server.commands.strings.put_options cimport PutOptions
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.keyspace.keyspace cimport Keyspace

cdef object _set_with_options(Call call)
cdef object _set_for(Call call, bytes unit, str name)
