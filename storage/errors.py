"""Why storage refuses something. No wire text: server/table/errors.py has what clients get."""


class StorageError(Exception):
    """The base of all below: the request was refused and nothing was changed."""


class WrongType(StorageError):
    """The key holds a value of another type."""


class BadStreamId(StorageError):
    """Not of the form that an id may have here: ms, ms-seq, ms-* or *."""


class IdNotGreater(StorageError):
    """A stream's ids only grow."""


class IdIsZero(StorageError):
    """0-0 is below every entry and can never be one."""


class IdsExhausted(StorageError):
    """The stream's last id is the greatest there is."""


class TooLarge(StorageError):
    """The value would pass a limit of its format (a stream entry: 1 GiB)."""


class GroupExists(StorageError):
    """A consumer group of that name exists."""


class Corrupt(StorageError):
    """Bytes that claim to be a listpack (or another format) and are not; says what is wrong."""


class Truncated(Corrupt):
    """Bytes of a format that end before what they announce."""


class LastIdTooSmall(StorageError):
    """A stream's last id cannot be set below an entry that it holds."""


class BelowMaxDeleted(StorageError):
    """A stream's last id cannot be set below an entry that was deleted from it."""


class TooFewAdded(StorageError):
    """A stream cannot have had fewer entries added than it holds."""
