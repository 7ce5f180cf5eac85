cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from storage cimport allocation, octets
from storage.listpack cimport element_octets

cdef Py_ssize_t HEADER
cdef int END
cdef int LONG_STRING
cdef bytes EMPTY
cdef Py_ssize_t NONE
cdef int UNKNOWN
cdef int MANY
cdef Py_ssize_t LIMIT
cdef Py_ssize_t MAX_ROOM
cdef Py_ssize_t FEW
cdef int OBJECT
cdef Py_ssize_t SPARSE


@cython.final
@cython.freelist(8)
cdef class Element:
    cdef readonly bint is_int
    cdef readonly int64_t number
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t next


@cython.final
@cython.freelist(16)
cdef class Listpack:
    cdef readonly bytearray data
    # LIMIT is 1 << 30: a size, a count of elements, and room an eighth above it fit an int.
    cdef readonly int size
    cdef readonly int count
    cdef int _room

    cpdef bytes dump(self)
    @cython.locals(made=Listpack)
    cpdef Listpack copy(self)
    cpdef int shrink(self) except -1
    @cython.locals(needed=Py_ssize_t)
    cpdef int reserve(self, Py_ssize_t size) except -1
    @cython.locals(room=Py_ssize_t)
    cdef int _count_room(self) except -1
    @cython.locals(end=Py_ssize_t, at=Py_ssize_t, found=int, count=int)
    cpdef int check(self) except -1
    @cython.locals(size=Py_ssize_t, after=Py_ssize_t)
    cdef Py_ssize_t _checked(self, Py_ssize_t at, Py_ssize_t end) except -1
    cpdef int length(self) noexcept
    @cython.locals(found=int)
    cdef int _distance(self, Py_ssize_t start, Py_ssize_t end) noexcept

    cpdef Py_ssize_t first(self) noexcept
    cpdef Py_ssize_t last(self) noexcept
    @cython.locals(size=Py_ssize_t)
    cpdef Py_ssize_t behind(self, Py_ssize_t at) noexcept
    cpdef Py_ssize_t next(self, Py_ssize_t at) noexcept
    @cython.locals(size=Py_ssize_t)
    cpdef Py_ssize_t prev(self, Py_ssize_t at) noexcept
    @cython.locals(count=Py_ssize_t, at=Py_ssize_t)
    cpdef Py_ssize_t seek(self, Py_ssize_t index) noexcept

    @cython.locals(data=bytearray, size=Py_ssize_t, head=Py_ssize_t, after=Py_ssize_t)
    cpdef Py_ssize_t read(self, Py_ssize_t at, Element element) noexcept
    cpdef object get(self, Py_ssize_t at)
    @cython.locals(head=Py_ssize_t, end=Py_ssize_t)
    cpdef bytes get_bytes(self, Py_ssize_t at)
    cpdef int64_t get_int(self, Py_ssize_t at) except? -1
    @cython.locals(head=Py_ssize_t, size=Py_ssize_t)
    cpdef bint matches(self, Py_ssize_t at, bytes value) noexcept

    @cython.locals(data=bytearray, is_number=bint, number=int64_t, at=Py_ssize_t,
                   to_pass=Py_ssize_t, size=Py_ssize_t, head=Py_ssize_t)
    cpdef Py_ssize_t find(self, bytes value, Py_ssize_t skip=*) noexcept

    cpdef int append(self, bytes value) except -1
    cpdef int append_int(self, int64_t number) except -1
    cpdef int prepend(self, bytes value) except -1
    cpdef int insert(self, Py_ssize_t at, bytes value) except -1
    cpdef Py_ssize_t replace(self, Py_ssize_t at, bytes value) except -1
    cpdef Py_ssize_t replace_int(self, Py_ssize_t at, int64_t number) except -1
    @cython.locals(size=Py_ssize_t, count=int, end=Py_ssize_t)
    cpdef int extend(self, Listpack other) except -1
    @cython.locals(number=int64_t, size=Py_ssize_t)
    cdef int _write(self, Py_ssize_t at, Py_ssize_t end, bytes value, int more) except -1
    @cython.locals(growth=Py_ssize_t)
    cdef int _open(self, Py_ssize_t at, Py_ssize_t end, Py_ssize_t size, int more) except -1
    cdef int _close(self, Py_ssize_t at, Py_ssize_t end, Py_ssize_t size) except -1
    cdef int _grow(self, Py_ssize_t at, Py_ssize_t end, Py_ssize_t growth) except -1
    cpdef int end_at(self, Py_ssize_t end, int more) noexcept
    cdef int _write_header(self) noexcept

    cpdef Py_ssize_t delete(self, Py_ssize_t at) except? -1
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, removed=Py_ssize_t)
    cpdef int delete_range(self, Py_ssize_t index, Py_ssize_t count) except -1
    cpdef bytes take_first(self)
    @cython.locals(at=Py_ssize_t, value=bytes)
    cpdef bytes take_last(self)
    @cython.locals(moved=Listpack, size=Py_ssize_t, count=int)
    cpdef Listpack split(self, Py_ssize_t at)


cpdef Listpack of_dump(bytes data)
@cython.locals(size=Py_ssize_t, made=Listpack, data=bytearray)
cpdef Listpack of_one(bytes value)
@cython.locals(room=Py_ssize_t)
cdef Py_ssize_t _roomy(Py_ssize_t needed, Py_ssize_t size) noexcept
@cython.locals(made=Listpack, count=int)
cdef Listpack _of_buffer(bytearray data)
