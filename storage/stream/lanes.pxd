cimport cython

from storage.rax.rax_iterator cimport RaxIterator
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.group_order cimport GroupOrder, named
from storage.stream.newest cimport value_of
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


@cython.locals(value=bytes)
cpdef bytes lane_of(StreamIterator entry, bytes field)
@cython.locals(order=GroupOrder, place=RaxIterator, pending=Pending, entry_id=StreamId,
               entry=StreamIterator, name=bytes)
cpdef GroupOrder order_of(Stream stream, ConsumerGroup group, bytes field, bint is_shown=*)
