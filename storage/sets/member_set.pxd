cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation, octets
from storage.hash_table.packed_table cimport PackedTable
from storage.listpack.listpack cimport Listpack
from storage.limits cimport SetLimits
from storage.sets cimport intset
from storage.sets.member_walk cimport MemberWalk
from storage.chance cimport Chance

cdef bytes EMPTY
cdef Py_ssize_t OBJECT
cdef Py_ssize_t NONE
cdef bytes NOTHING
cdef Py_ssize_t MOST_NUMBERS
cdef Py_ssize_t SAFE_SIZE
cdef Py_ssize_t FEW_LEFT


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class MemberSet:
    cdef readonly object members

    @cython.locals(pack=Listpack, table=PackedTable)
    cpdef Py_ssize_t size(self) except -1
    cpdef MemberWalk walk(self)
    @cython.locals(table=PackedTable)
    cpdef bint has(self, bytes member) except -1
    cpdef expect(self, bytes first, Py_ssize_t count, SetLimits limits)
    @cython.locals(table=PackedTable)
    cpdef bint add(self, bytes member, SetLimits limits) except -1
    @cython.locals(number=int64_t, index=Py_ssize_t, count=Py_ssize_t)
    cdef bint _add_to_intset(self, bytes numbers, bytes member, SetLimits limits) except -1
    @cython.locals(number=int64_t, count=Py_ssize_t, longest=Py_ssize_t)
    cdef bint _fits_listpack(self, bytes numbers, bytes member, SetLimits limits) except -1
    cdef bint _add_to_listpack(self, Listpack pack, bytes member, SetLimits limits) except -1
    cdef int _become(self, object members) except -1
    @cython.locals(table=PackedTable, walk=MemberWalk)
    cpdef PackedTable become_table(self)
    @cython.locals(pack=Listpack, table=PackedTable, at=Py_ssize_t, index=Py_ssize_t)
    cpdef bint remove(self, bytes member) except -1
    @cython.locals(member=bytes)
    cpdef bytes pop(self, Chance chance)
    @cython.locals(pack=Listpack, table=PackedTable, member=bytes)
    cpdef bytes random_member(self, Chance chance)
    cpdef MemberSet copy(self)


@cython.locals(made=MemberSet)
cpdef MemberSet of_members(object members)
@cython.locals(at=Py_ssize_t)
cdef Py_ssize_t _find(Listpack pack, bytes member) noexcept
@cython.locals(pack=Listpack, index=Py_ssize_t)
cdef Listpack _listpack_of(bytes numbers)
