# inline only

cdef enum:
    TEXT = 0
    NUMBER = 1
    OBJECT = 2
    PACKED = 16
    USE = 4
    NUMBER_CELL = 9
