from server.commands.sorted_sets cimport zset_steps
from server.dispatch.call cimport Call
from server.table cimport args
from server.table.args cimport Args
from server.table.command cimport new_block
from storage.sorted_sets.sorted_set cimport SortedSet


cdef object _pop(Call call, bint lowest)
