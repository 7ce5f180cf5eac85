cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.lists cimport list_steps
from server.table.args cimport Args
from server.dispatch.call cimport Call
from storage.lists.quicklist cimport QuickList


@cython.locals(argv=list, values=QuickList, count=int64_t)
cdef object _pop(Call call, bint left)
