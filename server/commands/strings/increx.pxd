from protocol.encoder cimport Encoder
from server.commands.strings cimport string_steps
from server.commands.strings.increx_numbers cimport Adder, FloatAdder, IntAdder, Sum
from server.commands.strings.increx_options cimport IncrexOptions
from server.dispatch.call cimport Call
from storage.keyspace.keyspace cimport Keyspace
