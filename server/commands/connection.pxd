from server.args cimport Args
from server.call cimport Call
from server.client cimport Client
from server.state cimport ServerState
