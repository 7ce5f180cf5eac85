cimport cython

from protocol.encoder cimport Encoder
from server.commands.geo cimport geo_reply, search_args
from server.commands.geo.search_args cimport SearchArgs
from server.commands.sorted_sets cimport zset_steps
from server.dispatch.call cimport Call
from storage.geo cimport search
from storage.geo.area cimport Area
from storage.geo.places cimport Places
from storage.limits cimport ListpackLimits
from storage.sorted_sets.sorted_set cimport SortedSet

cdef object _search(Call call, SearchArgs wanted, bytes event)
@cython.locals(limits=ListpackLimits, at=Py_ssize_t, score=double)
cdef object _store(Call call, SearchArgs wanted, Places found, double unit, bytes event)
