"""The exceptions of simkeep. Each message states the problem, its place, and the remedy."""

__all__ = [
    "AlreadyExistsError",
    "AmbiguousRepairError",
    "BugError",
    "CancelledError",
    "CatalogError",
    "ClosedError",
    "CorruptError",
    "EpochError",
    "Error",
    "ForkedError",
    "InputError",
    "InvalidArgumentError",
    "InvalidOptionError",
    "IoError",
    "LimitError",
    "LoadRejectedError",
    "LockedError",
    "NotAStoreError",
    "NotATableError",
    "PoisonedError",
    "PrefixError",
    "TimeError",
    "UnfinishedError",
    "UrlError",
    "VersionError",
]


class Error(Exception):
    """The base class of all errors of a store.

    Unless the description of a class says otherwise, no acknowledged operation is lost, and the call changed nothing.
    """


class IoError(Error, OSError):
    """A call to the operating system failed; `errno` and `filename` have the details.

    After a failed write, the store raises `PoisonedError` in all later calls.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class CorruptError(Error):
    """A file is damaged. The damaged part cannot be read; all other parts can be read.

    Restore the file from a copy, or save the sound parts with `repair`.
    """

    file: str
    """The path of the file within the store's directory."""
    offset: int
    """The offset of the damage in the file, in bytes."""


class NotAStoreError(Error):
    """There is no store at this path. Use another path, or create the store."""


class UnfinishedError(NotAStoreError):
    """The repair or load that creates this store was interrupted, or is still running."""


class NotATableError(Error):
    """A file is not a table of document frequencies."""


class AlreadyExistsError(Error, FileExistsError):
    """The destination already exists and must not be replaced. It stays unchanged."""


class VersionError(Error):
    """A file was written by another version of simkeep. Use that version."""

    found: int | None = None
    """The format version of the file, if the error is about the format."""
    reads: int | None = None
    """The format version that this version of simkeep reads."""


class LockedError(Error):
    """The store is already open for writing. Wait until it is closed, or use a `Reader`."""

    pid: int | None
    """The process that has the store open, if known."""


class ForkedError(Error):
    """The store was opened by another process, from which this process was forked. Only the other process may use the
    store.

    Open the store in one process, or read it with a `Reader`.
    """


class PoisonedError(Error):
    """An earlier write failed; `__cause__` is the reason. Open the store again."""


class ClosedError(Error):
    """The store was closed. Open it again."""


class BugError(Error):
    """An invariant of simkeep does not hold. Please report the bug."""


class UrlError(Error, ValueError):
    """Not a URL that can be stored."""


class PrefixError(Error, ValueError):
    """Not a prefix."""


class TimeError(Error, ValueError):
    """A time outside the years 1 to 9999."""


class EpochError(Error):
    """An epoch that is unknown, has ended, lacks its table, or cannot end yet."""


class LoadRejectedError(Error):
    """An observation of a load cannot be stored; `__cause__` is the reason. Nothing was stored."""

    nth: int
    """The number of the observation, counted from 1."""


class InputError(Error):
    """The source of a load failed. Nothing was stored."""


class CancelledError(Error):
    """A long call was stopped by its `Progress`."""


class AmbiguousRepairError(Error):
    """A repair cannot determine which pages were forgotten. Nothing was repaired."""


class InvalidOptionError(Error, ValueError):
    """An option has an invalid value."""


class LimitError(Error):
    """A limit was reached. Existing data is not affected."""


class InvalidArgumentError(Error, ValueError):
    """The arguments of a call are inconsistent, or the call is not allowed now. The call changed nothing."""


class CatalogError(Error):
    """The catalog of the store cannot be used."""


for _name in __all__:
    globals()[_name].__module__ = "simkeep"
del _name
