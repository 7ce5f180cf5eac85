from server cimport list_steps
from server.args cimport Args
from server.call cimport Call
from storage.quicklist cimport QuickList
