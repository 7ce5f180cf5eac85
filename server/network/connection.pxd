cimport cython
from libc.stdint cimport uint64_t

from protocol.encoder cimport Encoder
from protocol.requests cimport RequestParser
from server.client.client cimport Client
from server.parts.eviction.client_eviction cimport ClientEviction
from server.dispatch.dispatcher cimport Dispatcher
from server.dispatch.turn cimport Turn
from server.client.endpoint cimport Endpoint
from server.client.held_replies cimport HeldReplies
from server.observe.memory cimport Memory
from server.observe.stats cimport Stats
from server.parts.replication.confirmations cimport Confirmations
from server.network.acceptor cimport Acceptor
from server.network.clients cimport Clients
from server.network.transport cimport Transport

cdef Py_ssize_t FLUSH_AT
cdef Py_ssize_t PIPELINE
cdef int ACKS
cdef int IN_MULTI
cdef int REPLICA
cdef int UNAUTHENTICATED


cdef class Connection(Endpoint):
    cdef Dispatcher _dispatcher
    cdef Turn _turn
    cdef Memory _memory
    cdef ClientEviction _client_eviction
    cdef Clients _clients
    cdef Confirmations _confirmations
    cdef RequestParser _parser
    cdef Client _client
    cdef Encoder _out
    cdef Transport _transport
    cdef bint _running
    cdef bint _closing
    cdef bint _is_backed_up

    @cython.locals(client=Client, stats=Stats)
    cdef _begin_batch(self, Py_ssize_t size)
    @cython.locals(client=Client, unread=Py_ssize_t, queued=Py_ssize_t)
    cdef _serve(self)
    cpdef resume(self)
    @cython.locals(taken=uint64_t)
    cdef _run(self)
    @cython.locals(stats=Stats)
    cdef _count_batch(self, uint64_t commands)
    @cython.locals(client=Client, parser=RequestParser, ahead=Py_ssize_t)
    cdef _submit(self)
    @cython.locals(has_news=bint)
    cdef _flush(self)
    cpdef flush(self)
    cdef _count_unsent(self)
    @cython.locals(client=Client, memory=Py_ssize_t)
    cdef _count_memory(self, Py_ssize_t unread)
    @cython.locals(size=Py_ssize_t)
    cpdef send(self)
    @cython.locals(stats=Stats)
    cdef _write(self, Encoder out, Py_ssize_t size)
    @cython.locals(held=HeldReplies, data=bytes, start=Py_ssize_t)
    cdef bint _is_held(self) except -1
    @cython.locals(held=HeldReplies, start=Py_ssize_t)
    cpdef set_apart(self)
    @cython.locals(out=Encoder)
    cdef _write_bytes(self, bytes data)
    cdef Py_ssize_t _held_bytes(self) except -1
    cpdef refuse(self, object error)
    cpdef disconnect(self)
    @cython.locals(parser=RequestParser, transport=Transport)
    cpdef buffers(self)
    cpdef Py_ssize_t unsent(self) except -1
    cpdef connection_made(self, Transport transport)


@cython.final
cdef class ConnectionAcceptor(Acceptor):
    cdef Dispatcher _dispatcher
    cdef Clients _clients
