from server.commands.strings cimport bitfield_operations
from server.dispatch.call cimport Call
