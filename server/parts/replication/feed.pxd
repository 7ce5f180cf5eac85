cimport cython

from protocol.encoder cimport Encoder
from server.client.end_of_turn cimport EndOfTurn
from server.client.endpoint cimport Endpoint
from server.parts.propagation.propagation cimport Propagation
from server.parts.replication.history cimport History
from server.parts.replication.replica cimport Replica
from server.parts.replication.unconfirmed_keys cimport UnconfirmedKeys


cdef class Feed(Endpoint):
    cdef Propagation _propagation
    cdef readonly History history
    cdef public list replicas
    cdef public bint follows
    cdef public bint is_attached
    cdef public EndOfTurn turn
    cdef Encoder _out
    cdef int _db
    cdef bint _asks
    cdef bint _is_probed
    cdef bint _was_asked
    cdef public UnconfirmedKeys keys
    cdef object _own

    cpdef object offset(self)
    cpdef add_all(self, list ops)
    cpdef publish(self, int db, list words)
    cpdef ping(self)
    cpdef ask_offsets(self)
    cpdef ask_in_turn(self)
    cpdef object probe(self)
    cdef _add_raw(self, bytes command)
    cdef _added(self, bint is_first)
    @cython.locals(words=list, word=bytes, out=Encoder, db=int, before=Py_ssize_t)
    cdef _add(self, tuple op)
    @cython.locals(out=Encoder)
    cdef _note_own(self, Py_ssize_t before)
    cpdef spare(self, Replica replica)
    cpdef select_anew(self)
    cpdef send(self)
    cdef _ask_those_online(self)
    cpdef pass_on(self, bytes data)
    @cython.locals(replica=Replica)
    cdef _hand_on(self, bytes data)
    cpdef list since(self, object offset, Replica replica)
    cpdef drop(self)
    cpdef refuse(self, object error)
    cpdef disconnect(self)
