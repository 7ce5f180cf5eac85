from protocol.encoder cimport Encoder
from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace
from storage.hash_table cimport fetching
