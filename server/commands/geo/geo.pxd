from protocol.encoder cimport Encoder
from server.commands.geo cimport geo_args, geo_reply
from server.commands.sorted_sets cimport addition
from server.dispatch.call cimport Call
from storage.geo cimport geohash, place_marks, sphere
from storage.sorted_sets.sorted_set cimport SortedSet
