cimport cython

from server.client.client cimport Client
from server.dispatch.restrictions cimport Restrictions
from server.observe.memory cimport Memory
from server.table.command cimport Command

cdef int KEYS
cdef int MONITORING
cdef int CLIENT
cdef int NEEDS_MEMORY
cdef int NEEDS_DISK
cdef int WRITE
cdef int DATA
cdef int DENYOOM
cdef int NO_AUTH
cdef int NO_MULTI
cdef int NOT_QUEUED
cdef int LOADING
cdef int RUNS_QUEUE
cdef int TELLS_HEALTH
cdef int FOR_SUBSCRIBERS
cdef int IN_MULTI
cdef int SUBSCRIBED
cdef int UNAUTHENTICATED

cdef bint _has(Client client, Command command, int flags) except -1
cdef bint _must_listen(Client client, Command command) except -1
cdef bint _would_queue(Client client, Command command) except -1


@cython.final
cdef class Admission:
    cdef Restrictions _restrictions
    cdef Memory _memory

    @cython.locals(now=Restrictions)
    cpdef object refusal(self, Client client, Command command, int origin)
    @cython.locals(memory=Memory, is_short=bint)
    cdef object _shortage(self, Client client, Command command)
