from server.dispatch.call cimport Call
from server.dispatch.restrictions cimport Restrictions

cdef int ALLOW_OOM
cdef int NO_HEADER
cdef int NO_WRITES

cpdef tuple take_words(list argv, object no_number=*)
cpdef int checked_flags(Call call, int flags, bint read_only) except -1
cdef _check(Call call, int flags, bint read_only)
