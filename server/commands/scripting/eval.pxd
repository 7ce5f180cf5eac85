cimport cython

from server.commands.scripting cimport running
from server.dispatch.call cimport Call
from server.parts.scripting.engine cimport Engine
from server.parts.scripting.script cimport Script, ScriptTable

cdef Py_ssize_t SHA_CHARACTERS

@cython.locals(engine=Engine, cache=ScriptTable, script=Script, keys=int)
cdef object _run_text(Call call, bint read_only)
@cython.locals(engine=Engine, cache=ScriptTable, script=Script, keys=int)
cdef object _run_known(Call call, bint read_only)
