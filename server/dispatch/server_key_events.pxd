from server.waiting.blocking cimport Blocking
from server.dispatch.watching cimport Watching
from server.propagation.propagation cimport Propagation
from server.pubsub.key_notifications cimport KeyNotifications
from server.tracking.tracking cimport Tracking
from storage.keyspace.key_events cimport KeyEvents


cdef class ServerKeyEvents(KeyEvents):
    cdef Blocking _blocking
    cdef Propagation _propagation
    cdef Tracking _tracking
    cdef Watching _watching
    cdef readonly KeyNotifications notifications
    cdef dict _watched
    cdef public list logged
    cdef readonly object removals
    cdef readonly object replica_expiry
