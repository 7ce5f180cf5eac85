cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.client.pushes cimport Pushes
from server.observe.memory cimport Memory
from server.observe.part cimport Part
from server.parts.pubsub.message cimport Message
from storage cimport glob

cdef Py_ssize_t SUBSCRIBER_BYTES
cdef Py_ssize_t SUBSCRIPTION_BYTES
cdef int CHANNELS
cdef int PATTERNS
cdef int SHARD_CHANNELS
cdef int SUBSCRIBED


@cython.final
cdef class PubSub(Part):
    cdef Memory _memory
    cdef readonly Pushes pushes
    cdef dict _limits
    cdef readonly dict channels
    cdef readonly dict patterns
    cdef readonly dict shard_channels
    cdef readonly Py_ssize_t clients

    @cython.locals(receivers=Py_ssize_t, subscribers=dict, pattern=bytes)
    cpdef Py_ssize_t publish(self, bytes channel, bytes message) except -1
    cpdef Py_ssize_t publish_to_shard(self, bytes channel, bytes message) except -1
    @cython.locals(client=Client, clients=list)
    cdef Py_ssize_t _send(self, Message message, dict subscribers) except -1
    cpdef dict registry(self, int kind)
    @cython.locals(names=dict)
    cpdef subscribe(self, Client client, int kind, bytes name)
    @cython.locals(names=dict, registry=dict, subscribers=dict)
    cpdef unsubscribe(self, Client client, int kind, bytes name)
    cpdef unsubscribe_all(self, Client client)
