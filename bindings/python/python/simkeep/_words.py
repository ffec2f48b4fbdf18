"""Enumerations: each member is equal to its value, a plain word."""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = [
    "Band",
    "Candidacy",
    "Fate",
    "LeaderChangeReason",
    "OperationKind",
    "OriginalBy",
    "Reason",
    "Role",
    "SameBy",
    "Seen",
    "Space",
    "Stage",
    "Stored",
    "Verdict",
    "VersionKind",
]

if TYPE_CHECKING:
    from ._simkeep import Reader

_T = TypeVar("_T")


class _Word(StrEnum):
    def __repr__(self) -> str:
        return f"simkeep.{type(self).__name__}.{self.name}"


class Verdict(_Word):
    """What a page is now, after an observation."""

    NEW = "new"
    """The first content of the page."""
    SAME = "same"
    """Unchanged: by its digest, by its fingerprint, or by the server's word."""
    UNSEEN = "unseen"
    """Said to be unmodified, but the store never saw content of this page."""
    CHANGED = "changed"
    """Content that is not among the last versions known of the page."""
    REVERTED = "reverted"
    """Back to an earlier version."""
    GONE = "gone"
    """The page is gone."""
    FAILED = "failed"
    """The visit failed. The content in force stays in force."""
    OUT_OF_ORDER = "out-of-order"
    """Not later than the last visit: stored at its place in the history."""
    KNOWN = "known"
    """The store has exactly this visit already."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class SameBy(_Word):
    """How a page is known to be the same."""

    DIGEST = "digest"
    """By its digest."""
    FINGERPRINT = "fingerprint"
    """By its fingerprint."""
    WORD = "word"
    """By the server's word."""
    OTHER = "other"
    """By what a newer version of simkeep tells."""


class OriginalBy(_Word):
    """How the content of two pages is known to be nearly the same."""

    DIGEST = "digest"
    """They have one digest."""
    FINGERPRINT = "fingerprint"
    """They have one fingerprint."""
    NEAR = "near"
    """Their fingerprints are near each other."""
    OTHER = "other"
    """By what a newer version of simkeep tells."""


class Band(_Word):
    """How much of a change a distance is."""

    NONE = "none"
    MINOR = "minor"
    MODERATE = "moderate"
    MAJOR = "major"


class Role(_Word):
    """What the fingerprints of an epoch are for."""

    CHANGE = "change"
    """They tell how much a page has changed."""
    NEAR = "near"
    """They tell which pages are near-duplicates."""
    BOTH = "both"
    """Both."""


class Seen(_Word):
    """What a visit found."""

    CONTENT = "content"
    REDIRECT = "redirect"
    """The page leads elsewhere; its digest names the target."""
    NOT_MODIFIED = "not-modified"
    GONE = "gone"
    FAILED = "failed"


class Stored(_Word):
    """What became of a restatement, a weight or a class."""

    STORED = "stored"
    KNOWN = "known"
    """The store has it already."""
    MISSING = "missing"
    """There is no such page or content."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class Reason(_Word):
    """What decides when a page is visited."""

    WORTH = "worth"
    """What a visit is worth by now, or by its policy the time since the last one."""
    HINTED = "hinted"
    """A hint says that it has changed since its last visit."""
    OVERDUE = "overdue"
    """It was not visited for so long that it comes first."""
    NOT_YET = "not-yet"
    """Its rule has it not visited so soon after its last visit."""
    LEFT_ALONE = "left-alone"
    """Its last visits failed, and it is left alone for a while."""
    AHEAD = "ahead"
    """Its last visit lies in the future, so nothing is known of the time since."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class LeaderChangeReason(_Word):
    """Why a page is led by another than before."""

    NEW = "new"
    """The page had no version in force before."""
    GONE = "gone"
    """The page has no version in force any more."""
    CHANGED = "changed"
    """The page itself changed."""
    LEADER_GONE = "leader-gone"
    """The page that led it has no version in force any more."""
    LEADER_CHANGED = "leader-changed"
    """The page that led it changed."""
    OUTRANKED = "outranked"
    """Both are as they were: others came or went, or rank before these by now."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class Fate(_Word):
    """What becomes of a page where those are dropped that others lead."""

    UNKNOWN = "unknown"
    """The store does not know it."""
    KEPT = "kept"
    """It leads its cluster, is in none, or is of another class than the page that leads it, which is not
    open to all."""
    DROPPED = "dropped"
    """It is dropped."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class Candidacy(_Word):
    """Whether the text of a page is worth comparing."""

    UNKNOWN = "unknown"
    """The store does not know the page."""
    ALONE = "alone"
    """No other page is within k bits of it, or it is not clustered."""
    CANDIDATE = "candidate"
    """Its text is wanted."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class Space(_Word):
    """What the bytes of a store are for."""

    HISTORIES = "histories"
    """URLs and the visits to them."""
    PAGE_INDEX = "page index"
    """What finds a page by its URL: hashes and filters."""
    SCHEDULE = "schedule"
    """What decides when each page is visited again."""
    FINGERPRINTS = "fingerprints"
    """Distinct fingerprints, and which of their bits are set."""
    POSTINGS = "postings"
    """Which pages have a fingerprint."""
    TABLES = "tables"
    """The tables that find near fingerprints."""
    FRAMES = "frames"
    """Checksums, prefixes that were forgotten, and the frames of the files."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class VersionKind(_Word):
    """What a version of a page is."""

    CONTENT = "content"
    """Content."""
    GONE = "gone"
    """Consecutive visits that found the page gone."""
    FAILED = "failed"
    """Consecutive visits that failed."""
    UNSEEN = "unseen"
    """Consecutive visits answered with "not modified", of a page whose content was never seen."""
    OTHER = "other"
    """What a newer version of simkeep tells."""


class OperationKind(_Word):
    """What an operation did."""

    ENTRY = "entry"
    """A page got an entry: a visit, restated content, or a property."""
    FORGET = "forget"
    """A page was forgotten."""
    FORGET_PREFIX = "forget-prefix"
    """All pages under a prefix were forgotten."""


class Stage(_Word):
    """What a call that takes long is doing."""

    WAITING = "waiting"
    GATHERING = "gathering"
    MERGING = "merging"
    WRITING = "writing"
    CHECKING = "checking"
    JOINING = "joining"
    COUNTING = "counting"
    COPYING = "copying"
    CLUSTERING = "clustering"
    COMPARING = "comparing"
    OTHER = "other"


for _name in __all__:
    globals()[_name].__module__ = "simkeep"
del _name


def _call(make: Callable[..., _T], args: tuple[Any, ...], keywords: dict[str, Any]) -> _T:
    """Makes an object with keywords, when it is unpickled."""
    return make(*args, **keywords)


def _reader(
    make: type["Reader"], path: str, plain_reads: bool, published: bool, generation: int | None
) -> "Reader":
    """Opens a reader, when it is unpickled."""
    if published:
        return make.published(path, generation, plain_reads=plain_reads)
    return make(path, plain_reads=plain_reads)
