from server.parts.scripting.side_stack cimport SideStack


cdef class GreenletStack(SideStack):
    cdef object _make
    cdef object _current
    cdef object _idle
    cdef object _suspended
