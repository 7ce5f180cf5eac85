cimport cython

from protocol.encoder cimport Encoder
from server.commands.shared cimport packed_reply
from server.table.args cimport Args
from server.dispatch.call cimport Call
from server.parts.waiting.blocking cimport Blocking
from storage.keyspace.keyspace cimport Keyspace
from storage.lists.quicklist cimport QuickList, new_quicklist
from storage.lists.quicklist_iterator cimport QuickListIterator


@cython.locals(values=QuickList)
cpdef QuickList find_list(Call call, bytes key)
@cython.locals(values=QuickList, at=Py_ssize_t)
cpdef Py_ssize_t push(Call call, bytes key, list words, Py_ssize_t first, bint left) except -1
@cython.locals(blocking=Blocking)
cpdef int tell_longer(Call call, bytes key) except -1
cpdef bytes pop(Call call, bytes key, QuickList values, bint left, log=*)
cpdef list pop_many(Call call, bytes key, QuickList values, bint left, Py_ssize_t count, log=*)
cpdef list pop_first(Call call, bytes key, QuickList values, bint left, Py_ssize_t count)
cpdef popped(Call call, bytes key, QuickList values, bint left, Py_ssize_t count, log=*)
cpdef delete_if_empty(Call call, bytes key, QuickList values)
@cython.locals(values=QuickList, element=bytes)
cpdef object move(Call call, bytes source, bytes target, bint from_left, bint to_left, log=*)
@cython.locals(db=Keyspace, values=QuickList, into=QuickList, stays=bint, fresh=bint, moved=list)
cpdef list move_many(
    Call call, bytes source, bytes target, bint from_left, bint to_left, Py_ssize_t count,
    bint in_bulk
)
cdef list _taken(QuickList values, bint left, Py_ssize_t count)
@cython.locals(at=Py_ssize_t, element=bytes)
cdef int _put(QuickList values, list block, bint left) except -1
@cython.locals(first=Py_ssize_t, count=Py_ssize_t, walk=QuickListIterator)
cpdef write_range(Encoder out, QuickList values, Py_ssize_t start, Py_ssize_t stop)
