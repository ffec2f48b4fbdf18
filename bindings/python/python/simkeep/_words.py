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
    "PropertyOutcome",
    "Reason",
    "RestateOutcome",
    "Role",
    "SameBy",
    "Seen",
    "Space",
    "Stage",
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
    """The result of an observation for its page."""

    NEW = "new"
    """The first content of the page."""
    SAME = "same"
    """Unchanged: the current version is confirmed."""
    UNSEEN = "unseen"
    """Reported as not modified, but the store never saw any content of this page."""
    CHANGED = "changed"
    """Content that is not among the last versions known of this page."""
    REVERTED = "reverted"
    """A return to an earlier version."""
    GONE = "gone"
    """The page is gone."""
    FAILED = "failed"
    """The visit failed. The current version does not change."""
    OUT_OF_ORDER = "out-of-order"
    """The visit is not later than the last visit. It is stored in order in the history."""
    KNOWN = "known"
    """The store already had exactly this visit."""
    OTHER = "other"
    """A value that this version does not name."""


class SameBy(_Word):
    """The evidence that a page is unchanged."""

    DIGEST = "digest"
    """An equal digest."""
    FINGERPRINT = "fingerprint"
    """An equal fingerprint."""
    NOT_MODIFIED = "not-modified"
    """The server's report that nothing was modified."""
    OTHER = "other"
    """A value that this version does not name."""


class OriginalBy(_Word):
    """The evidence that two pages have nearly the same content."""

    DIGEST = "digest"
    """An equal digest."""
    FINGERPRINT = "fingerprint"
    """An equal fingerprint."""
    NEAR = "near"
    """A near fingerprint."""
    OTHER = "other"
    """A value that this version does not name."""


class Band(_Word):
    """The size of a change, by its distance."""

    NONE = "none"
    MINOR = "minor"
    MODERATE = "moderate"
    MAJOR = "major"


class Role(_Word):
    """The role of an epoch's fingerprints."""

    CHANGE = "change"
    """Verdicts and their distances."""
    NEAR = "near"
    """Near-duplicates, copies and pairs."""
    BOTH = "both"
    """Verdicts and near-duplicates."""


class Seen(_Word):
    """The result of a visit."""

    CONTENT = "content"
    REDIRECT = "redirect"
    """The page redirects; its digest identifies the target."""
    NOT_MODIFIED = "not-modified"
    GONE = "gone"
    FAILED = "failed"


class RestateOutcome(_Word):
    """The result of storing a restatement."""

    STORED = "stored"
    KNOWN = "known"
    """The store already had the fingerprint."""
    MISSING = "missing"
    """The page had no content at that time, or no content with the digest."""
    OTHER = "other"
    """A value that this version does not name."""


class PropertyOutcome(_Word):
    """The result of setting a weight or a class."""

    STORED = "stored"
    KNOWN = "known"
    """The store already had the value."""
    MISSING = "missing"
    """The store has no such page."""
    OTHER = "other"
    """A value that this version does not name."""


class Reason(_Word):
    """The reason for the time of a visit to a page."""

    WORTH = "worth"
    """The value of a visit now, or the time since the last visit if the policy uses this time."""
    HINTED = "hinted"
    """A hint reports a change since the last visit."""
    OVERDUE = "overdue"
    """The page was unvisited for longer than allowed, so it comes first."""
    NOT_YET = "not-yet"
    """The page's rule forbids a visit so soon after the last visit."""
    LEFT_ALONE = "left-alone"
    """The last visits of the page failed, and the page waits for a while."""
    AHEAD = "ahead"
    """The last visit of the page lies in the future, so the time since that visit is unknown."""
    OTHER = "other"
    """A value that this version does not name."""


class LeaderChangeReason(_Word):
    """The reason why the leader of a page changed."""

    NEW = "new"
    """The page had no current version before."""
    GONE = "gone"
    """The page has no current version any more."""
    CHANGED = "changed"
    """The page itself changed."""
    LEADER_GONE = "leader-gone"
    """The former leader of the page has no current version any more."""
    LEADER_CHANGED = "leader-changed"
    """The former leader of the page changed."""
    OUTRANKED = "outranked"
    """The page and its former leader are unchanged. Other pages came or disappeared, or now rank before them."""
    OTHER = "other"
    """A value that this version does not name."""


class Fate(_Word):
    """The decision on a page when near-duplicates are dropped."""

    UNKNOWN = "unknown"
    """The store does not know the page."""
    KEPT = "kept"
    """The page stays. It leads its cluster, is in no cluster, or has another class than its leader, and the leader's
    class is not open to all.
    """
    DROPPED = "dropped"
    """The page is dropped."""
    OTHER = "other"
    """A value that this version does not name."""


class Candidacy(_Word):
    """Whether the text of a page is worth comparing."""

    UNKNOWN = "unknown"
    """The store does not know the page."""
    ALONE = "alone"
    """No other page is within k bits, the page has no fingerprint, or it is not clustered."""
    CANDIDATE = "candidate"
    """The text of the page is needed."""
    OTHER = "other"
    """A value that this version does not name."""


class Space(_Word):
    """The purpose of bytes of a store."""

    HISTORIES = "histories"
    """URLs and visits."""
    PAGE_INDEX = "page index"
    """Hashes and filters that find a page by its URL."""
    SCHEDULE = "schedule"
    """The input of each page's schedule."""
    FINGERPRINTS = "fingerprints"
    """Distinct fingerprints, and their popcounts."""
    POSTINGS = "postings"
    """The pages of each fingerprint."""
    TABLES = "tables"
    """The tables that find near fingerprints."""
    FRAMES = "frames"
    """Checksums, forgotten prefixes, and the frames of the files."""
    OTHER = "other"
    """A value that this version does not name."""


class VersionKind(_Word):
    """The kind of a version of a page."""

    CONTENT = "content"
    """Content."""
    GONE = "gone"
    """Consecutive visits that found the page gone."""
    FAILED = "failed"
    """Consecutive visits that failed."""
    UNSEEN = "unseen"
    """Consecutive "not modified" visits to a page whose content was never seen."""
    OTHER = "other"
    """A value that this version does not name."""


class OperationKind(_Word):
    """The kind of an operation."""

    ENTRY = "entry"
    """A page got an entry: a visit, restated content, or a property."""
    FORGET = "forget"
    """A page was forgotten."""
    FORGET_PREFIX = "forget-prefix"
    """All pages under a prefix were forgotten."""


class Stage(_Word):
    """The stage of a long call."""

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
    """Creates an object with keyword arguments, for unpickling."""
    return make(*args, **keywords)


def _reader(
    make: type["Reader"], path: str, plain_reads: bool, published: bool, generation: int | None
) -> "Reader":
    """Opens a reader, for unpickling."""
    if published:
        return make.published(path, generation, plain_reads=plain_reads)
    return make(path, plain_reads=plain_reads)
