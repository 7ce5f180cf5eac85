from server.table.args cimport Args
from server.dispatch.call cimport Call
from server.client.client cimport Client
from server.parts.state cimport ServerState

cdef int SUBSCRIBED
