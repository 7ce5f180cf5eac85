cimport cython

from server.commands.scripting cimport running
from server.dispatch.call cimport Call
from server.parts.scripting.engine cimport Engine
from server.parts.scripting.function cimport Function, FunctionTable

@cython.locals(engine=Engine, libraries=FunctionTable, function=Function, keys=int, flags=int)
cdef object _call_function(Call call, bint read_only)
