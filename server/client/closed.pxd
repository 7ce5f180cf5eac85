cdef list _parts

cpdef keep(object part)
cpdef let_go()
