from server.commands.scripting cimport running
from server.dispatch.call cimport Call

cdef object _call_function(Call call, bint read_only)
