cimport cython

from server.commands.strings cimport string_steps
from storage cimport xxh3

cdef bytes IFEQ
cdef bytes IFNE
cdef bytes IFDEQ
cdef bytes IFDNE
cdef frozenset CONDITIONS
cdef Py_ssize_t DIGEST_SIZE

cpdef bytes digest_of(object value)
@cython.locals(wants_equal=bint, text=bytes)
cpdef bint holds(object value, bytes condition, bytes operand) except -1
