cimport cython

from storage.hash_table cimport borrowed_packed
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Listpack
from storage.rdb cimport borrowed
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.limits cimport SetLimits
from storage.sets cimport borrowed_set, intset
from storage.sets.member_set cimport MemberSet

cdef Py_ssize_t FIRST
cdef Py_ssize_t NUMBER

cpdef int code_of(MemberSet value) except -1
cpdef int write_pack(RdbWriter writer, Listpack pack) except -1
@cython.locals(at=Py_ssize_t, member=borrowed_set.Member)
cdef int write_listpack(RdbWriter writer, borrowed.Borrowed pack) except -1
cpdef Py_ssize_t slots_of(PackedTable table) except -1
@cython.locals(at=Py_ssize_t, members=Py_ssize_t, segment=borrowed.Borrowed,
               member=borrowed_packed.Text)
cpdef int write_slot(RdbWriter writer, PackedTable table, Py_ssize_t slot) except -1
@cython.locals(made=MemberSet, count=Py_ssize_t)
cpdef MemberSet read(RdbReader reader, int code, SetLimits limits)
cdef int _add(MemberSet made, bytes member, SetLimits limits) except -1
@cython.locals(made=MemberSet, numbers=bytes)
cdef MemberSet _read_intset(RdbReader reader, SetLimits limits)
@cython.locals(made=MemberSet, pack=Listpack)
cdef MemberSet _read_listpack(RdbReader reader, SetLimits limits)
