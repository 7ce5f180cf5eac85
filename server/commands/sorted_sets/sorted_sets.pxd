from protocol.encoder cimport Encoder
from server.commands.sorted_sets cimport addition, score_args, zset_steps
from server.dispatch.call cimport Call
from storage.sorted_sets.bound cimport Bound
from storage.sorted_sets.sorted_set cimport SortedSet

cdef object _rank(Call call, bint reverse)
cdef object _count(Call call, bytes key, Bound begin, Bound end)
