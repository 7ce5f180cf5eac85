from server.process cimport page_calls

cpdef object give_back()
cpdef object keep_heap()
