cimport cython
from libc.stdint cimport int64_t

from server.dispatch.call cimport Call
from server.parts.restrictions cimport Restrictions
from server.table.args cimport to_int

cdef Py_ssize_t FIRST_KEY
cdef int REPLAYED
cdef int ALLOW_OOM
cdef int NO_HEADER
cdef int NO_WRITES

@cython.locals(count=int64_t)
cpdef int key_count(list argv, object no_number=*) except -1
cpdef int checked_flags(Call call, int flags, bint read_only) except -1
cdef _check(Call call, int flags, bint read_only)
