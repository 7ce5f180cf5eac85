cimport cython

from server.parts.scripting.side_stack cimport SideStack
from server.process cimport stack_calls
from server.process.stack_calls cimport penstock_stack


cdef class OwnStack(SideStack):
    cdef penstock_stack *_stack
    cdef bint _is_entered
    cdef bint _is_suspended
    cdef size_t _frame
    cdef object _reply
    cdef object _error

    cdef serve(self)


@cython.locals(own=OwnStack)
cdef void _serve(object stack) noexcept
