cimport cython

from server.dispatch.call cimport Call
from server.parts.replication.feed cimport Feed



@cython.locals(feed=Feed)
cdef _tell_replicas(Call call)
