from protocol.encoder cimport Encoder
from server cimport list_reply, list_steps
from server.args cimport Args
from server.call cimport Call
from storage.quicklist cimport QuickList
