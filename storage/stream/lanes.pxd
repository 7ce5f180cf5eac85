cimport cython
from libc.stdint cimport uint64_t

from storage cimport octets, xxh3
from storage.listpack cimport element_octets
from storage.listpack.listpack cimport Listpack
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.group_order cimport GroupOrder
from storage.stream.lane cimport Lane
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef Py_ssize_t MAX_INT_TEXT
cdef int _NINE
cdef uint64_t _U64
cdef bytes _SECRET
cdef uint64_t _KEY


@cython.locals(node=Listpack, at=Py_ssize_t, data=bytearray, size=Py_ssize_t)
cpdef uint64_t lane_of(StreamIterator entry, bytes field) except? 1
@cython.locals(data=bytearray, start=Py_ssize_t, size=Py_ssize_t, text=bytes)
cdef uint64_t _number_at(Listpack node, Py_ssize_t at) except? 1
@cython.locals(pending=Pending, entry_id=StreamId, entry=StreamIterator, value=bytes)
cpdef bytes value_in(Stream stream, GroupOrder order, Lane lane)
@cython.locals(order=GroupOrder, place=RaxIterator, pending=Pending, entry=StreamIterator,
               is_there=bint, number=uint64_t)
cpdef GroupOrder order_of(Stream stream, ConsumerGroup group, bytes field, bint is_shown=*)
