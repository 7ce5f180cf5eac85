cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.client.client cimport Client
from server.client.held_replies cimport HeldReplies, Level
from server.observe.part cimport Part
from server.parts.replication.feed cimport Feed
from server.parts.replication.replica cimport Replica
from server.parts.replication.unconfirmed_keys cimport UnconfirmedKeys
from server.table.command cimport Command

cdef int ACKS
cdef int READS_ANY
cdef int DATA
cdef int QUORUM
cdef int64_t NEVER
cdef int _MOST_FORMER


cdef class Confirmations(Part):
    cdef Feed _feed
    cdef object _replicas
    cdef readonly object now_ms
    cdef readonly object lease_now_ms
    cdef readonly object quorum
    cdef readonly UnconfirmedKeys keys
    cdef dict _levels
    cdef dict _holding
    cdef readonly bint is_used
    cdef bint _has_lease
    cdef readonly uint64_t timeouts

    @cython.locals(held=HeldReplies, level=Level)
    cpdef use(self, Client client, object options)
    cdef Level _level(self, int64_t wanted, bint fsync)
    cdef _change_level(self, Client client, HeldReplies held, Level level)
    @cython.locals(level=Level)
    cdef _leave_former(self, HeldReplies held)
    cdef _leave_level(self, Level level)
    cdef _begin(self)
    cdef _follow_feed(self)
    cpdef resumed(self)
    cpdef stop(self, Client client)
    @cython.locals(held=HeldReplies)
    cpdef follow(self, Client client)
    cpdef forget(self, Client client)
    @cython.locals(held=HeldReplies, offset=int64_t, has_changed=bint, touches_data=bint)
    cpdef ran(self, Client client, Command command, list argv)
    @cython.locals(offset=int64_t)
    cdef _find_needs(
        self, Client client, HeldReplies held, Command command, list argv, bint has_changed
    )
    @cython.locals(last=int64_t, uses=list)
    cdef int64_t _last_change(self, Client client, Command command, list argv) except -1
    cpdef acked(self, Replica replica)
    @cython.locals(level=Level, offset=int64_t, lowest=int64_t, client=Client)
    cdef _look(self)
    cdef int64_t _confirmed_by(self, Level level) except -1
    cdef _release(self, Client client)
    cpdef replica_left(self, Replica replica)
    @cython.locals(client=Client, held=HeldReplies)
    cpdef tick(self, int64_t now_ms)
    cdef _fail(self, Client client, int64_t before_ms, object error)
    @cython.locals(client=Client, level=Level)
    cpdef role_changed(self)
