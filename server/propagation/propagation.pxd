cdef class Propagation:
    cdef public object log
    cdef public list ops

    cpdef add(self, int db, list argv)
    cpdef object deliver(self)
    cpdef deliver_each(self)
