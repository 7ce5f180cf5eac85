cimport cython

from server.observe.part cimport Part
from server.parts.pubsub.pubsub cimport PubSub
from storage.keyspace.key_events cimport KeyEvents

cdef dict CLASS_OF
cdef int GENERIC
cdef int KEYSPACE
cdef int KEYEVENT
cdef int SUBKEYSPACE
cdef int SUBKEYEVENT
cdef int SUBKEYSPACE_ITEM
cdef int SUBKEYSPACE_EVENT


@cython.final
cdef class KeyNotifications(Part):
    cdef PubSub _pubsub
    cdef KeyEvents _events
    cdef int _classes
    cdef int _field_classes

    @cython.locals(kind=int)
    cpdef tell(self, int db, bytes key, bytes event)
