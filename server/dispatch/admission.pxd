cimport cython

from server.client.client cimport Client
from server.parts.eviction.key_eviction cimport KeyEviction
from server.parts.restrictions cimport Restrictions
from server.parts.scripting.script_run cimport ScriptRun
from server.table.command cimport Command

cdef int KEYS
cdef int KEYLESS
cdef int STALE
cdef int CLIENT
cdef int REPLAYED
cdef int NEEDS_MEMORY
cdef int NOSCRIPT
cdef int ALLOW_BUSY
cdef int CHANGES
cdef int WRITE
cdef int DATA
cdef int DENYOOM
cdef int NO_AUTH
cdef int NO_MULTI
cdef int NOT_QUEUED
cdef int LOADING
cdef int RUNS_QUEUE
cdef int RUNS_SCRIPTS
cdef int CONFIRMED
cdef int TELLS_HEALTH
cdef int FOR_SUBSCRIBERS
cdef int ACKS
cdef int IN_MULTI
cdef int SUBSCRIBED
cdef int UNAUTHENTICATED
cdef int RESTRICTED

cdef bint _has(Client client, int flags, int wanted) except -1
cdef bint _all_have(Client client, int flags, int wanted) except -1
cdef bint _must_listen(Client client, Command command) except -1
cdef bint _would_queue(Client client, Command command) except -1


@cython.final
cdef class Admission:
    cdef Restrictions _restrictions
    cdef KeyEviction _key_eviction
    cdef object _access
    cdef object _switches

    @cython.locals(now=Restrictions, waits=bint)
    cpdef object refusal(self, Client client, Command command, list argv, int flags, int origin)
    @cython.locals(queues=bint)
    cdef object _shortage(self, Client client, Command command, int flags)
    cpdef object refusal_in_script(
        self, Client client, Command command, list argv, ScriptRun run, int origin
    )
    cdef object _shortage_in_script(self, Command command, ScriptRun run)
