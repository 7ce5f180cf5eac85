from protocol.encoder cimport Encoder
from server.commands.sorted_sets cimport range_args, zset_reply, zset_steps
from server.commands.sorted_sets.range_args cimport RangeArgs
from server.dispatch.call cimport Call
from storage.sorted_sets.sorted_set cimport SortedSet

cdef object _answer(Call call, RangeArgs wanted)
cdef object _remove(Call call, RangeArgs wanted, bytes event)
