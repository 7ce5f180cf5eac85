cimport cython

from storage.rdb cimport borrowed, lists, streams
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter

cdef int STRING
cdef int LIST
cdef int STREAM


@cython.locals(pack=borrowed.Borrowed)
cdef bint write_at_once(RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value) except -1
cdef int _write_head(RdbWriter writer, int kind, borrowed.Borrowed key) except -1
cpdef object read(RdbReader reader, int kind, bytes key, int list_fill)
