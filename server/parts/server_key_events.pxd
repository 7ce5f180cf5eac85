from server.parts.waiting.blocking cimport Blocking
from server.parts.watching cimport Watching
from server.parts.propagation.propagation cimport Propagation
from server.parts.pubsub.key_notifications cimport KeyNotifications
from server.parts.tracking.tracking cimport Tracking
from storage.keyspace.key_events cimport KeyEvents


cdef class ServerKeyEvents(KeyEvents):
    cdef Blocking _blocking
    cdef Propagation _propagation
    cdef object _stream_index
    cdef object _stream_policies
    cdef Tracking _tracking
    cdef Watching _watching
    cdef readonly KeyNotifications notifications
    cdef dict _watched
    cdef public list logged
    cdef readonly object removals
    cdef object _agenda
    cdef readonly object replica_expiry
