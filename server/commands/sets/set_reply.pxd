cimport cython

from protocol.encoder cimport Encoder
from server.commands.shared cimport packed_reply
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Listpack
from storage.sets cimport intset
from storage.sets.member_set cimport MemberSet


cpdef write_set(Encoder out, MemberSet values)
@cython.locals(pack=Listpack, index=Py_ssize_t)
cpdef write_members(Encoder out, MemberSet values)
@cython.locals(member=bytes)
cpdef write_found(Encoder out, list members)
