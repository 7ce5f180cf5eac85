cimport cython
from libc.stdint cimport int64_t


@cython.freelist(64)
cdef class Block:
    cdef readonly list keys
    cdef readonly object kind
    cdef readonly int64_t timeout_ms
    cdef readonly int64_t wake_ms
    cdef readonly object when_over
    cdef readonly object when_denied
    cdef readonly list argv
    cdef readonly bint on_no_key
    cdef readonly bint for_more
    cdef readonly bint reads_on
    cdef readonly object readers
    cdef readonly object resume
    cdef readonly bytes speaks_for
    cdef readonly bytes reads_as
    cdef readonly bytes but_for


@cython.locals(made=Block)
cpdef Block new_block(
    list keys, object kind, int64_t timeout_ms, object when_over, object when_denied=*,
    list argv=*, bint on_no_key=*, bint for_more=*, int64_t wake_ms=*,
    bint reads_on=*, bytes speaks_for=*, object readers=*, object resume=*,
    bytes reads_as=*, bytes but_for=*
)


cdef class Command:
    cdef readonly str name
    cdef readonly Py_ssize_t arity
    cdef readonly int flags
    cdef readonly str group
    cdef readonly str since
    cdef readonly str complexity
    cdef readonly tuple keys
    cdef readonly tuple found_by
    cdef readonly Py_ssize_t first_key_at
    cdef readonly Py_ssize_t one_key_at
    cdef readonly int one_key_rights
    cdef readonly object get_keys
    cdef readonly object channels
    cdef readonly object secrets
    cdef readonly object acl
    cdef readonly tuple tips
    cdef readonly object deprecated
    cdef readonly object history
    cdef readonly tuple own
    cdef readonly object argument_types
    cdef readonly object handler
    cdef public str summary
    cdef readonly str syntax
    cdef readonly dict subcommands
    cdef readonly dict spellings
    cdef readonly Py_ssize_t number

    cpdef bint accepts(self, Py_ssize_t argc)
    cpdef bint stands_alone(self) except -1
    cpdef list keys_of(self, list argv)
