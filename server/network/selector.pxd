cimport cython

from server.network cimport socket_calls

cdef int MANY
cdef int MOST_TURNS


cdef class Watcher:
    cpdef ready(self, unsigned int events)
    cpdef abort(self)


cdef class Selector:
    cdef object _loop
    cdef object _epoll
    cdef list _watchers
    cdef list _at_end
    cdef bint _in_turn

    cpdef watch(self, int fd, Watcher watcher, unsigned int events)
    cpdef expect(self, int fd, unsigned int events)
    cpdef forget(self, int fd)
    @cython.locals(count=int, at=int, watcher=Watcher)
    cpdef turn(self)
    cdef _tell(self, Watcher watcher, unsigned int events)
    cpdef at_end_of_turn(self, object call)
