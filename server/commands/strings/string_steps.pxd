cimport cython
from libc.stdint cimport int64_t

from server.dispatch.call cimport Call
from server.table cimport args
from storage cimport allocation
from storage.keyspace.keyspace cimport Keyspace

cdef int64_t ALWAYS_ALLOWED

cpdef bytes text_of(object value)
cpdef Py_ssize_t length_of(object value) except -1
cpdef put(Call call, bytes key, bytes value)
@cython.locals(db=Keyspace, argv=list, at=Py_ssize_t, as_mset=bint, is_logged=bint, key=bytes,
               value=bytes)
cpdef int put_all(Call call, Py_ssize_t end, int64_t when_ms, bint keep) except -1
cpdef object octets_of(object value)
@cython.locals(raw=bytearray, before=Py_ssize_t, grown=Py_ssize_t)
cpdef bytearray padded(Call call, bytes key, object value, Py_ssize_t size)
@cython.locals(by_width=bint, offset=int64_t)
cpdef int64_t to_bit_offset(Call call, bytes text, int width=*) except -1
@cython.locals(at=Py_ssize_t, mask=int, size=Py_ssize_t, text=bytearray, old=int)
cpdef int set_bit(Call call, bytes key, int64_t offset, int bit) except -1
