cimport cython

from server.commands.scripting cimport running
from server.dispatch.call cimport Call
from server.parts.scripting.script cimport Engine, Function, FunctionTable, Script, ScriptTable

cdef Py_ssize_t SHA_CHARACTERS

@cython.locals(engine=Engine, cache=ScriptTable, script=Script, keys=int, flags=int)
cdef object _run_script(Call call, bint is_known, bint read_only)
@cython.locals(engine=Engine, libraries=FunctionTable, function=Function, keys=int, flags=int)
cdef object _call_function(Call call, bint read_only)
