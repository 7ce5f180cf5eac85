from server.args cimport Args
from server.call cimport Call
from storage.keyspace cimport Keyspace

cdef _rename(Keyspace db, bytes source, bytes target)
