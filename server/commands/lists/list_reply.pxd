cimport cython

from protocol.encoder cimport Encoder
from server.commands.shared cimport packed_reply
from storage.lists.quicklist cimport QuickList
from storage.lists.quicklist_iterator cimport QuickListIterator


@cython.locals(first=Py_ssize_t, count=Py_ssize_t, walk=QuickListIterator)
cpdef write_range(Encoder out, QuickList values, Py_ssize_t start, Py_ssize_t stop)
