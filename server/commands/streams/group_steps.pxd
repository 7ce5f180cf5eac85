from server.dispatch.call cimport Call


cpdef int left(Call call, bytes key) except -1
