cimport cython

from server.commands.scripting cimport running
from server.dispatch.call cimport Call
from server.scripting.script cimport Script

cdef Py_ssize_t SHA_CHARACTERS

@cython.locals(script=Script)
cdef object _run_text(Call call, bint read_only)
@cython.locals(script=Script)
cdef object _run_known(Call call, bint read_only)
