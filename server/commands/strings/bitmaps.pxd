from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from server.table cimport args
from storage.keyspace.keyspace cimport Keyspace
from storage.strings cimport bits
