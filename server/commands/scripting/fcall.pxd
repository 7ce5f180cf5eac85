cimport cython

from server.commands.scripting cimport running
from server.dispatch.call cimport Call
from server.scripting.engine cimport Engine

@cython.locals(engine=Engine, keys=int, flags=int)
cdef object _call_function(Call call, bint read_only)
