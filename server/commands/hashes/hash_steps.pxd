cimport cython

from server.dispatch.call cimport Call
from storage.hashes.hash cimport Hash
from storage.hashes.value_type cimport HashType
from storage.keyspace.keyspace cimport Keyspace
from storage.limits cimport ListpackLimits

cdef HashType HASH


@cython.locals(value=Hash, limits=ListpackLimits, added=Py_ssize_t)
cpdef Py_ssize_t put(Call call, bytes key, list words, Py_ssize_t first, log=*) except -1
@cython.locals(text=bytes, value=Hash, added=Py_ssize_t)
cdef Py_ssize_t _put_new(
    Keyspace db, bytes key, list words, Py_ssize_t first, ListpackLimits limits
) except -1
@cython.locals(limits=ListpackLimits)
cpdef put_one(Call call, bytes key, Hash value, bytes field, bytes text)
cpdef tell_fields(Call call, bytes key, bytes event, object fields)
cpdef follow_removal(Call call, bytes key, Hash value)
