"""The exceptions of simkeep. Each says in its message what is wrong, where, and what to do."""

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
    """Everything that can go wrong in a store.

    Unless a class says otherwise, nothing acknowledged is lost, and the call changed nothing.
    """


class IoError(Error, OSError):
    """A call to the operating system failed; `errno` and `filename` say which.

    If it was a write, the store raises `PoisonedError` from then on.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class CorruptError(Error):
    """A file is damaged. Its damaged part cannot be read, everything else can.

    Restore the file from a copy, or save the rest with `repair`.
    """

    file: str
    """The file, by its path within the store's directory."""
    offset: int
    """Where in the file, in bytes."""


class NotAStoreError(Error):
    """There is no store at this place. Name another one, or create it."""


class UnfinishedError(NotAStoreError):
    """The repair or load that makes this store was interrupted, or is still running."""


class NotATableError(Error):
    """A file is not a table of document frequencies."""


class AlreadyExistsError(Error, FileExistsError):
    """Something that must not be replaced is there already. It stays as it is."""


class VersionError(Error):
    """A file was written by another version of simkeep. Use that one."""

    found: int | None = None
    """The version of the format that was found, if it is that."""
    reads: int | None = None
    """The one that this version reads."""


class LockedError(Error):
    """The store is open for writing already. Wait until it is closed, or use a `Reader`."""

    pid: int | None
    """The process that has it open, if that is known."""


class ForkedError(Error):
    """The store was opened by the process that this one was forked from, which alone may use it.

    Open it in one process, or read it with a `Reader`.
    """


class PoisonedError(Error):
    """An earlier write failed: `__cause__` is why. Open the store again."""


class ClosedError(Error):
    """The store was closed. Open it again."""


class BugError(Error):
    """An invariant of simkeep does not hold. Please report it."""


class UrlError(Error, ValueError):
    """Not a URL that can be stored."""


class PrefixError(Error, ValueError):
    """Not a prefix."""


class TimeError(Error, ValueError):
    """A time outside the years 1 to 9999."""


class EpochError(Error):
    """An epoch that is unknown, has ended, lacks its table, or cannot end yet."""


class LoadRejectedError(Error):
    """An observation of a load cannot be stored: `__cause__` is why. Nothing was stored."""

    nth: int
    """Which one, counted from 1."""


class InputError(Error):
    """The source of a load failed. Nothing was stored."""


class CancelledError(Error):
    """A long call was stopped by its `Progress`."""


class AmbiguousRepairError(Error):
    """A repair cannot tell what was forgotten. Nothing was repaired."""


class InvalidOptionError(Error, ValueError):
    """An option has a value that it cannot have."""


class LimitError(Error):
    """A limit was reached. What was there before is not affected."""


class InvalidArgumentError(Error, ValueError):
    """A call whose arguments do not go together, or that makes no sense now. It changed nothing."""


class CatalogError(Error):
    """The catalog of the store cannot be used."""


for _name in __all__:
    globals()[_name].__module__ = "simkeep"
del _name
