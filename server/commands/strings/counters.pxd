from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace
