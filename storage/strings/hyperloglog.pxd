cimport cython
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from storage.rdb cimport raw
from storage.strings cimport bit_octets, register_octets

cdef uint32_t MAGIC_NUMBER
cdef int DENSE
cdef int SPARSE
cdef Py_ssize_t FORM
cdef Py_ssize_t ESTIMATE
cdef Py_ssize_t LAST_OF_ESTIMATE
cdef Py_ssize_t HEADER
cdef int STALE
cdef Py_ssize_t REGISTERS
cdef Py_ssize_t DENSE_SIZE
cdef int INDEX_BITS
cdef int RUN_BITS
cdef uint64_t RUN_END
cdef int ZERO
cdef int XZERO
cdef int VAL
cdef Py_ssize_t LONGEST_ZERO
cdef Py_ssize_t LONGEST_VAL
cdef int GREATEST_VAL
cdef int SCANNED
cdef uint64_t SEED
cdef uint64_t MIX
cdef int MIX_SHIFT
cdef uint64_t BITS_64
cdef double TOO_MANY
cdef int64_t IMPOSSIBLE
cdef double ALPHA

cpdef bytearray no_registers()
@cython.locals(data=raw.Raw, size=Py_ssize_t)
cpdef bint is_one(object text) except -1
cpdef int64_t kept_estimate(object data) except? -2
cpdef bint is_dense(bytearray data) except -1
@cython.locals(at=Py_ssize_t, end=Py_ssize_t, index=Py_ssize_t, opcode=int)
cpdef bint is_whole(bytearray data) except -1
cdef Py_ssize_t _size(bytearray data, Py_ssize_t at) noexcept
@cython.locals(opcode=int)
cdef Py_ssize_t _span(bytearray data, Py_ssize_t at) noexcept
cdef int _value(int opcode) noexcept

@cython.locals(hashed=uint64_t, index=Py_ssize_t, run=int)
cpdef bint add(bytearray data, bytes element, Py_ssize_t most) except -1
@cython.locals(size=Py_ssize_t, data=raw.Raw, mixed=uint64_t, word=uint64_t, at=Py_ssize_t,
               shift=int)
cpdef uint64_t murmur(bytes text) noexcept
cpdef bint raise_register(
    bytearray data, Py_ssize_t index, int value, Py_ssize_t most
) except -1

@cython.locals(at=Py_ssize_t, shift=int, old=int)
cdef bint _raise_dense(bytearray data, Py_ssize_t index, int value) except -1
@cython.locals(registers=bytearray)
cpdef to_dense(bytearray data)

@cython.locals(at=Py_ssize_t, before=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t,
               span=Py_ssize_t, opcode=int, made=bytearray)
cdef bint _raise_sparse(
    bytearray data, Py_ssize_t index, int value, Py_ssize_t most
) except -1
cdef int _val(int value, Py_ssize_t span) noexcept
@cython.locals(made=bytearray)
cdef bytearray _run(int opcode, Py_ssize_t span)
@cython.locals(left=int, span=Py_ssize_t)
cdef int _join(bytearray data, Py_ssize_t at) except -1

@cython.locals(at=Py_ssize_t, index=Py_ssize_t, end=Py_ssize_t, after=Py_ssize_t, value=int)
cpdef merge_into(bytearray registers, bytearray data)
@cython.locals(index=Py_ssize_t)
cpdef raise_registers(bytearray data, bytearray registers, Py_ssize_t most)
@cython.locals(table=list, size=double, total=double, run=int,
               found=double, whole=int64_t)
cpdef int64_t estimate(bytearray registers) except? 1
@cython.locals(step=double, total=double, before=double)
cdef double _sigma(double share) except? -1
@cython.locals(step=double, total=double, before=double)
cdef double _tau(double share) except? -1
