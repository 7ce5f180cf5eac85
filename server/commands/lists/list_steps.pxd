cimport cython

from protocol.encoder cimport Encoder
from server.commands.shared cimport packed_reply
from server.table.args cimport Args
from server.dispatch.call cimport Call
from storage.lists.quicklist cimport QuickList, new_quicklist
from storage.lists.quicklist_iterator cimport QuickListIterator


@cython.locals(values=QuickList)
cpdef QuickList find_list(Call call, bytes key)
@cython.locals(values=QuickList, at=Py_ssize_t)
cpdef Py_ssize_t push(Call call, bytes key, list words, Py_ssize_t first, bint left) except -1
cpdef bytes pop(Call call, bytes key, QuickList values, bint left, log=*)
cpdef list pop_many(Call call, bytes key, QuickList values, bint left, Py_ssize_t count, log=*)
cpdef list pop_first(Call call, bytes key, QuickList values, bint left, Py_ssize_t count)
cpdef popped(Call call, bytes key, QuickList values, bint left, Py_ssize_t count, log=*)
cpdef delete_if_empty(Call call, bytes key, QuickList values)
@cython.locals(values=QuickList, element=bytes)
cpdef object move(Call call, bytes source, bytes target, bint from_left, bint to_left, log=*)
@cython.locals(first=Py_ssize_t, count=Py_ssize_t, walk=QuickListIterator)
cpdef write_range(Encoder out, QuickList values, Py_ssize_t start, Py_ssize_t stop)
