cimport cython

from server.commands.strings cimport string_steps
from storage.strings cimport xxh3

cdef Py_ssize_t DIGEST_SIZE

cpdef bytes digest_of(object value)
@cython.locals(wants_equal=bint)
cpdef bint holds(object value, bytes condition, bytes operand) except -1
