"""What is kept beside a key, or a group of a stream, and has no place in Redis's form of an RDB.

A kind of side data is a row of storage/side_data/kinds.py. What follows from the row:

    SET, DEL, expiry, XGROUP DESTROY    it goes with what it belongs to
    RENAME, MOVE, COPY, SWAPDB          it comes along
    DUMP, RESTORE, MIGRATE              after the value, where Redis does not look
    RDB, full copies to replicas        an aux field before the key, which Redis skips
    AOF without an RDB in front         the commands that set it
    DEBUG DIGEST, MEMORY USAGE          it counts
    penstock check                      it is read, checked and counted
"""
