cimport cython

from storage cimport borrowed_listpack
from storage.hash_table cimport borrowed_packed
from storage.hashes cimport borrowed_hash
from storage.hashes.hash cimport Hash
from storage.listpack.listpack cimport Listpack
from storage.limits cimport ListpackLimits
from storage.rdb cimport borrowed, raw
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter

cdef Py_ssize_t NONE

cpdef int code_of(Hash value) except -1

cpdef int write_pack(RdbWriter writer, Listpack pack) except -1
cdef int write_borrowed_pack(RdbWriter writer, borrowed.Borrowed pack) except -1
@cython.locals(segment=borrowed.Borrowed, slot=Py_ssize_t)
cdef int write_borrowed_table(RdbWriter writer, borrowed.Borrowed table) except -1
@cython.locals(text=borrowed_packed.Text, at=Py_ssize_t)
cdef int _write_segment(RdbWriter writer, borrowed.Borrowed segment) except -1

@cython.locals(pack=Listpack)
cpdef Hash read(RdbReader reader, int code, ListpackLimits limits)
@cython.locals(made=Hash)
cdef Hash _of_pack(Listpack pack, ListpackLimits limits)
@cython.locals(fields=set, at=Py_ssize_t)
cdef bint _repeats(Listpack pack) except -1
@cython.locals(made=Hash)
cdef Hash _of_zipmap(bytes data, ListpackLimits limits)
@cython.locals(made=Hash, count=Py_ssize_t, field=bytes)
cdef Hash _of_pairs(RdbReader reader, ListpackLimits limits)
cdef int _add(Hash made, bytes field, bytes text, ListpackLimits limits) except -1
