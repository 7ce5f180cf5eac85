from server.commands.shared cimport long_double
from server.commands.strings cimport string_steps
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace
