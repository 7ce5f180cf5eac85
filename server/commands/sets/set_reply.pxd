cimport cython

from protocol.encoder cimport Encoder
from storage.sets.member_set cimport MemberSet
from storage.sets.member_walk cimport MemberWalk


cpdef write_set(Encoder out, MemberSet values)
@cython.locals(member=MemberWalk)
cpdef write_members(Encoder out, MemberSet values)
cpdef write_member(Encoder out, MemberWalk member)
