cimport cython

from protocol.encoder cimport Encoder
from server.commands.shared cimport packed_reply
from server.dispatch.call cimport Call
from storage.hash_table.packed_table cimport PackedTable
from storage.keyspace.keyspace cimport Keyspace
from storage.limits cimport SetLimits
from storage.listpack.listpack cimport Listpack
from storage.sets cimport intset
from storage.sets.member_set cimport MemberSet
from storage.sets.value_type cimport SetType


cdef SetType SET


@cython.locals(db=Keyspace, limits=SetLimits, values=MemberSet, fresh=bint, added=Py_ssize_t,
               at=Py_ssize_t, text=bytes)
cpdef Py_ssize_t add_members(Call call, bytes key, list words, Py_ssize_t first) except -1
cpdef removed(Call call, bytes key, MemberSet values, bytes event, Py_ssize_t count, log=*)
cpdef delete(Call call, bytes key, Py_ssize_t changes=*)
@cython.locals(key=bytes)
cpdef list read_all(Call call, list keys)
@cython.locals(size=Py_ssize_t)
cpdef Py_ssize_t store(Call call, bytes key, MemberSet values, bytes event) except -1
cpdef write_set(Encoder out, MemberSet values)
@cython.locals(pack=Listpack, index=Py_ssize_t)
cpdef write_members(Encoder out, MemberSet values)
@cython.locals(member=bytes)
cpdef write_found(Encoder out, list members)
