from protocol.encoder cimport Encoder
from server.commands.lists cimport list_steps
from server.table.args cimport Args
from server.dispatch.call cimport Call
from storage.lists.quicklist cimport QuickList
