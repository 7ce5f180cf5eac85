cimport cython

from server.dispatch.call cimport Call
from storage.hashes.hash cimport Hash
from storage.listpack_limits cimport ListpackLimits


@cython.locals(value=Hash, limits=ListpackLimits, added=Py_ssize_t)
cpdef Py_ssize_t put(Call call, bytes key, list words, Py_ssize_t first) except -1
@cython.locals(limits=ListpackLimits)
cpdef put_one(Call call, bytes key, Hash value, bytes field, bytes text)
cpdef follow_removal(Call call, bytes key, Hash value)
