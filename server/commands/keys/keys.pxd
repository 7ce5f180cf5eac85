from server.table.args cimport Args
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace

cdef _rename(Keyspace db, bytes source, bytes target)
