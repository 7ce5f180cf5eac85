cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation
from storage.listpack cimport listpack
from storage.listpack.listpack cimport Listpack
from storage.lists.node_deque cimport NodeDeque
from storage.lists.quicklist_iterator cimport QuickListIterator

cdef int SMALLEST_FILL
cdef int LARGEST_FILL
cdef int SMALLEST_LIMIT
cdef int SAFE_LIMIT
cdef Py_ssize_t OVERHEAD
cdef Py_ssize_t EMPTY_SIZE
cdef Py_ssize_t NONE
cdef Py_ssize_t OBJECT
cdef int64_t packed_threshold

cdef Listpack pack_of(object node)
cdef bytes plain_of(object node)
@cython.locals(plain=bytes)
cdef int _discard(list nodes) except -1
@cython.locals(removed=int64_t, at=Py_ssize_t)
cdef int64_t _remove_first(Listpack pack, bytes value, int64_t limit) except -1
@cython.locals(removed=int64_t, at=Py_ssize_t, before=Py_ssize_t)
cdef int64_t _remove_last(Listpack pack, bytes value, int64_t limit) except -1


@cython.final
@cython.no_gc
cdef class QuickList(NodeDeque):
    cdef int _begin(self, int64_t fill) except -1
    cpdef int follow(self, int64_t fill) except -1
    @cython.locals(head=Listpack)
    cpdef int push_left(self, bytes value) except -1
    @cython.locals(tail=Listpack)
    cpdef int push_right(self, bytes value) except -1
    @cython.locals(pack=Listpack, value=bytes)
    cpdef bytes pop_left(self)
    @cython.locals(pack=Listpack, value=bytes)
    cpdef bytes pop_right(self)

    @cython.locals(walk=QuickListIterator)
    cpdef bytes get(self, Py_ssize_t index)
    @cython.locals(first=Py_ssize_t, count=Py_ssize_t, walk=QuickListIterator, found=list)
    cpdef list range(self, Py_ssize_t start, Py_ssize_t stop)
    @cython.locals(first=Py_ssize_t, last=Py_ssize_t)
    cpdef (Py_ssize_t, Py_ssize_t) bounds(self, Py_ssize_t start, Py_ssize_t stop)
    @cython.locals(walk=QuickListIterator, node=Py_ssize_t, within=Py_ssize_t, nodes=list)
    cpdef QuickListIterator iterate(self, Py_ssize_t index=*, bint reverse=*)
    @cython.locals(reverse=bint, to_skip=int64_t, left=int64_t, index=Py_ssize_t,
                   walk=QuickListIterator, found=list)
    cpdef list positions(self, bytes value, int64_t rank=*, int64_t count=*, int64_t maxlen=*)

    @cython.locals(nodes=list, i=Py_ssize_t, within=Py_ssize_t, pack=Listpack, at=Py_ssize_t,
                   old_size=Py_ssize_t)
    cpdef int set(self, Py_ssize_t index, bytes value) except -1
    @cython.locals(nodes=list, walk=QuickListIterator, i=Py_ssize_t, at=Py_ssize_t, pack=Listpack)
    cpdef bint insert(self, bytes pivot, bytes value, bint before) except -1
    @cython.locals(nodes=list, left=int64_t, removed=int64_t, step=Py_ssize_t, i=Py_ssize_t,
                   pack=Listpack)
    cpdef int64_t remove(self, int64_t count, bytes value) except -1
    @cython.locals(first=Py_ssize_t, count=Py_ssize_t, nodes=list, i=Py_ssize_t, j=Py_ssize_t,
                   before=Py_ssize_t, last=Py_ssize_t, pack=Listpack)
    cpdef int trim(self, Py_ssize_t start, Py_ssize_t stop) except -1
    @cython.locals(made=QuickList)
    cpdef QuickList copy(self)

    cpdef Listpack only_listpack(self)
    cpdef list nodes(self)
    cpdef int add_node(self, object node) except -1

    cdef Py_ssize_t _node_limit(self) noexcept
    cdef bint _is_large(self, Py_ssize_t size) noexcept
    cdef bint _may_grow(self, Listpack pack, Py_ssize_t size, Py_ssize_t elements) noexcept
    cdef bint _has_room(self, Listpack pack, Py_ssize_t size) noexcept
    @cython.locals(pack=Listpack)
    cdef _settle(self)
    cdef object _new_node(self, bytes value)
    @cython.locals(pack=Listpack)
    cdef int _insert_at(self, list nodes, Py_ssize_t i, Py_ssize_t at, bytes value) except -1
    @cython.locals(left=Listpack, right=Listpack)
    cdef int _insert_between(self, list nodes, Py_ssize_t i, bytes value) except -1
    @cython.locals(kept=list, left=Listpack, pack=Listpack)
    cdef list _merged(self, list nodes)


@cython.locals(made=QuickList)
cpdef QuickList new_quicklist(int64_t fill)
