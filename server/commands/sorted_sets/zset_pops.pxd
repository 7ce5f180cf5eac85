from protocol.encoder cimport Encoder
from server.commands.sorted_sets cimport zset_reply, zset_steps
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.sorted_sets.sorted_set cimport SortedSet

cdef object _pop(Call call, bint lowest)
