from server.process cimport reserve_calls

cdef size_t BYTES
cdef bint _begun

cpdef bint is_gone() noexcept
