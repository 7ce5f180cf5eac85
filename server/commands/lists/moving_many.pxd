from server.commands.lists cimport list_steps
from server.table cimport args
from server.table.args cimport Args
from server.table.command cimport new_block
from server.dispatch.call cimport Call
from storage.lists.quicklist cimport QuickList
