cimport cython

from server.dispatch.call cimport Call
from storage.side_data.schedule cimport Schedule
from storage.side_data.side_data cimport SideData
from storage.stream cimport stream_id, stream_node
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId

cdef object _SCHEDULE


@cython.locals(side=SideData, schedule=Schedule)
cpdef Schedule schedule_of(Call call, bytes key)
cpdef Schedule schedule_for(Call call, bytes key, bint may_create=*)
@cython.locals(side=SideData, schedule=Schedule)
cpdef Schedule schedule_beside(Call call, bytes key)
@cython.locals(side=SideData)
cpdef int changed(Call call, bytes key, Schedule schedule) except -1
