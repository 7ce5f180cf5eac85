cimport cython

from server.dispatch.call cimport Call
from storage.hashes.hash cimport Hash
from storage.keyspace.keyspace cimport Keyspace
from storage.keyspace.key_events cimport KeyEvents
from storage.keyspace.settings cimport Lookup

cdef frozenset NO_FIELDS

cpdef frozenset dead_fields(Call call, Hash value)
@cython.locals(dead=list)
cpdef frozenset expire(Call call, bytes key, Hash value, object fields, bint keeps_empty=*)
cpdef bint has(Call call, Hash value, bytes field) except -1
@cython.locals(value=Hash)
cpdef Hash find_hash(Call call, bytes key, object fields)
cdef bint _keeps_expired(Call call) except -1
