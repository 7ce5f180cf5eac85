cimport cython

from storage cimport borrowed_listpack
from storage.listpack.listpack cimport Listpack
from storage.lists.quicklist cimport QuickList
from libc.stdint cimport int64_t, uint64_t

from storage.lists cimport borrowed_list
from storage.rdb cimport borrowed, raw
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter

cdef int PLAIN_NODE
cdef int PACKED_NODE


cpdef int write_pack(RdbWriter writer, Listpack pack) except -1
cdef int write_only_listpack(RdbWriter writer, borrowed.Borrowed pack) except -1

@cython.locals(made=QuickList)
cpdef QuickList read(RdbReader reader, int code, int64_t fill)
@cython.locals(pack=Listpack)
cdef int _add_ziplist(QuickList made, RdbReader reader) except -1
@cython.locals(pack=Listpack, container=uint64_t)
cdef int _add_node(QuickList made, RdbReader reader) except -1
