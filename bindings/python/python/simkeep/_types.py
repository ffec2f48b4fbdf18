"""Types of arguments, for type checkers."""

import builtins
from collections.abc import Iterable
from datetime import datetime, timedelta
from os import PathLike
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

from ._simkeep import Bands, Hints, LearnedPriors, Observation, Plan, Policy
from ._words import Role

Time: TypeAlias = datetime | SupportsIndex
"""An aware `datetime`, or whole milliseconds since 1970. An `int` that looks like seconds raises an error."""

Seconds: TypeAlias = timedelta | float
"""A duration: a `timedelta` or seconds."""


class ArrowStream(Protocol):
    """A table or column of Arrow, in chunks."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


class ArrowArray(Protocol):
    """A table or column of Arrow, in one piece."""

    def __arrow_c_array__(self, requested_schema: Any = None, /) -> Any: ...


Fingerprints: TypeAlias = Iterable[SupportsIndex | None] | ArrowStream | ArrowArray
"""Many fingerprints: `int`s and `None`, a buffer or column of `uint64` or `int64`, such as a numpy array, or a
result of `fingerprint_batch`."""

Html: TypeAlias = str | bytes | bytearray
"""An HTML page: text, or bytes with an encoding in a separate argument."""

EpochRole: TypeAlias = Role | Literal["change", "near", "both"]
"""The role of an epoch."""

EpochBands: TypeAlias = Bands | tuple[int, int]
"""The largest distances of minor and of moderate changes in an epoch."""


class Options(TypedDict, total=False):
    """Options for opening a store. `help(Store.open_or_create)` describes each option."""

    durability: Literal["each", "flush"] | Seconds
    memtable_observations: int
    memtable_bytes: int
    seal_after: Seconds
    merge_fanout: int
    background: bool
    epoch: str | None
    epoch_bands: Bands | tuple[int, int] | None
    file_mode: int
    epoch_visits: int
    near_distance: int | None
    clock_tolerance: Seconds | None
    fingerprint_bytes: int
    near_limit: int
    rule: str
    refers_to: bool
    validators: bool
    leases_max: int
    near_fingerprints: int
    background_memory_bytes: int
    reader_grace: Seconds
    lock_wait: Seconds


class Query(TypedDict, total=False):
    """Options of a search."""

    epoch: int | None
    """The epoch of the fingerprints; by default the epoch for near-duplicates."""
    limit: int | None
    """The maximum number of pages to return (16); `None` for all pages."""
    under: str | None
    """Only pages under this prefix."""
    exclude: str | None
    """A page to exclude."""
    classes: Iterable[int | None] | None
    """Only pages of these classes; a `None` in the list includes pages without a class."""
    at: Time | None
    """Searches the versions that pages had at this time, instead of the current versions."""
    seen: tuple[Time, Time] | None
    """Searches the versions that a visit saw between two times, both included."""
    ever: bool
    """Searches all versions that any visit saw."""
    budget: Seconds | None
    """The time limit for widening the search."""
    fingerprints: int
    """The maximum number of fingerprints of a dense bucket to compare (4,096)."""


class BatchQuery(Query, total=False):
    """Options of many searches."""

    threads: int | None
    """The number of threads; by default one for each core."""


class FingerprintPairs(TypedDict, total=False):
    """Options of a search for pairs of fingerprints."""

    epoch: int | None
    """The epoch of the fingerprints; by default the epoch for near-duplicates."""
    under: str | None
    """Only pages under this prefix."""
    exclude: str | None
    """A page to leave out, with fingerprints that only this page has."""
    classes: Iterable[int | None] | None
    """Only pages of these classes; a `None` in the list includes pages without a class."""
    at: Time | None
    """Searches the versions that pages had at this time."""
    seen: tuple[Time, Time] | None
    """Searches the versions that a visit saw between two times, both included."""
    ever: bool
    """Searches all versions that any visit saw."""
    threads: int | None
    """The number of threads; by default one for each core."""


class PairQuery(TypedDict, total=False):
    """Options of a search for pairs of pages."""

    epoch: int | None
    """The epoch of the fingerprints; by default the epoch for near-duplicates."""
    under: str | None
    """Only pages under this prefix."""
    classes: Iterable[int | None] | None
    """Only pages of these classes; a `None` in the list includes pages without a class."""
    equal: bool
    """Whether to include pairs with equal fingerprints (no)."""
    pages_per_fingerprint: int | None
    """The maximum number of pages of each fingerprint to pair with other pages (1); `None` for all pages."""


class ClusteringNow(TypedDict, total=False):
    """Options of clustering."""

    epoch: int | None
    """The epoch of the fingerprints; by default the epoch for near-duplicates."""
    rule: str | None
    """The rules that select leaders, for example `"https,shortest-url"`; each rule resolves the ties of the rules
    before it. The rules are `"first-seen"` (the default), `"newest"`, `"shortest-url"`, `"https"`, `"weight"` and
    `"canonical"`.
    """
    under: str | None
    """Only pages under this prefix."""
    classes: Iterable[int | None] | None
    """Only pages that have one of these classes now; a `None` in the list includes pages without a class."""
    memory_bytes: int | None
    """The memory limit (512 MiB). Data beyond the limit goes to scratch files, some 150 bytes for each page."""
    scratch: str | PathLike[str] | None
    """The directory for scratch files; by default the system's directory for temporary files."""


class Clustering(ClusteringNow, total=False):
    """Options of clustering, with a time."""

    at: Time | None
    """The time whose versions are clustered, instead of the current time."""


