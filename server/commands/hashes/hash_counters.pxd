from server.commands.hashes cimport hash_steps, live_fields
from server.commands.shared cimport long_double
from server.dispatch.call cimport Call
from storage.hashes.hash cimport Hash
from storage.keyspace.keyspace cimport Keyspace