class RequestSurvey(TypedDict, total=False):
    """Options of a survey of requests."""

    under: str | None
    """Only pages under this prefix."""
    copies: bool
    """Whether to count copies, which costs a second pass and a sort of all versions (False)."""
    memory_bytes: int | None
    """The memory to sort versions (64 MiB)."""
    scratch: str | PathLike[str] | None
    """The directory for scratch files; by default the system's directory for temporary files."""


class MirrorQuery(TypedDict, total=False):
    """Options of a search for mirrors."""

    paths: int
    """The minimum number of paths whose pages are near each other (10); at least two."""
    share: float
    """The minimum share of paths with near pages in the union of both sites' paths (0.8); above 0 and at most 1."""
    depth: int
    """The maximum number of folders in the path of a site (2); 0 for hosts only, at most 16."""
    at: Time | None
    """The time whose versions are compared, instead of the current time."""
    under: str | None
    """Only pages under this prefix."""
    epoch: int | None
    """The epoch of the fingerprints; by default the epoch for near-duplicates."""
    limit: int | None
    """The maximum number of pairs to return (1,000), the largest first; `None` for all pairs."""
    classes: Iterable[int | None] | None
    """Only pages that have one of these classes now; a `None` in the list includes pages without a class."""
    memory_bytes: int
    """The memory limit for sorting (128 MiB). Data beyond the limit goes to scratch files."""
    scratch: str | PathLike[str] | None
    """The directory for scratch files; by default the system's directory for temporary files."""


class AliasQuery(TypedDict, total=False):
    """Options of a search for aliases."""

    epoch: int | None
    """The epoch of the fingerprints; by default the epoch for near-duplicates."""
    under: str | None
    """Only pages under this prefix."""
    share: float
    """The minimum share of near pairs for a rule to hold for a site (0.9)."""
    pairs: int
    """The minimum number of pairs for a rule to hold for a site (10)."""
    all: bool
    """Whether to include rules that do not hold but have pairs (no)."""
    examples: int
    """The maximum number of examples for each rule (3), of near pairs and of pairs that are not near."""
    memory_bytes: int
    """The memory for the pages of a single site (512 MiB); a larger site is sampled."""


class Rule(TypedDict, total=False):
    """A rule for visits to pages under a prefix, or to all pages without another rule."""

    under: str | None
    """The prefix; `None` for all pages."""
    min: Seconds | None
    """The minimum time between two visits."""
    max: Seconds | None
    """The time without a visit after which a page comes before other pages, the most overdue first."""
    weight: float
    """A factor for the weight of each page (1)."""
    per_host: int | None
    """The maximum number of pages of one host to visit at once, among the pages of this rule. With 0, the pages
    of this rule are left out.
    """
    policy: str | Policy | None
    """The policy that orders the pages."""


class Due(TypedDict, total=False):
    """Options of a search for due pages."""

    policy: str | Policy
    """The policy for the order of pages (`"value"`), for example `"harmonic"` or `"fixed:7d"`. `recrawl.Policy`
    lists all policies.
    """
    under: str | None
    """Only pages under this prefix."""
    per_host: int | None
    """The maximum number of pages of one host; `None` for no limit."""
    largest_interval: Seconds
    """The time without a visit after which a page comes first (365 days)."""
    rules: Iterable[Rule]
    """The rules for pages under prefixes. The rule with the longest prefix applies."""
    hints: Hints | None
    """Reported times of changes."""
    plan: Plan | None
    """A plan, which adds due times to decisions, and provides the priors. Excludes `learned`."""
    learned: LearnedPriors | None
    """The priors of change rates; by default learned from all pages."""
    memory_bytes: int
    """The memory limit for the selected pages (64 MiB). If the pages need more, the store is read several times."""


class WithoutContent(TypedDict, total=False):
    """Properties of a visit without content."""

    status: int | None
    """The HTTP status."""
    conditional: bool | None
    """Whether the request was conditional: it had `If-None-Match` or `If-Modified-Since`."""
    weight: float | None
    """The weight of the page from the time of the visit on."""
    class_: int | None
    """The class of the page from the time of the visit on."""


class NotModified(WithoutContent, total=False):
    """Properties of a visit that the server answered with "not modified"."""

    digest: bytes | None
    """The digest in the response."""
    modified: Time | None
    """The time of the last modification, as reported by the server."""
    etag: bytes | bytearray | None
    """The value of the header `ETag`, with its quotes."""


class _Visit(TypedDict):
    url: str
    at: Time


class Row(_Visit, total=False):
    """A visit as a dictionary: the arguments of `Store.observe`."""

    seen: Literal["content", "redirect", "not-modified", "gone", "failed"]
    """The result of the visit, if the result is not content."""
    to: str | None
    """The target of a redirect; it may be relative to the page."""
    text: str | None
    html: str | builtins.bytes | bytearray | None
    encoding: str | None
    fingerprint: SupportsIndex | None
    epoch: int | None
    also: tuple[SupportsIndex | None, int] | None
    digest: builtins.bytes | bytearray | None
    status: int | None
    modified: Time | None
    etag: builtins.bytes | bytearray | None
    canonical: str | None
    """The canonical URL that the content declares; it may be relative to the page."""
    bytes: int | None
    """The number of bytes of the content as transferred."""
    conditional: bool | None
    weight: float | None
    class_: int | None


Rows: TypeAlias = Iterable[Observation | Row] | ArrowStream | ArrowArray
"""Many visits."""
