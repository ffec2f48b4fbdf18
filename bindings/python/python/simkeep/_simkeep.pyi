# Generated from the Rust sources by bindings/python/stub: CONTRIBUTING.md has the command.
import builtins
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from types import GenericAlias, TracebackType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Never,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    Unpack,
    final,
    overload,
)

from typing_extensions import CapsuleType, disjoint_base

from . import _types
from ._types import Time
from ._words import (
    Band,
    Candidacy,
    Fate,
    LeaderChangeReason,
    OperationKind,
    OriginalBy,
    PropertyOutcome,
    Reason,
    RestateOutcome,
    Role,
    SameBy,
    Seen,
    Space,
    Stage,
    Verdict,
    VersionKind,
)

_AliasKind: TypeAlias = Literal[
    "host",
    "scheme",
    "www",
    "port",
    "escapes",
    "session",
    "slashes",
    "fragment",
    "empty-query",
    "parameter",
    "order",
    "index",
    "slash",
    "case",
]
_PriorityIndex: TypeAlias = Literal["value", "crawl-value", "harmonic"]
_Pseudocounts: TypeAlias = Literal["none", "unchanged", "both"]
_T_co = TypeVar("_T_co", covariant=True)

__all__ = [
    "AliasCount",
    "AliasPair",
    "AliasRule",
    "AliasSite",
    "AliasSites",
    "AliasTotals",
    "Answers",
    "BackedUp",
    "Balls",
    "Bands",
    "Batches",
    "Belief",
    "BitSketch",
    "Bodies",
    "Candidates",
    "Capture",
    "Census",
    "Changes",
    "Cluster",
    "ClusterChange",
    "ClusterChanges",
    "ClusteredPage",
    "Clusters",
    "Compacted",
    "CompactionEstimate",
    "Comparison",
    "ComponentSearch",
    "ConnectedComponent",
    "ConnectedComponents",
    "Content",
    "Copies",
    "Corruption",
    "Cost",
    "DISTANCE_MAX",
    "Decider",
    "Decision",
    "DeclaredUrls",
    "Diff",
    "Difference",
    "DroppedPages",
    "DumpLine",
    "EXTRACTOR",
    "EpochInfo",
    "EpochOverview",
    "ExactCopy",
    "ExactDifference",
    "Explanation",
    "Feature",
    "FileCount",
    "FingerprintCensus",
    "FingerprintExplanation",
    "Fingerprinter",
    "Fingerprints",
    "Fit",
    "Forgotten",
    "FrequencyCounter",
    "FrequencyTable",
    "GenerationInfo",
    "HISTORY_WINDOW",
    "Hints",
    "HostCensus",
    "HostPriors",
    "HostRequests",
    "HostShare",
    "IncompleteGeneration",
    "JoinPlan",
    "JoinedPair",
    "JournalView",
    "KeptPage",
    "LastChange",
    "LearnedPriors",
    "Likelihood",
    "LoadEpochs",
    "Loaded",
    "LoggedOperation",
    "Loss",
    "Matches",
    "Meaning",
    "Merged",
    "Mirror",
    "MirrorExample",
    "MirrorSite",
    "Mirrors",
    "NearDuplicate",
    "NearMatch",
    "NearPair",
    "NewPage",
    "Observation",
    "Operations",
    "Optimum",
    "Origin",
    "Original",
    "Outcome",
    "Outcomes",
    "Overview",
    "Page",
    "PageCandidacy",
    "PageCluster",
    "PageFate",
    "PagePair",
    "PageRecord",
    "PairedPage",
    "Period",
    "Plan",
    "Policy",
    "Preset",
    "Prior",
    "Progress",
    "PropertyEntry",
    "Publication",
    "PublishedFile",
    "RECIPE",
    "RandomPages",
    "RankedPage",
    "Rate",
    "Reader",
    "RecentComparisons",
    "Repaired",
    "Replay",
    "RequestCounts",
    "Restated",
    "SampledPage",
    "Schedule",
    "SectionView",
    "SegmentOverview",
    "SegmentStats",
    "SegmentView",
    "Shingles",
    "SimulationResult",
    "Snapshot",
    "SpaceUsage",
    "StalePage",
    "Stats",
    "Store",
    "Stream",
    "Survey",
    "TIME_MAX",
    "TIME_MIN",
    "TableComparison",
    "TableView",
    "Trace",
    "URL_BYTES_MAX",
    "VerdictCounts",
    "Verified",
    "Version",
    "View",
    "Visit",
    "VisitEntry",
    "__version__",
    "_error_classes",
    "_forked",
    "_tool",
    "_words",
    "backup",
    "canonical_in_link",
    "check_generation",
    "compare",
    "crawl",
    "decode",
    "distance",
    "few_misses",
    "fingerprint",
    "fingerprint_batch",
    "fixed_intervals",
    "generation_files",
    "generation_fingerprints",
    "generations",
    "generations_with",
    "hinted",
    "interval",
    "irregular",
    "is_published",
    "join",
    "join_parts",
    "last_modified",
    "merge",
    "naive",
    "normalised",
    "publish",
    "random_times",
    "recipes",
    "regular",
    "repair",
    "response_meaning",
    "route",
    "site_of",
    "surt",
    "surt_key",
    "verify",
    "versions",
    "visible_text",
    "worth",
]

DISTANCE_MAX: Final[int]
"""The largest distance of a search, in bits."""
EXTRACTOR: Final[str]
"""The name and version of the extractor of `visible_text`: the first part of the names of
epochs.
"""
HISTORY_WINDOW: Final[int]
"""The number of versions of a page that a verdict considers."""
RECIPE: Final[str]
"""The name of the default recipe."""
TIME_MAX: Final[datetime]
"""The latest time of a visit."""
TIME_MIN: Final[datetime]
"""The earliest time of a visit."""
URL_BYTES_MAX: Final[int]
"""The maximum length of a URL in bytes of UTF-8."""
__version__: Final[str]
"""The version of the package."""

def _error_classes() -> dict[str, str | None]:
    """Returns the names of all kinds of errors, each with its class. For the tests."""

def _forked() -> None:
    """Records that this process is a child."""

def _tool(words: list[str]) -> int:
    """Runs the tool with these arguments, and returns its exit code. The first argument is the name of
    the tool.
    """

def _words() -> dict[str, list[str]]:
    """Returns all enumerations by name, each with its values. For the tests."""

def backup(
    path: str | PathLike[str],
    to: str | PathLike[str],
    *,
    copy: bool = False,
    progress: Progress | None = None,
) -> BackedUp:
    """Makes a backup of the store in a directory, which may be open for writing.

    Updates an earlier backup incrementally. `copy=True` copies files instead of linking them.
    Ctrl-C ends the call.
    """

def canonical_in_link(page: str, link: str) -> str | None:
    """The canonical URL that the header `Link` of a response declares: the first valid `http` or `https`
    URL with the relation `canonical`, resolved by the URL of the page. `None` if there is none.
    Several headers are joined by commas.
    """

def check_generation(
    path: str | PathLike[str], generation: int, *, file: str | None = None, progress: Progress | None = None
) -> None:
    """Reads and checks all files of a generation, or only the file with this name.

    Raises `CorruptError` for the first damaged file, and `IoError` for a missing file. Ctrl-C ends
    the call.
    """

def compare(first: FrequencyTable, second: FrequencyTable) -> TableComparison:
    """Compares two tables of document frequencies, to explain why fingerprints by these tables differ.
    Reads both tables once.
    """

def crawl(
    pages: Replay | RandomPages,
    by: Decider | Policy | str | None = None,
    *,
    step_days: float,
    start: float,
    end: float,
    visits_per_day: float | None = None,
    every: float | None = None,
    largest_interval: float | timedelta | None = None,
) -> SimulationResult:
    """Simulates a crawl, and measures the freshness of the pages.

    `by` is a `Decider`, or the name of a policy (`"value"`). From day 0 to the day `end`, in steps
    of `step_days`, the crawler visits as many pages as the budget allows, in the order of the
    decider. The crawler uses only the results of its visits. Measurement starts on the day `start`.
    The budget is either `visits_per_day`, or an average of one visit per `every` days for each
    known page. Pages that were not visited for `largest_interval` (365 days) come first.

    Takes 1 to 3 KiB for each page; a step takes some 50 nanoseconds for each page, and some 10
    microseconds for each visit. Other threads run meanwhile, and Ctrl-C abandons the simulation.
    Raises `InvalidOptionError` if there are no pages before the end, or if the decider needs rates
    that are unknown.
    """

def decode(body: bytes | bytearray, content_type: str | None = None) -> str:
    """Decodes a document by its `content_type`, by its own declaration, or by a guess.

    `content_type` is the Content-Type of the response, several values joined by commas, or the
    label of an encoding. Without a Content-Type the document is HTML. The encoding is found as in
    browsers: a byte order mark, the Content-Type, a `<meta>` or an XML declaration, UTF-8 if the
    bytes are valid, otherwise the most likely encoding. Linear in the document.
    """

def distance(left: SupportsIndex, right: SupportsIndex) -> int:
    """The distance of two fingerprints in bits."""

def few_misses(pages: Iterable[tuple[float, float]], visits_per_day: float) -> Optimum:
    """Minimizes the penalty for missed changes, where each further missed change has a smaller penalty
    than the previous one.

    Visits are at random times, and every page gets some visits. Each page is a pair of its rate, in
    changes a day, and its weight. Takes 64 square roots for each page; Ctrl-C abandons the call.
    Raises `InvalidOptionError` if there are no pages, or a number is not from 1e-100 to 1e100.
    """

def fingerprint(text: str, *, recipe: str | None = None) -> int | None:
    """The fingerprint of a text by the default recipe.

    `None` if the text has fewer than eight words, and is too short to be distinguished. Linear in
    the text. `recipe` may be any recipe that needs no table.
    """

def fingerprint_batch(
    texts: Iterable[str | None] | _types.ArrowStream | _types.ArrowArray,
    *,
    recipe: str | Origin | None = None,
    table: FrequencyTable | None = None,
) -> Fingerprints:
    """Computes the fingerprints of many texts with `Fingerprinter.of_page`, in order.

    The texts may come from an iterable of `str`, or from a column of strings with
    `__arrow_c_stream__`. The fingerprint of a null or `None` is `None`. The texts are copied. Runs on
    all cores. Ctrl-C ends the call.

    With polars, `df.with_columns(pl.DataFrame(simkeep.fingerprint_batch(df["text"])))` adds the
    column `fingerprint` to a data frame.

    To compare the fingerprints with the fingerprints of a store, use the store's recipe:
    `recipe=store.origin(store.near_epoch)`. `near_batch` and `pairs_with` raise `EpochError` for
    fingerprints of another recipe.
    """

def fixed_intervals(pages: Iterable[tuple[float, float]], visits_per_day: float) -> Optimum:
    """Maximizes freshness for a number of visits a day at fixed intervals.

    No policy with known rates does better. Each page is a pair of its rate, in changes a day, and
    its weight. Takes some 4,000 exponentials for each page; Ctrl-C abandons the call. Raises
    `InvalidOptionError` if there are no pages, or a number is not from 1e-100 to 1e100.
    """

def generation_files(path: str | PathLike[str], generation: int) -> tuple[PublishedFile, ...]:
    """The files of a generation: segments, then tables of document frequencies.

    Needs only the generation's own file, not the listed files. Costs a small read.
    """

def generation_fingerprints(path: str | PathLike[str], generation: int, epoch: int) -> int:
    """The number of distinct fingerprints of an epoch in a generation. A fingerprint counts once for
    each segment that has it.

    Reads the beginning of each segment, and some bytes for each MiB at its end. The bytes in
    between may still be missing, as long as the files have their final lengths.
    """

def generations(path: str | PathLike[str]) -> tuple[GenerationInfo, ...]:
    """The published generations in a directory, in order. Costs a small read for each."""

def generations_with(
    path: str | PathLike[str], url: str | None = None, *, under: str | None = None
) -> tuple[int, ...]:
    """The generations in a directory that still contain bytes of a page, or of pages `under` a prefix.

    Returns the numbers of the generations. Call this function, for example, after a purge of the
    store. Costs a search in each segment of each generation.
    """

def hinted(trust: float, weight: float, after_days: float, otherwise: float) -> float:
    """The value of a visit, in days, to a page with a reported change, for example from a sitemap.

    `trust` is the probability that the report is true, `after_days` is the time from the last visit
    to the change, and `otherwise` is the value without the hint. Raises `InvalidOptionError` if the
    trust is not from 0 to 1, the weight is not positive and finite, or `otherwise` is negative or
    infinite.
    """

def interval(
    weight: float, per_day: float, threshold: float, index: _PriorityIndex | None = None
) -> float | None:
    """The days after a visit at which the next visit reaches a threshold.

    The interval is for a page with this weight and rate, in changes a day. The value of a visit is
    measured by the index `"value"` (the default), `"crawl-value"` or `"harmonic"`. `None` if the
    value never reaches the threshold, or not within 4,000,000 days. Raises `InvalidOptionError` if
    a number is not positive and finite.
    """

def irregular(comparisons: Iterable[Comparison], halves: _Pseudocounts | None = None) -> float:
    """Changes a day, from comparisons at any intervals: the maximum-likelihood rate.

    `halves` adds half comparisons of the mean interval: `"none"`, `"unchanged"` (the default) or
    `"both"`. Takes 64 steps, each linear in the comparisons. With `"none"`, the rate of a page that
    never changed is 0, and the rate of a page that always changed without a date is infinite.
    Raises `InvalidOptionError` if there is no comparison.
    """

def is_published(path: str | PathLike[str]) -> bool:
    """Whether a directory has a published store, or is receiving a published store.

    `Reader` reads a published directory like a store, and only `publish` writes to it. Costs
    listing the directory.
    """

def join(
    fingerprints: _types.Fingerprints,
    k: int,
    *,
    across: int | None = None,
    part: int | None = None,
    memory_bytes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Stream[JoinedPair]:
    """All pairs within k bits of each other among fingerprints that are in no store, in no particular
    order.

    Two equal fingerprints are a pair of distance 0. The fingerprints may be a buffer of `uint64` or
    `int64`, for example an array of numpy, a column of Arrow with one of these types, an iterable
    of `int`s, or the result of `fingerprint_batch`. There must be fewer than 2**32 fingerprints;
    they are copied. A null or `None` is in no pair. With `across`, the fingerprints before this
    position are joined with the later fingerprints, and neither group with itself. With `part`, one
    of `join_parts`, only pairs that agree in this part, and in no earlier part, are found.
    `memory_bytes` (256 MiB) limits the memory in addition to the copy, and `threads` is the number
    of threads (as many as there are cores).

    Runs in the background, and waits for the reader of the pairs. The join ends when the stream is
    closed. As Arrow data, the stream has the columns `left`, `right`, `distance`,
    `left_fingerprint` and `right_fingerprint`.

    Time, for uniformly distributed fingerprints and k = 3: some 0.15 microseconds of one core for
    each fingerprint. For a wide distance all pairs are compared, at 0.4 nanoseconds for each pair.
    """

def join_parts(k: int) -> list[tuple[int, int]]:
    """The parts into which a join within `k` bits splits fingerprints, so that each part can be joined
    separately.

    Returns pairs: the position of a part's lowest bit, counted from 0, and its number of bits. The
    value of a fingerprint in a part is `fingerprint >> lowest & (1 << bits) - 1`. Let one machine
    have all fingerprints with certain values in a part. Then `join(..., part=)` on this machine
    finds the pairs of the part with these values, and needs no other fingerprints.
    """

def last_modified(comparisons: Iterable[Comparison]) -> float:
    """Changes a day, if the time of the last change before each visit is known, for example from
    `Last-Modified`.

    Raises `InvalidOptionError` if there is no comparison, and `InvalidArgumentError` if a change
    has no date.
    """

def merge(tables: list[str | PathLike[str]], path: str | PathLike[str], least: int = 1) -> FrequencyTable:
    """Adds up the tables in some files, and writes the sum to another file.

    Leaves out features of fewer than `least` documents.
    """

def naive(changes: int, days: float) -> float:
    """Changes a day: observed changes over observed days.

    The estimate is too low if a page can change more than once between visits. Raises
    `InvalidOptionError` if the days are not from a millisecond to 4,000,000.
    """

def normalised(url: str, rules: Iterable[AliasRule]) -> str:
    """The URL after applying rules one after another.

    Pass the rules in the order of an `AliasSite`. The rules are valid only for the pages of this
    site.
    """

def publish(
    path: str | PathLike[str],
    to: str | PathLike[str],
    *,
    keep: int | None = None,
    grace: _types.Seconds | None = None,
    copy: bool = False,
    check_kept: bool = False,
    progress: Progress | None = None,
) -> Publication:
    """Publishes the sealed part of the store in a directory as a generation in another directory.

    `Reader.published` opens the generation. A process may have the store open for writing. Segments
    and tables are linked or copied (`copy=True` links none), unless an earlier generation already
    has them. Linked and copied files never change. The newest `keep` generations are kept (3).
    Older generations are kept for a `grace` period after they were superseded (a day). Costs a read
    of the new segments, and of a small part of the old segments: each old segment is read once in
    30 days, or in every call with `check_kept=True`. A damaged segment is replaced by the segment
    of the store. Ctrl-C ends the call.
    """

def random_times(pages: Iterable[tuple[float, float]], visits_per_day: float) -> Optimum:
    """Maximizes freshness for a number of visits a day at random times.

    Each page is a pair of its rate, in changes a day, and its weight. Sorts the pages; Ctrl-C
    abandons the call. Raises `InvalidOptionError` if there are no pages, or a number is not from
    1e-100 to 1e100.
    """

def recipes() -> tuple[Preset, ...]:
    """The recipes with a short name."""

def regular(comparisons: int, changes: int, halves: _Pseudocounts | None = None) -> float:
    """The changes per interval of a page that changed in some of equal intervals.

    Divide the result by the interval in days to get changes a day. `halves` adds half comparisons,
    so that the result is neither zero nor infinite: `"none"`, `"unchanged"` for half an unchanged
    comparison (the default), or `"both"` for half a changed comparison as well. Raises
    `InvalidOptionError` if there are no comparisons, or more changes than comparisons.
    """

def repair(
    path: str | PathLike[str],
    to: str | PathLike[str],
    *,
    keep_forgotten: bool = False,
    memory_bytes: int | None = None,
    progress: Progress | None = None,
) -> Repaired:
    """Makes a new store from the sound parts of another store, and reports the losses.

    The old store is unchanged. Costs two reads of all files, and a load of the saved data. Raises
    `AmbiguousRepairError` if lost operations may have forgotten pages and it is unknown which
    pages, unless `keep_forgotten` is true. Ctrl-C ends the call, and leaves no new store.
    """

def response_meaning(
    status: int,
    *,
    location: str | None = None,
    content_range: str | None = None,
    length: int | None = None,
    received: int | None = None,
    is_encoded: bool = False,
    is_cut: bool = False,
) -> Seen | None:
    """The meaning of an HTTP response to a GET for its page: the kind of visit to report. `None` below
    200: not a visit.

    `location` and `content_range` are the headers; `length` is the Content-Length, if no
    Transfer-Encoding delimits the body, and `received` is the number of received bytes.
    `is_encoded` means that there is a Content-Encoding. `is_cut` means that the body is known to be
    truncated.
    """

def route(url: str, stores: int) -> int:
    """The store of a page, counted from 0, if a crawl is distributed over `stores` stores.

    All pages of a host are in the same store. The result never changes. With more stores, a page
    stays in its store or moves to a new store.
    """

def site_of(url: str) -> str | None:
    """The site of a URL, as in `AliasSite`; `None` without a valid host.

    The site is the host in lower case, without `www.`.
    """

def surt(url: str) -> str:
    """The sort key of a page, its SURT, in the notation of the Internet Archive.

    For example "com,example)/terms". Linear in the length of the URL.
    """

def surt_key(url: str) -> bytes:
    """Bytes that compare in the order of pages, also across stores. `surt` is derived from these
    bytes.

    URLs with equal bytes are in the order of the URLs themselves.
    """

def verify(
    path: str | PathLike[str],
    *,
    rate: int | None = None,
    flaws_max: int | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Checks the store in a directory: reads the whole store, and lists every flaw.

    `rate` is the maximum number of bytes to read per second. Damage is part of the result, and
    raises no exception. Ctrl-C ends the call.
    """

def versions(history: Iterable[VisitEntry | Restated | PropertyEntry]) -> list[Version]:
    """The versions of a page, from its history, as returned by `View.history` or `View.histories`.

    Visits that saw the same content, reported it unmodified, or saw it again after failures are one
    version. Content that returns later is another version. Consecutive failures with the same
    status are one version, and so are visits that find the page gone. Properties are ignored.
    Linear in the history.
    """

def visible_text(html: _types.Html, encoding: str | None = None) -> str:
    """The visible text of an HTML page.

    The page is `str`, or bytes with the `encoding` or the Content-Type from the server.
    """

def worth(weight: float, per_day: float, days: float, index: _PriorityIndex | None = None) -> float:
    """The value of a visit, in days.

    The value is for a page with this weight and rate, in changes a day, this many days after its
    last visit. The index is `"value"` (the default), `"crawl-value"` or `"harmonic"`. The crawl
    value keeps the most pages fresh if rates are constant. The harmonic index gives every page
    visits. `"value"` is the crawl value plus a tenth of the harmonic index. Raises
    `InvalidOptionError` if the weight or the rate is not positive and finite.
    """

@final
class AliasCount:
    """A rule in a site, with its evidence."""

    __match_args__: tuple[
        Literal["rule"],
        Literal["holds"],
        Literal["pairs"],
        Literal["near"],
        Literal["redirects"],
        Literal["canonicals"],
        Literal["contradicted"],
        Literal["share"],
        Literal["visits"],
        Literal["examples"],
        Literal["exceptions"],
    ]
    def __new__(
        cls,
        rule: AliasRule,
        holds: bool,
        pairs: int,
        near: int,
        redirects: int,
        canonicals: int,
        contradicted: int,
        share: float,
        visits: int,
        examples: tuple[AliasPair, ...],
        exceptions: tuple[AliasPair, ...],
    ) -> Self: ...
    @property
    def rule(self) -> AliasRule:
        """The rule. A rule with a direction maps to the spelling that more pages of the site have."""

    @property
    def holds(self) -> bool:
        """Whether the rule holds, by `share` and `pairs`."""

    @property
    def pairs(self) -> int:
        """The number of redundant pages. The rule maps each redundant page to the URL of an earlier page in
        SURT order (the first page of its group; pages without `www.` come before pages with `www.`), and
        removes different text from both pages. If there are too few such pages, the number includes the
        pairs of this rule with one other rule.
        """

    @property
    def near(self) -> int:
        """The number of redundant pages that are near the earlier page."""

    @property
    def redirects(self) -> int:
        """The number of pages that redirect to another URL of the site, where the rule, alone or with other
        rules, explains the difference between the two URLs. The rule holds if pairs and redirects together
        are enough, and the share of near pairs suffices.
        """

    @property
    def canonicals(self) -> int:
        """The number of pages that declare a canonical URL of the site, where the rule explains the difference
        between the two URLs, and the two contents are near.
        """

    @property
    def contradicted(self) -> int:
        """The number of pages of this kind whose content is not near the canonical page."""

    @property
    def share(self) -> float:
        """The share of near pairs. Without pairs it is 1 if there are redirects, and 0 otherwise.

        Redirects do not raise the share of compared pairs. A site may redirect each expired page to its
        start page, and such redirects say nothing about the pages that still have content.
        """

    @property
    def visits(self) -> int:
        """Visits to the redundant and redirecting pages: visits that the rule would have saved."""

    @property
    def examples(self) -> tuple[AliasPair, ...]:
        """Near pairs from different groups, sampled by hash. Only for the 128 rules of a site with the most
        pairs.
        """

    @property
    def exceptions(self) -> tuple[AliasPair, ...]:
        """Pairs that are not near, sampled in the same way."""

@final
class AliasPair:
    """Two pages that a rule maps to one URL."""

    __match_args__: tuple[Literal["first"], Literal["other"], Literal["distance"]]
    def __new__(cls, first: str, other: str, distance: int) -> Self: ...
    @property
    def first(self) -> str:
        """The first page of the group."""

    @property
    def other(self) -> str:
        """Another page of the group."""

    @property
    def distance(self) -> int:
        """The number of bits in which their fingerprints differ."""

@final
class AliasRule:
    """A rule that maps several URLs to one: a difference between URLs that may not matter.

    `kind` and `value` select it: `"host"` (as browsers write it), `"scheme"` with `"https"` or
    `"http"`, `"www"` with `"without"` or `"with"`, `"port"`, `"escapes"`, `"session"` (in the
    path), `"slashes"`, `"fragment"`, `"empty-query"`, `"parameter"` with its name (`"utm_*"` is a
    prefix), `"order"` (of parameters), `"index"` with the name of a page, `"slash"` with
    `"without"` or `"with"`, `"case"` (of the path). As text: "parameter sid". Raises `ValueError`
    if there is no such rule.
    """

    __match_args__: tuple[Literal["kind"], Literal["value"]]
    def __new__(cls, kind: _AliasKind, value: str | None = None) -> Self: ...
    @property
    def kind(self) -> _AliasKind:
        """The kind of rule, in one word."""

    @property
    def value(self) -> str | None:
        """The value of the rule; `None` if the kind has a single rule."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def apply(self, url: str) -> str | None:
        """The URL to which the rule maps a URL; `None` if the rule does not change the URL. URLs
        without a host are never changed.
        """

@final
class AliasSite:
    """A site with its alias rules."""

    __match_args__: tuple[
        Literal["site"],
        Literal["pages"],
        Literal["sampled"],
        Literal["skipped"],
        Literal["rules"],
        Literal["declared"],
    ]
    def __new__(
        cls,
        site: str,
        pages: int,
        sampled: float,
        skipped: int,
        rules: tuple[AliasCount, ...],
        declared: DeclaredUrls,
    ) -> Self: ...
    @property
    def site(self) -> str:
        """The host without `www.`, in lower case."""

    @property
    def pages(self) -> int:
        """The number of the site's pages that were compared."""

    @property
    def sampled(self) -> float:
        """The sampled share of the URLs that rules make: 1, unless the site exceeded the memory. All counts of
        the site's rules refer to the sample.
        """

    @property
    def skipped(self) -> int:
        """The number of pages with skipped parameters. Limits are 32 parameters on a page, 1,024 names in a
        site, and 64 bytes in a name. On a page with long URLs, only 16 KiB / (length of path and query)
        parameters are tested.
        """

    @property
    def rules(self) -> tuple[AliasCount, ...]:
        """The rules, in the order in which to apply them, without duplicates."""

    @property
    def declared(self) -> DeclaredUrls:
        """The URLs to which pages of the site point. Not sampled."""

@final
class AliasSites(Stream[AliasSite]):
    """The sites with a rule to report, in SURT order. The search runs while the sites are read.

    As Arrow data, the stream has a row for each rule: `site`, `kind`, `value`, `holds`, `pairs`,
    `near` and `visits`.
    """

    @property
    def totals(self) -> AliasTotals | None:
        """The totals of the search; `None` while the search continues, and if the stream was closed
        early.
        """

@final
class AliasTotals:
    """The totals of a search for aliases."""

    __match_args__: tuple[
        Literal["sites"],
        Literal["sites_with_rules"],
        Literal["sampled"],
        Literal["pages"],
        Literal["without_fingerprint"],
        Literal["skipped"],
        Literal["rules"],
        Literal["pairs"],
        Literal["visits"],
        Literal["canonicals"],
        Literal["canonicals_near"],
        Literal["canonicals_different"],
        Literal["redirects"],
    ]
    def __new__(
        cls,
        sites: int,
        sites_with_rules: int,
        sampled: int,
        pages: int,
        without_fingerprint: int,
        skipped: int,
        rules: int,
        pairs: int,
        visits: int,
        canonicals: int,
        canonicals_near: int,
        canonicals_different: int,
        redirects: int,
    ) -> Self: ...
    @property
    def sites(self) -> int:
        """The number of sites with a compared page."""

    @property
    def sites_with_rules(self) -> int:
        """The number of sites with a rule that holds."""

    @property
    def sampled(self) -> int:
        """The number of sites that were sampled."""

    @property
    def pages(self) -> int:
        """The number of compared pages. Of pages whose URLs have equal SURT order, one is compared."""

    @property
    def without_fingerprint(self) -> int:
        """The number of pages with content but without a fingerprint in the epoch, which were not compared.
        """

    @property
    def skipped(self) -> int:
        """The number of pages with skipped parameters, in all sites."""

    @property
    def rules(self) -> int:
        """The number of rules that hold, in all sites."""

    @property
    def pairs(self) -> int:
        """The number of pairs of the rules that hold, without redirects."""

    @property
    def visits(self) -> int:
        """The number of visits that the rules that hold would have saved."""

    @property
    def canonicals(self) -> int:
        """The number of pages with a canonical URL, in all sites with a compared page."""

    @property
    def canonicals_near(self) -> int:
        """The number of these pages with near content."""

    @property
    def canonicals_different(self) -> int:
        """The number of these pages with different content."""

    @property
    def redirects(self) -> int:
        """The number of pages that redirect, in the same sites."""

@final
class Answers:
    """The results of many searches: a sequence of `Matches`, in the order of the queries.

    As Arrow data, the result is a table with a row for each page found: `query`, `url`, `distance`
    and `fingerprint`.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """The data of `batches`, as a stream of Arrow data in a capsule."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Matches: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Matches]: ...
    def __iter__(self) -> Iterator[Matches]: ...
    def __len__(self) -> int: ...
    def batches(self, *, signed: bool = False) -> Batches:
        """A row for each page found: `query`, counted from 0, `url`, `distance` and `fingerprint`.

        The fingerprint is `int64`, bit for bit, with `signed=True`.
        """

    def queries(self) -> Batches:
        """A row for each search: whether its result is `complete`, and the distance `within` which no
        page is missing.
        """

@final
class BackedUp:
    """The result of a backup."""

    __match_args__: tuple[
        Literal["sequence"],
        Literal["pages"],
        Literal["visits"],
        Literal["earlier"],
        Literal["linked"],
        Literal["copied"],
        Literal["kept"],
        Literal["removed"],
        Literal["catalog_bytes"],
        Literal["not_linked"],
    ]
    def __new__(
        cls,
        sequence: int,
        pages: int,
        visits: int,
        earlier: int | None,
        linked: FileCount,
        copied: FileCount,
        kept: FileCount,
        removed: int,
        catalog_bytes: int,
        not_linked: str | None,
    ) -> Self: ...
    @property
    def sequence(self) -> int:
        """The last operation in the backup."""

    @property
    def pages(self) -> int:
        """The number of pages in the backup, all of which were checked."""

    @property
    def visits(self) -> int:
        """The number of visits in the backup."""

    @property
    def earlier(self) -> int | None:
        """The last operation in the earlier backup that this backup replaced; `None` if there was none."""

    @property
    def linked(self) -> FileCount:
        """Files that are links to files of the store."""

    @property
    def copied(self) -> FileCount:
        """Files that are copies."""

    @property
    def kept(self) -> FileCount:
        """Files that the earlier backup already had."""

    @property
    def removed(self) -> int:
        """The number of files of the earlier backup that were removed, because the store no longer has them.
        """

    @property
    def catalog_bytes(self) -> int:
        """Bytes of the catalog, which is always rewritten."""

    @property
    def not_linked(self) -> str | None:
        """The system error that caused files to be copied instead of linked."""

@final
class Balls:
    """The balls of one distance. The ball of a page consists of all pages within that distance, including
    the page itself.

    Unlike clusters, balls overlap. The number of balls by size is figure 6-2, and the average size
    table 6.2, of S. Seshasai, *Efficient near duplicate document detection for specialized corpora*,
    MIT 2009.
    """

    __match_args__: tuple[
        Literal["k"],
        Literal["balls"],
        Literal["pages"],
        Literal["largest"],
        Literal["without_fingerprint"],
        Literal["by_size"],
        Literal["labelled_pairs"],
        Literal["equal_pairs"],
        Literal["average"],
        Literal["shared"],
        Literal["equal_share"],
    ]
    def __new__(
        cls,
        k: int,
        balls: int,
        pages: int,
        largest: int,
        without_fingerprint: int,
        by_size: tuple[int, ...],
        labelled_pairs: int,
        equal_pairs: int,
        average: float | None,
        shared: float | None,
        equal_share: float | None,
    ) -> Self: ...
    @property
    def k(self) -> int:
        """The distance."""

    @property
    def balls(self) -> int:
        """The number of balls: one for each page."""

    @property
    def pages(self) -> int:
        """The sum of the balls' sizes, in pages."""

    @property
    def largest(self) -> int:
        """The size of the largest ball."""

    @property
    def without_fingerprint(self) -> int:
        """The number of pages with content but without a fingerprint of the epoch, which have no ball."""

    @property
    def by_size(self) -> tuple[int, ...]:
        """The number of balls with 1 page, 2 to 3, 4 to 7, and so on: size s is in bin log2(s)."""

    @property
    def labelled_pairs(self) -> int:
        """The number of pairs of labelled pages within the distance."""

    @property
    def equal_pairs(self) -> int:
        """The number of labelled pairs with equal labels."""

    @property
    def average(self) -> float | None:
        """The average size of a ball, in pages; `None` without balls."""

    @property
    def shared(self) -> float | None:
        """The share of balls with more than one page; `None` without balls."""

    @property
    def equal_share(self) -> float | None:
        """The share of labelled pairs with equal labels; `None` without such pairs."""

@final
class Bands:
    """The largest minor distance and the largest moderate distance."""

    __match_args__: tuple[Literal["minor"], Literal["moderate"]]
    def __new__(cls, minor: int, moderate: int) -> Self: ...
    @property
    def minor(self) -> int:
        """The largest distance that is minor."""

    @property
    def moderate(self) -> int:
        """The largest distance that is moderate."""

@final
class Batches:
    """A table in Arrow format, for pyarrow, polars, pandas, DuckDB.

    A table that reads a store can be read once, batch by batch and lazily, by the first consumer
    that requests a row. Requesting the columns of a table reads no data.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """A stream of Arrow data, in a capsule."""

@final
class Belief:
    """The probability of each of 64 rates: a prior times the likelihood of the comparisons.

    Few visits determine a rate only roughly, and each observed change means "one or more changes".
    The best estimate of a visit's value is the expectation of the value over a belief.
    """

    def __new__(cls, prior: Prior, likelihood: Likelihood) -> Self: ...
    @property
    def rate(self) -> Rate:
        """The mean rate, in changes a day, and the central 90 %."""

    def __eq__(self, other: object, /) -> bool: ...
    def interval(self, weight: float, threshold: float, index: _PriorityIndex | None = None) -> float | None:
        """The days after a visit at which the next visit reaches a threshold.

        The value of a visit is measured by the index `"value"` (the default), `"crawl-value"` or
        `"harmonic"`. `None` if the value never reaches the threshold, or not within 4,000,000 days.
        Takes 65 times as long as `worth`. Raises `InvalidOptionError` if the weight or the
        threshold is not positive and finite.
        """

    def worth(self, weight: float, days: float, index: _PriorityIndex | None = None) -> float:
        """The value of a visit this many days after the last visit, in days.

        The value is the expectation of the index, `"value"` (the default), `"crawl-value"` or
        `"harmonic"`, for a page of this weight. Takes about a microsecond. Negative days count as
        zero. Raises `InvalidOptionError` if the weight is not positive and finite.
        """

@final
class BitSketch:
    """A sketch of a text in 64 bytes, which estimates the resemblance of two texts.

    The resemblance is computed from the texts' runs of five words. `Candidates` store a sketch of
    each text. `bytes` returns the bytes of a sketch, and `BitSketch` restores a sketch from its
    bytes.
    """

    def __new__(cls, bytes: bytes | bytearray) -> Self: ...
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def distance(self, other: BitSketch) -> int:
        """The number of the 512 bits in which two sketches differ."""

    @staticmethod
    def of_text(text: str) -> BitSketch:
        """The sketch of a text. Costs some 6 nanoseconds for each word, and 10 KiB temporarily."""

    def resemblance(self, other: BitSketch) -> float:
        """The estimated resemblance of the two texts.

        The resemblance is 1 for equal texts, and about 0, possibly negative, for texts without a
        common run. The standard error is 0.027 at a resemblance of 0.8.
        """

@final
class Bodies:
    """Some bodies of responses, and their lengths as transferred."""

    __match_args__: tuple[Literal["count"], Literal["bytes"], Literal["unknown"]]
    def __new__(cls, count: int, bytes: int, unknown: int) -> Self: ...
    @property
    def count(self) -> int:
        """The number of bodies."""

    @property
    def bytes(self) -> int:
        """The sum of the known lengths, in bytes."""

    @property
    def unknown(self) -> int:
        """The number of bodies whose length is unknown."""

@final
class Candidates:
    """Pages with other pages within k bits. The texts of these pages are worth comparing.

    The store has no texts. Ask for each page whether its text is needed (`candidacy`), add the
    needed texts (`add`), and get the clusters of similar texts (`clusters`). Takes three bits of
    memory for each page of the store, and in scratch files 68 bytes for each added text. Threads
    may share the candidates. Candidates belong to the process that made them.
    """

    def __len__(self) -> int: ...
    def add(self, location: int, text: str) -> None:
        """Adds the text of the page at a `location`; repeated calls are allowed.

        A page with several different texts is not compared, since the current text is unknown.
        Linear in the text. Raises `InvalidArgumentError` if there is no candidate at the location.
        """

    def candidacy(self, url: str) -> PageCandidacy:
        """Whether the text of a page is needed. Costs a lookup; for a candidate, also reading its
        head.

        Raises `UrlError` for an invalid URL.
        """

    def clusters(self, resemblance: float, *, progress: Progress | None = None) -> Clusters:
        """Clusters all pages like `View.clusters`, but by the similarity of texts.

        The leader of a page is within k bits, and the texts of both have at least this resemblance,
        from 0 to 1. If there are several such leaders, the page belongs to the most similar leader.
        A page without a text has the text of a page with the same digest; otherwise it is the only
        page of its cluster. The candidates cannot be used afterwards. Costs some joins; many near
        fingerprints with dissimilar texts cost quadratic time. Ctrl-C ends the call.

        Raises `InvalidArgumentError` on a second call, or while another thread adds texts.
        """

@final
class Capture:
    """A visit that saw a content; see `Outcome.refers_to`."""

    __match_args__: tuple[Literal["url"], Literal["time"]]
    def __new__(cls, url: str, time: datetime) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def time(self) -> datetime:
        """The time of the visit."""

@final
class Census:
    """The content of a store, counted page by page."""

    __match_args__: tuple[
        Literal["pages"],
        Literal["in_force"],
        Literal["gone"],
        Literal["never"],
        Literal["visits"],
        Literal["first"],
        Literal["last"],
        Literal["hosts"],
        Literal["largest_hosts"],
        Literal["fingerprints"],
        Literal["sample"],
        Literal["distances"],
        Literal["changing"],
        Literal["period"],
        Literal["periods"],
        Literal["outside"],
    ]
    def __new__(
        cls,
        pages: int,
        in_force: int,
        gone: int,
        never: int,
        visits: int,
        first: datetime | None,
        last: datetime | None,
        hosts: int,
        largest_hosts: tuple[HostCensus, ...],
        fingerprints: FingerprintCensus,
        sample: tuple[SampledPage, ...],
        distances: tuple[int, ...],
        changing: tuple[int, ...],
        period: timedelta,
        periods: tuple[Period, ...],
        outside: VerdictCounts,
    ) -> Self: ...
    @property
    def pages(self) -> int:
        """Known pages."""

    @property
    def in_force(self) -> int:
        """Pages with current content."""

    @property
    def gone(self) -> int:
        """Pages that are gone."""

    @property
    def never(self) -> int:
        """Pages whose content was never seen."""

    @property
    def visits(self) -> int:
        """Visits to all pages."""

    @property
    def first(self) -> datetime | None:
        """The time of the earliest visit; `None` without visits."""

    @property
    def last(self) -> datetime | None:
        """The time of the latest visit; `None` without visits."""

    @property
    def hosts(self) -> int:
        """The number of hosts with pages; URLs without a host count as one host for each scheme."""

    @property
    def largest_hosts(self) -> tuple[HostCensus, ...]:
        """The twenty hosts with the most pages, in descending order of pages."""

    @property
    def fingerprints(self) -> FingerprintCensus:
        """The fingerprints of the epoch for near-duplicates."""

    @property
    def sample(self) -> tuple[SampledPage, ...]:
        """A sample of the pages that have a fingerprint of the epoch for near-duplicates now: the ten thousand
        pages whose URLs have the smallest hashes, or all pages.
        """

    @property
    def distances(self) -> tuple[int, ...]:
        """The number of visits by Hamming distance to the previous version, from 0 to 64 bits."""

    @property
    def changing(self) -> tuple[int, ...]:
        """The number of pages by share of changes among their comparable visits: no change, up to a tenth, up
        to two tenths and so on, in eleven numbers.
        """

    @property
    def period(self) -> timedelta:
        """The length of each period."""

    @property
    def periods(self) -> tuple[Period, ...]:
        """The results of visits by period, in order of time: at most 400 periods."""

    @property
    def outside(self) -> VerdictCounts:
        """The results of visits outside of all periods. Outliers are left out if most periods would otherwise
        be empty. Outliers are at most one visit in a thousand at either end, or one visit if there are at
        least twenty.
        """

@final
class Changes:
    """The changes of a page, from its visits."""

    __match_args__: tuple[
        Literal["comparisons"],
        Literal["changes"],
        Literal["returns"],
        Literal["dated"],
        Literal["unchanged_ms"],
        Literal["last_change"],
    ]
    def __new__(
        cls,
        comparisons: int,
        changes: int,
        returns: int,
        dated: int,
        unchanged_ms: int,
        last_change: LastChange | None,
    ) -> Self: ...
    @property
    def comparisons(self) -> int:
        """The number of comparisons of two visits."""

    @property
    def changes(self) -> int:
        """The number of comparisons with other content in the later visit."""

    @property
    def returns(self) -> int:
        """The number of changes in which the content of the later visit had been seen before."""

    @property
    def dated(self) -> int:
        """The number of changes with a time from the server."""

    @property
    def unchanged_ms(self) -> int:
        """The time for which the page was observed without a change, in milliseconds."""

    @property
    def last_change(self) -> LastChange | None:
        """The last change; `None` without a change."""

@final
class Cluster:
    """A cluster: pages within a distance of the page that leads it."""

    __match_args__: tuple[
        Literal["leader"],
        Literal["fingerprint"],
        Literal["first_seen"],
        Literal["pages"],
        Literal["max_distance"],
    ]
    def __new__(
        cls, leader: str, fingerprint: int | None, first_seen: datetime, pages: int, max_distance: int
    ) -> Self: ...
    @property
    def leader(self) -> str:
        """The page that leads the cluster."""

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint of the leader, with reserved bits set to 0; `None` if the pages have equal digests
        and no fingerprints.
        """

    @property
    def first_seen(self) -> datetime:
        """The time when the leader's content was first seen."""

    @property
    def pages(self) -> int:
        """The number of pages, including the leader."""

    @property
    def max_distance(self) -> int:
        """The greatest distance between the fingerprints of a page and the leader."""

@final
class ClusterChange:
    """A page whose leader changed."""

    __match_args__: tuple[
        Literal["url"],
        Literal["before"],
        Literal["after"],
        Literal["reason"],
        Literal["bits"],
    ]
    def __new__(
        cls, url: str, before: str | None, after: str | None, reason: LeaderChangeReason, bits: int | None
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def before(self) -> str | None:
        """The leader of the page at the earlier time, perhaps the page itself; `None` if the page was in no
        cluster.
        """

    @property
    def after(self) -> str | None:
        """The leader of the page at the later time; `None` if the page is in no cluster."""

    @property
    def reason(self) -> LeaderChangeReason:
        """The reason for the change."""

    @property
    def bits(self) -> int | None:
        """The distance in bits by which the page or its leader changed, if the reason is such a
        change, and both versions have fingerprints.
        """

@final
class ClusterChanges:
    """The clusters at two times: an iterable over the pages whose leader changed, in SURT order.

    The changes can be iterated several times. Each iteration reads both clusterings, in a thread
    that ends when the stream is closed. The object belongs to the process that made it.
    """

    @property
    def after(self) -> Clusters:
        """The clusters at the later time."""

    @property
    def before(self) -> Clusters:
        """The clusters at the earlier time."""

    def __iter__(self) -> Stream[ClusterChange]: ...

@final
class ClusteredPage:
    """A page in its cluster."""

    __match_args__: tuple[
        Literal["url"],
        Literal["fingerprint"],
        Literal["class_"],
        Literal["leader"],
        Literal["leader_class"],
        Literal["distance"],
        Literal["resemblance"],
        Literal["pages"],
        Literal["by"],
    ]
    def __new__(
        cls,
        url: str,
        fingerprint: int | None,
        class_: int | None,
        leader: str,
        leader_class: int | None,
        distance: int,
        resemblance: float | None,
        pages: int,
        by: OriginalBy | None,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint of the page, with reserved bits set to 0; `None` for content without a fingerprint.
        """

    @property
    def class_(self) -> int | None:
        """The current class, for any time of the clusters; `None` for a page without a class."""

    @property
    def leader(self) -> str:
        """The leader of the page's cluster, perhaps the page itself."""

    @property
    def leader_class(self) -> int | None:
        """The current class of the leader."""

    @property
    def distance(self) -> int:
        """The number of bits in which the fingerprints of the page and its leader differ; 0 for content
        without a fingerprint, which equals its leader's.
        """

    @property
    def resemblance(self) -> float | None:
        """The resemblance of the texts of the page and its leader, by their sketches; `None` for the leader,
        and if the texts were not compared.
        """

    @property
    def pages(self) -> int:
        """The number of pages in the cluster."""

    @property
    def by(self) -> OriginalBy | None:
        """The reason why the page is known to be nearly equal to its leader; `None` for the
        leader, and in results of `cluster_of`.
        """

    @property
    def is_leader(self) -> bool:
        """Whether the page leads its cluster."""

@final
class Clusters:
    """The clusters of a store at a point in time: groups of near pages with a leader.

    The clusters and their snapshot stay in memory or in scratch files until this object is
    released. The clusters can be iterated several times, in several orders. Clusters belong to the
    process that made them; in a forked process they raise `ForkedError`.
    """

    @property
    def epoch(self) -> int:
        """The number of the epoch whose fingerprints are compared."""

    @property
    def fingerprints(self) -> int:
        """The number of distinct fingerprints of the clustered pages."""

    @property
    def k(self) -> int:
        """The distance of the clustering, in bits."""

    @property
    def largest(self) -> int:
        """The number of pages in the largest cluster."""

    @property
    def multi_page_clusters(self) -> int:
        """The number of clusters with at least two pages."""

    @property
    def pages(self) -> int:
        """The number of pages."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of clusters with 1 page, 2 or 3, 4 to 7, and so on: bin log2(s) counts clusters
        of size s.
        """

    @property
    def without_fingerprint(self) -> int:
        """The number of pages with content, but without a fingerprint of the epoch, which are in no
        cluster: stale pages, redirects, and pages without a digest.
        """

    def __len__(self) -> int: ...
    def by_cluster(self, pages_min: int = 1) -> Stream[ClusteredPage]:
        """The pages of clusters with at least this many pages, cluster by cluster in the order of
        `by_size`.

        In each cluster the leader comes first, then the other pages by distance and in SURT order.
        Costs as much as `by_page`.
        """

    def by_page(self, pages_min: int = 1) -> Stream[ClusteredPage]:
        """The pages of clusters with at least this many pages, in SURT order, each with its leader.

        Costs a sort of some 100 bytes a page, within `memory_bytes`, and then a read of each page, in
        a thread that ends when the stream is closed.
        """

    def by_size(self, pages_min: int = 1) -> Stream[Cluster]:
        """The clusters with at least this many pages, the largest first.

        Equally large clusters are in the order of their leaders. Costs a sort of some 100 bytes a
        cluster, and then a read of each leader.
        """

    def count_dropped(self, open: Iterable[int | None] | None = None) -> int:
        """The number of pages in `dropped`. Costs one pass over the pages, without their URLs."""

    def dropped(self, open: Iterable[int | None] | None = None) -> DroppedPages:
        """The pages that are dropped in favour of their leaders, to look up by URL, and as a table.

        A page is dropped if its leader is another page of its class, or a page of a class in
        `open`, which everybody may see. `None` in `open` means pages without a class. All other
        pages are kept. Costs a sort of 16 bytes for each dropped page, and one bit of memory for
        each page of the store.
        """

@final
class Compacted:
    """The result of `compact`."""

    __match_args__: tuple[
        Literal["merged"],
        Literal["segment_bytes_before"],
        Literal["segment_bytes"],
        Literal["catalog_bytes_before"],
        Literal["catalog_bytes"],
        Literal["freed_bytes"],
    ]
    def __new__(
        cls,
        merged: Merged,
        segment_bytes_before: int,
        segment_bytes: int,
        catalog_bytes_before: int,
        catalog_bytes: int,
        freed_bytes: int,
    ) -> Self: ...
    @property
    def merged(self) -> Merged:
        """The merge."""

    @property
    def segment_bytes_before(self) -> int:
        """Bytes of the segments before the compaction."""

    @property
    def segment_bytes(self) -> int:
        """Bytes of the segments after the compaction."""

    @property
    def catalog_bytes_before(self) -> int:
        """Bytes of the catalog before the compaction, including the journal."""

    @property
    def catalog_bytes(self) -> int:
        """Bytes of the catalog after the compaction."""

    @property
    def freed_bytes(self) -> int:
        """The number of bytes by which the store shrank."""

@final
class CompactionEstimate:
    """An estimate of the effect of `Store.compact` on the segments."""

    __match_args__: tuple[
        Literal["segments"],
        Literal["segment_bytes"],
        Literal["unsealed_pages"],
        Literal["reclaimable_bytes"],
        Literal["temporary_bytes"],
    ]
    def __new__(
        cls,
        segments: int,
        segment_bytes: int,
        unsealed_pages: int,
        reclaimable_bytes: int,
        temporary_bytes: int,
    ) -> Self: ...
    @property
    def segments(self) -> int:
        """The number of segments."""

    @property
    def segment_bytes(self) -> int:
        """The bytes of the segments."""

    @property
    def unsealed_pages(self) -> int:
        """Pages with data that is in no segment yet; the merged segment will include it."""

    @property
    def reclaimable_bytes(self) -> int:
        """The approximate number of bytes that a merge of all segments frees."""

    @property
    def temporary_bytes(self) -> int:
        """The free disk space that the merge needs temporarily, in bytes."""

@final
class Comparison:
    """The comparison of two consecutive visits.

    The visits are `days` apart: from a millisecond to 4,000,000 days. If the page `changed`,
    `days_ago` is the time from the last change to the later visit; `None` if unknown. Raises
    `InvalidOptionError` if the visits are closer or farther apart, or the change was not between
    them.
    """

    __match_args__: tuple[Literal["days"], Literal["changed"], Literal["days_ago"]]
    def __new__(cls, days: float, changed: bool | None = None, days_ago: float | None = None) -> Self: ...
    @property
    def days(self) -> float:
        """The days between the two visits."""

    @property
    def changed(self) -> bool:
        """Whether the page changed between the visits."""

    @property
    def days_ago(self) -> float | None:
        """The days from the last change to the later visit; `None` without a change, or if the time is
        unknown.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class ComponentSearch:
    """The search of one segment or memtable."""

    __match_args__: tuple[
        Literal["segment"],
        Literal["fingerprints"],
        Literal["shape"],
        Literal["access_path"],
        Literal["expected"],
        Literal["counted"],
        Literal["hits"],
        Literal["crowded"],
        Literal["faults"],
    ]
    def __new__(
        cls,
        segment: int | None,
        fingerprints: int,
        shape: str | None,
        access_path: str,
        expected: Cost,
        counted: Cost,
        hits: int,
        crowded: int | None,
        faults: tuple[int, int] | None,
    ) -> Self: ...
    @property
    def segment(self) -> int | None:
        """The number of the segment; `None` for a memtable."""

    @property
    def fingerprints(self) -> int:
        """The number of distinct fingerprints of the epoch in the component."""

    @property
    def shape(self) -> str | None:
        """The shape of the component's tables: column, rotations or cells; `None` for a memtable."""

    @property
    def access_path(self) -> str:
        """The method of the search: rotations, cells or scan."""

    @property
    def expected(self) -> Cost:
        """The expected cost of the search."""

    @property
    def counted(self) -> Cost:
        """The actual work and time of the search."""

    @property
    def hits(self) -> int:
        """The number of distinct near fingerprints. If the search excludes pages or classes, only fingerprints
        of other pages count.
        """

    @property
    def crowded(self) -> int | None:
        """The number of compared fingerprints, if a dense bucket had more fingerprints than the search may
        compare; see `fingerprints`.
        """

    @property
    def faults(self) -> tuple[int, int] | None:
        """Page faults during the search: first the number of faults served from memory, then the number of
        faults that waited for the disk. `None` if the system does not report page faults.
        """

@final
class ConnectedComponent:
    """A connected component."""

    __match_args__: tuple[Literal["page"], Literal["pages"], Literal["max_distance"]]
    def __new__(cls, page: str, pages: int, max_distance: int) -> Self: ...
    @property
    def page(self) -> str:
        """A page of the component: the first by the rules among the pages with the least fingerprint."""

    @property
    def pages(self) -> int:
        """The number of pages in the component."""

    @property
    def max_distance(self) -> int:
        """The greatest distance between two pages of the component. Above 65,536 fingerprints the distance is
        a lower bound: each fingerprint is compared only with a few that are far from each other.
        """

@final
class ConnectedComponents:
    """The connected components of a snapshot. Two pages are in one component if a chain of pages connects
    them, in which each page is within k bits of the next.
    """

    __match_args__: tuple[
        Literal["k"],
        Literal["pages"],
        Literal["without_fingerprint"],
        Literal["components"],
        Literal["multi_page_components"],
        Literal["largest"],
    ]
    def __new__(
        cls,
        k: int,
        pages: int,
        without_fingerprint: int,
        components: int,
        multi_page_components: int,
        largest: tuple[ConnectedComponent, ...],
    ) -> Self: ...
    @property
    def k(self) -> int:
        """The maximum distance between two successive pages of a chain."""

    @property
    def pages(self) -> int:
        """The number of pages."""

    @property
    def without_fingerprint(self) -> int:
        """The number of pages with content but without a fingerprint of the epoch, which are in no component.
        """

    @property
    def components(self) -> int:
        """The number of components."""

    @property
    def multi_page_components(self) -> int:
        """The number of components of two or more pages."""

    @property
    def largest(self) -> tuple[ConnectedComponent, ...]:
        """The ten largest components of two or more pages."""

@final
class Content:
    """The content of a page, as seen by one visit."""

    __match_args__: tuple[Literal["fingerprint"], Literal["digest"], Literal["epoch"]]
    def __new__(cls, fingerprint: int | None, digest: bytes | None, epoch: int) -> Self: ...
    @property
    def fingerprint(self) -> int | None:
        """The fingerprint; `None` if the text is too short to be distinguished."""

    @property
    def digest(self) -> bytes | None:
        """The digest, 16 bytes; `None` without a digest."""

    @property
    def epoch(self) -> int:
        """The epoch of the fingerprint."""

@final
class Copies:
    """The pages whose current version is exactly a content."""

    __match_args__: tuple[Literal["pages"], Literal["complete"]]
    def __new__(cls, pages: tuple[ExactCopy, ...], complete: bool) -> Self: ...
    @property
    def pages(self) -> tuple[ExactCopy, ...]:
        """The pages, in the order in which they were first seen with the content."""

    @property
    def complete(self) -> bool:
        """Whether there are no other pages. If not, there are more than the limit, or the search
        was bounded.
        """

@final
class Corruption:
    """Damage: the bytes of a file are not as they must be."""

    __match_args__: tuple[Literal["file"], Literal["offset"], Literal["what"]]
    def __new__(cls, file: str, offset: int, what: str) -> Self: ...
    @property
    def file(self) -> str:
        """The file, by its path within the store's directory."""

    @property
    def offset(self) -> int:
        """The byte offset in the file."""

    @property
    def what(self) -> str:
        """The damage, with the expected and the actual value."""

@final
class Cost:
    """The cost of a search, expected or counted."""

    __match_args__: tuple[Literal["probes"], Literal["candidates"], Literal["lines"], Literal["ns"]]
    def __new__(cls, probes: float, candidates: float, lines: float, ns: float) -> Self: ...
    @property
    def probes(self) -> float:
        """Buckets or cells read; 0 for a scan."""

    @property
    def candidates(self) -> float:
        """Entries compared."""

    @property
    def lines(self) -> float:
        """Cache lines of 64 bytes read."""

    @property
    def ns(self) -> float:
        """Nanoseconds on one core with all data in memory, without the cost of hits."""

@final
class Decider:
    """The order in which a simulated crawler visits pages.

    A decider is a policy, selected by its name (`"value"`), or a baseline for policies. As text, a
    decider is its name in a table of results. `learning` is the source of the decider's prior. With
    `"hosts"` (the default), the prior is learned from all pages, and for each page from the other
    pages of its host, as in a store. With `"pages"`, the prior is learned from all pages; with
    `"nothing"`, from no pages.
    """

    def __new__(
        cls, policy: str | Policy | None = None, learning: Literal["nothing", "pages", "hosts"] | None = None
    ) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def all(*, rates_known: bool = False) -> list[Decider]:
        """The default deciders to compare.

        The deciders are the policies, `"value"` without hosts, and `"value"` without a belief. If the
        rates are known, the crawl value at the true rates is added.
        """

    @staticmethod
    def estimated(index: _PriorityIndex | None = None) -> Decider:
        """An index, `"value"` (the default), `"crawl-value"` or `"harmonic"`, at the estimated rate of
        a page.

        The decider has no belief.
        """

    @staticmethod
    def known(index: _PriorityIndex | None = None) -> Decider:
        """An index, `"value"` (the default), `"crawl-value"` or `"harmonic"`, at the true rate.

        The decider requires pages with known rates. The rates of a store's pages are unknown.
        """

@final
class Decision:
    """The decision about a page: the value of a visit, and the reason. As text, for people: "by
    the value of a visit; a visit is worth 12.30; 3 of 8 comparisons found a change; ...".
    """

    __match_args__: tuple[
        Literal["page"],
        Literal["value"],
        Literal["rate"],
        Literal["weight"],
        Literal["due"],
        Literal["every"],
        Literal["rule"],
        Literal["near"],
        Literal["reason"],
        Literal["interval"],
        Literal["until"],
        Literal["changed"],
        Literal["text"],
    ]
    def __new__(
        cls,
        page: Page,
        value: float,
        rate: Rate,
        weight: float,
        due: datetime | None,
        every: timedelta | None,
        rule: str | None,
        near: str | None,
        reason: Reason,
        interval: timedelta | None,
        until: datetime | None,
        changed: datetime | None,
        text: str,
    ) -> Self: ...
    @property
    def page(self) -> Page:
        """The page, with its last visit and its history of changes."""

    @property
    def value(self) -> float:
        """The value that the policy computes now. For `crawl-value`, it is the number of days for which a
        visit makes the page fresh, times the page's weight; for `value`, a tenth of the harmonic index is
        added. The weight counts an eighth if the page is gone, and a quarter if another page leads it.
        """

    @property
    def rate(self) -> Rate:
        """The estimated change rate."""

    @property
    def weight(self) -> float:
        """The weight of the page times the factor of its rule. The reductions for a page that is gone or led
        are not included.
        """

    @property
    def due(self) -> datetime | None:
        """The due time by the plan of the query, which may be past; `None` without a plan."""

    @property
    def every(self) -> timedelta | None:
        """The interval from the last visit to the due time if no visit fails; `None` without a
        plan.
        """

    @property
    def rule(self) -> str | None:
        """The prefix of the page's rule; `None` if the rule is for all pages."""

    @property
    def near(self) -> str | None:
        """The page that leads this page. If this page declares a near page as canonical, that page leads,
        unless it points to another page itself. Otherwise, among near pages, the leader is the page that
        was first visited with its current content; of pages visited at the same time, the first in SURT
        order leads. Pages that are led by their canonical page lead no page. `None` if this page is the
        leader, or if the policy does not use the value of a visit.

        Pages are near if the distance of their contents is at most the near distance of the store
        (`Options.near_distance`), identical content included. The nearest 16 pages are compared. If more
        pages share exactly this fingerprint, the first 17 of them in SURT order are compared, and the
        leader of these 17 leads all others. The search stops early if very many pages had such content once
        and have other content now.
        """

    @property
    def reason(self) -> Reason:
        """The reason for the decision."""

    @property
    def interval(self) -> timedelta | None:
        """The longest time between visits of an overdue page, or the minimum time between visits,
        if a rule postpones the visit.
        """

    @property
    def until(self) -> datetime | None:
        """The end of the wait after failed visits."""

    @property
    def changed(self) -> datetime | None:
        """The time when the page changed, by a hint."""

    @property
    def text(self) -> str:
        """The decision as text for people."""

@final
class DeclaredUrls:
    """The URLs to which pages of a site point."""

    __match_args__: tuple[
        Literal["canonicals"],
        Literal["near"],
        Literal["different"],
        Literal["redirects"],
        Literal["wrong"],
    ]
    def __new__(
        cls, canonicals: int, near: int, different: int, redirects: int, wrong: tuple[AliasPair, ...]
    ) -> Self: ...
    @property
    def canonicals(self) -> int:
        """The number of pages that declare the URL of another page as canonical."""

    @property
    def near(self) -> int:
        """The number of these pages whose content is near the content of the canonical page."""

    @property
    def different(self) -> int:
        """The number of these pages whose content differs from the content of the canonical page. The content
        of the other pages cannot be compared: the canonical page is unknown or outside of the prefix, or
        one of the two pages has no fingerprint.
        """

    @property
    def redirects(self) -> int:
        """The number of pages that redirect to another page."""

    @property
    def wrong(self) -> tuple[AliasPair, ...]:
        """The pages whose content differs from the content of their canonical page, which is `first`: the
        first 1,024 in SURT order.
        """

@final
class Diff(Stream[_T_co]):
    """Differences between pages: a stream in SURT order, read lazily."""

    def epochs(self) -> list[EpochInfo]:
        """The epochs of the contents and distances.

        The epochs of the earlier side keep their numbers. The epochs that only the later side has
        follow.
        """

@final
class Difference:
    """A page whose current version differs."""

    __match_args__: tuple[
        Literal["url"],
        Literal["verdict"],
        Literal["distance"],
        Literal["distance_epoch"],
        Literal["to"],
        Literal["priority"],
        Literal["before"],
        Literal["after"],
        Literal["seen"],
    ]
    def __new__(
        cls,
        url: str,
        verdict: Verdict,
        distance: int | None,
        distance_epoch: int | None,
        to: datetime | None,
        priority: float,
        before: Content | None,
        after: Content | None,
        seen: datetime | None,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def verdict(self) -> Verdict:
        """The change: `Verdict.New`, `Verdict.Changed`, `Verdict.Reverted`, or `Verdict.Gone`. A page is gone
        if it no longer has a current version, or is not in the later store.
        """

    @property
    def distance(self) -> int | None:
        """The distance of the fingerprints in bits; `None` if the distance is unknown."""

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the compared fingerprints."""

    @property
    def to(self) -> datetime | None:
        """The time when the version that the page reverted to was last seen; `None` if the page
        was not reverted.
        """

    @property
    def priority(self) -> float:
        """The value of processing the current version further: the priority of an observation of this version.
        """

    @property
    def before(self) -> Content | None:
        """The earlier version, with its fingerprint in the newest epoch."""

    @property
    def after(self) -> Content | None:
        """The later version."""

    @property
    def seen(self) -> datetime | None:
        """The time when the later version was last seen."""

@final
class DroppedPages:
    """The pages that are dropped in favour of their leaders, by URL.

    As Arrow data, the result is a table with the columns of `pages`. `len` is the number of the
    dropped pages. Threads may share the object; their queries run one after another. The object
    belongs to the process that made it.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """The table of `pages`, as a stream of Arrow data in a capsule."""

    def __len__(self) -> int: ...
    def fate(self, url: str) -> PageFate:
        """The fate of a page. Costs a lookup; for a dropped page, also reading its head.

        Raises `UrlError` for an invalid URL.
        """

    def has(self, location: int) -> bool:
        """Whether the page at a `location` from `Candidates.candidacy` is dropped.

        Costs no lookup.
        """

    def kept_for(self, url: str) -> KeptPage | None:
        """The page that is kept instead of a dropped page, with the distance of the two pages.

        `None` if the page is not dropped. Costs as much as `fate`, and reading the kept page.
        """

    def pages(self) -> Stream[ClusteredPage]:
        """The dropped pages in SURT order, each with its leader, the page that is kept.

        As Arrow data, the stream has the columns `url`, `leader` and `distance`, and the further
        columns of `Clusters.by_page`. Costs as much as `by_page`.
        """

@final
class DumpLine:
    """Some bytes of a file and their meaning.

    The text form is the notation of the pages in `format/`: the offset in hexadecimal digits, the
    bytes, and the meaning, separated by two spaces. A row has at most 16 bytes; further bytes are in
    rows below. `00*36` means 36 zero bytes, and `??*36` means 36 bytes whose checksum is wrong. The
    meaning may quote URLs, which are untrusted: escape the meaning for a terminal.
    """

    __match_args__: tuple[
        Literal["offset"],
        Literal["len"],
        Literal["bytes"],
        Literal["meaning"],
        Literal["damaged"],
        Literal["text"],
    ]
    def __new__(
        cls, offset: int, len: int, bytes: builtins.bytes | None, meaning: str, damaged: bool, text: str
    ) -> Self: ...
    @property
    def offset(self) -> int:
        """The offset of the bytes in the file."""

    @property
    def len(self) -> int:
        """The number of bytes."""

    @property
    def bytes(self) -> builtins.bytes | None:
        """The bytes; `None` if they are damaged."""

    @property
    def meaning(self) -> str:
        """The meaning of the bytes, or the damage in the bytes."""

    @property
    def damaged(self) -> bool:
        """Whether the bytes are damaged or invalid."""

    @property
    def text(self) -> str:
        """The line as text for people."""

@final
class EpochInfo:
    """The description of an epoch in a store."""

    __match_args__: tuple[
        Literal["epoch"],
        Literal["name"],
        Literal["begun"],
        Literal["role"],
        Literal["bands"],
        Literal["ended"],
    ]
    def __new__(cls, epoch: int, name: str, begun: int, role: Role, bands: Bands, ended: bool) -> Self: ...
    @property
    def epoch(self) -> int:
        """The number of the epoch."""

    @property
    def name(self) -> str:
        """The name of the epoch, unique in the store."""

    @property
    def begun(self) -> int:
        """The number of visits in the store when the epoch began."""

    @property
    def role(self) -> Role:
        """The purpose of the epoch's fingerprints."""

    @property
    def bands(self) -> Bands:
        """The distances of minor and of moderate changes."""

    @property
    def ended(self) -> bool:
        """Whether the epoch has ended. After its end, nothing is observed or searched in the epoch."""

@final
class EpochOverview:
    """An epoch, with its counts."""

    __match_args__: tuple[Literal["info"], Literal["fingerprints"], Literal["is_in_use"]]
    def __new__(cls, info: EpochInfo, fingerprints: int, is_in_use: bool) -> Self: ...
    @property
    def info(self) -> EpochInfo:
        """The epoch."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each segment or memtable that has fingerprints of the epoch.
        """

    @property
    def is_in_use(self) -> bool:
        """Whether verdicts or searches use the epoch."""

@final
class ExactCopy:
    """Another page with the same digest: an exact copy."""

    __match_args__: tuple[Literal["url"], Literal["first"]]
    def __new__(cls, url: str, first: datetime) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def first(self) -> datetime:
        """The time when the page was first seen with this digest."""

@final
class ExactDifference:
    """Entries of a page that exist on only one side."""

    __match_args__: tuple[Literal["url"], Literal["before"], Literal["after"]]
    def __new__(
        cls,
        url: str,
        before: tuple[Visit | Restated | PropertyEntry, ...],
        after: tuple[Visit | Restated | PropertyEntry, ...],
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def before(self) -> tuple[Visit | Restated | PropertyEntry, ...]:
        """The entries that only the earlier side has."""

    @property
    def after(self) -> tuple[Visit | Restated | PropertyEntry, ...]:
        """The entries that only the later side has."""

@final
class Explanation:
    """The plans and costs of a search."""

    __match_args__: tuple[
        Literal["instruction_set"],
        Literal["components"],
        Literal["matches"],
        Literal["took"],
    ]
    def __new__(
        cls, instruction_set: str, components: tuple[ComponentSearch, ...], matches: Matches, took: timedelta
    ) -> Self: ...
    @property
    def instruction_set(self) -> str:
        """The instruction set that comparisons use: `avx512`, `avx2`, `popcnt` or `portable`."""

    @property
    def components(self) -> tuple[ComponentSearch, ...]:
        """The searched components, the oldest first; memtables last."""

    @property
    def matches(self) -> Matches:
        """The results of the search."""

    @property
    def took(self) -> timedelta:
        """The time of the whole search, with the lookup of pages."""

@final
class Feature:
    """A feature of a document, such as two words."""

    __match_args__: tuple[
        Literal["text"],
        Literal["short"],
        Literal["field"],
        Literal["hash"],
        Literal["count"],
        Literal["frequency"],
        Literal["share"],
    ]
    def __new__(
        cls,
        text: str,
        short: bool,
        field: str | None,
        hash: int,
        count: int,
        frequency: int | None,
        share: float,
    ) -> Self: ...
    @property
    def text(self) -> str:
        """The words or characters of the feature in lower case; the unchanged value of a field."""

    @property
    def short(self) -> bool:
        """Whether the feature has fewer words or characters than the recipe's n-grams. A text that short has a
        single feature. Only documents with exactly the same text share the feature.
        """

    @property
    def field(self) -> str | None:
        """The name of the field, if the feature is a field."""

    @property
    def hash(self) -> int:
        """The hash of the feature."""

    @property
    def count(self) -> int:
        """The number of occurrences; for a field, the number of equal fields."""

    @property
    def frequency(self) -> int | None:
        """The number of documents with this feature, if the recipe uses document frequencies."""

    @property
    def share(self) -> float:
        """The feature's share of the weight of all features, from 0 to 1; for a minwise recipe, its share of
        the bits.
        """

@final
class FileCount:
    """A number of segments and tables of document frequencies."""

    __match_args__: tuple[Literal["files"], Literal["bytes"]]
    def __new__(cls, files: int, bytes: int) -> Self: ...
    @property
    def files(self) -> int:
        """The number of files."""

    @property
    def bytes(self) -> int:
        """The total size of the files in bytes."""

@final
class FingerprintCensus:
    """Counts of the fingerprints that pages have now, in one epoch."""

    __match_args__: tuple[
        Literal["epoch"],
        Literal["pages"],
        Literal["without"],
        Literal["popcounts"],
        Literal["ones"],
        Literal["values"],
        Literal["share"],
        Literal["distinct"],
        Literal["different"],
        Literal["distinct_ones"],
        Literal["shared"],
        Literal["commonest"],
    ]
    def __new__(
        cls,
        epoch: int,
        pages: int,
        without: int,
        popcounts: tuple[int, ...],
        ones: tuple[int, ...],
        values: tuple[int, ...],
        share: float,
        distinct: int,
        different: int,
        distinct_ones: tuple[int, ...],
        shared: tuple[int, ...],
        commonest: tuple[int, int] | None,
    ) -> Self: ...
    @property
    def epoch(self) -> int:
        """The number of the epoch."""

    @property
    def pages(self) -> int:
        """Pages with a fingerprint."""

    @property
    def without(self) -> int:
        """Pages whose content has no fingerprint."""

    @property
    def popcounts(self) -> tuple[int, ...]:
        """Pages by the number of 1 bits in their fingerprint: 65 counts, from 0 bits to 64."""

    @property
    def ones(self) -> tuple[int, ...]:
        """For each of the 64 bits, lowest first, the number of pages whose fingerprint has this bit set."""

    @property
    def values(self) -> tuple[int, ...]:
        """Pages by the highest eight bits of their fingerprint: 256 counts."""

    @property
    def share(self) -> float:
        """The share of all distinct fingerprints that are counted below: 1 up to a million fingerprints, and
        above it the share of a sample by hash.
        """

    @property
    def distinct(self) -> int:
        """The number of distinct fingerprints counted."""

    @property
    def different(self) -> int:
        """The number of distinct fingerprints; an estimate if only a sample was counted."""

    @property
    def distinct_ones(self) -> tuple[int, ...]:
        """For each of the 64 bits, lowest first, the number of counted fingerprints that have this bit set.
        """

    @property
    def shared(self) -> tuple[int, ...]:
        """Counted fingerprints by their number of pages: 1, 2 to 3, 4 to 7 and so on."""

    @property
    def commonest(self) -> tuple[int, int] | None:
        """The fingerprint with the most pages, and the number of these pages. `None` if there is no
        fingerprint, or if only a sample was counted, because a sample may lack this fingerprint.
        """

@final
class FingerprintExplanation:
    """The explanation of a fingerprint."""

    __match_args__: tuple[
        Literal["fingerprint"],
        Literal["features"],
        Literal["voting"],
        Literal["heaviest"],
        Literal["balance"],
    ]
    def __new__(
        cls,
        fingerprint: int,
        features: int,
        voting: int,
        heaviest: tuple[Feature, ...],
        balance: tuple[float, ...],
    ) -> Self: ...
    @property
    def fingerprint(self) -> int:
        """The fingerprint."""

    @property
    def features(self) -> int:
        """The number of distinct features in the text and, if the recipe uses them, the fields."""

    @property
    def voting(self) -> int:
        """The number of features that vote; for a minwise recipe, the number of features that determine a bit.
        """

    @property
    def heaviest(self) -> tuple[Feature, ...]:
        """The heaviest features, the heaviest first; for a minwise recipe, the features that determine most
        bits.
        """

    @property
    def balance(self) -> tuple[float, ...]:
        """For each of the 64 bits, the lowest first, the margin of its vote as a share of the weight of all
        features: between -1 and 1, positive for a bit that is 1. The nearer to 0, the smaller a change of
        the document flips the bit. 0 for reserved bits. For a minwise recipe all bits have the same margin:
        each bit depends on one of the distinct features.
        """

@final
class Fingerprinter:
    """Makes fingerprints by a recipe, which is selected by its name or short name.

    `table` is for recipes that weigh words by rarity. An `Origin`, for example of an epoch of a
    store, selects its recipe and its table. Threads may share a fingerprinter.
    """

    def __new__(cls, recipe: str | Origin | None = None, *, table: FrequencyTable | None = None) -> Self: ...
    @property
    def recipe(self) -> str:
        """The name of the recipe."""

    def explain(self, text: str, *, limit: int | None = 20) -> FingerprintExplanation:
        """Fingerprints a text, and explains the result.

        The result has the heaviest features, at most `limit`, and how near each bit is to flipping.
        Reads the text three times, and takes some 50 bytes for each distinct feature.
        """

    def of_html(self, html: _types.Html, encoding: str | None = None) -> int | None:
        """The fingerprint of an HTML page; `None` if its visible text has fewer than eight words.

        The page is `str`, or bytes with the `encoding` or the Content-Type from the server.
        """

    def of_page(self, text: str) -> int | None:
        """The fingerprint of the text of a page; `None` if the text has fewer than eight words.

        A text of fewer than eight words is too short to be distinguished.
        """

    def of_text(self, text: str) -> int:
        """The fingerprint of a text; 0 if the text has no features. Linear in the text."""

@final
class Fingerprints:
    """The fingerprints of many texts, in order, with `None` for each text of fewer than eight words, and
    for each null or `None`.

    As Arrow data, the result is a table with the column `fingerprint`.
    """

    @property
    def recipe(self) -> str:
        """The name of the recipe that made the fingerprints."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """The data of `batches`, as a stream of Arrow data in a capsule."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int | None: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[int | None]: ...
    def __iter__(self) -> Iterator[int | None]: ...
    def __len__(self) -> int: ...
    def batches(self, *, signed: bool = False) -> Batches:
        """The column `fingerprint`. With `signed=True` the type of the column is `int64`, bit for bit."""

@final
class Fit:
    """The evidence of many pages' comparisons about the spread of rates: how well each of 64 priors
    explains the comparisons.

    Pages are represented by their likelihoods, in any order. Leave out pages without comparisons,
    which carry no evidence. Takes some microseconds a page, while other threads run.
    """

    def __new__(cls, pages: Iterable[Likelihood] | None = None) -> Self: ...
    @property
    def pages(self) -> int:
        """The number of pages."""

    def __eq__(self, other: object, /) -> bool: ...
    def prior(self) -> Prior:
        """The mixture of the priors, each weighted by how well it explains the pages.

        For fewer than 20 pages the result is the default prior. Takes some microseconds.
        """

    def without(self, page: Likelihood) -> Fit:
        """The evidence without a page that was added. The page is represented by its likelihood."""

@final
class Forgotten:
    """The result of `forget`."""

    __match_args__: tuple[Literal["pages"], Literal["visits"]]
    def __new__(cls, pages: int, visits: int) -> Self: ...
    @property
    def pages(self) -> int:
        """The number of pages."""

    @property
    def visits(self) -> int:
        """The number of visits to the hidden pages."""

@final
class FrequencyCounter:
    """Counts the documents with each feature, for a new table in a file.

    Counts that do not fit into `memory_bytes` (64 MiB by default) go to a scratch file next to the
    table.
    """

    def __new__(
        cls, path: str | PathLike[str], recipe: str | None = None, *, memory_bytes: int | None = None
    ) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def add(self, text: str) -> None:
        """Counts a document."""

    def close(self) -> None:
        """Discards the counts, and leaves no file, unless the table was frozen. May be called twice."""

    def freeze(self, least: int = 1) -> FrequencyTable:
        """Writes the table, without features of fewer than `least` documents, and opens it."""

@final
class FrequencyTable:
    """A frozen table of document frequencies: a memory-mapped file. Opening a table reads and checks
    the whole file.
    """

    def __new__(cls, path: str | PathLike[str]) -> Self: ...
    @property
    def bytes(self) -> int:
        """The length of the file in bytes."""

    @property
    def documents(self) -> int:
        """The number of counted documents."""

    @property
    def features(self) -> str:
        """The kind of features: the first part of the names of the recipes that can use the table."""

    @property
    def id(self) -> int:
        """The identity of the table: its checksum."""

    @property
    def left_out(self) -> tuple[int, int]:
        """The minimum number of documents of a feature in the table, and the number of rarer features
        that were left out.
        """

    @property
    def terms(self) -> int:
        """The number of features in the table."""

@final
class GenerationInfo:
    """A published state of a store."""

    __match_args__: tuple[
        Literal["number"],
        Literal["store"],
        Literal["written"],
        Literal["sequence"],
        Literal["files"],
        Literal["epochs"],
        Literal["near_epoch"],
    ]
    def __new__(
        cls,
        number: int,
        store: int,
        written: datetime,
        sequence: int,
        files: FileCount,
        epochs: tuple[EpochInfo, ...],
        near_epoch: int,
    ) -> Self: ...
    @property
    def number(self) -> int:
        """The number of the generation, larger than the numbers of all earlier generations."""

    @property
    def store(self) -> int:
        """The identifier of the store."""

    @property
    def written(self) -> datetime:
        """The time when the generation was published, by the clock of the publisher."""

    @property
    def sequence(self) -> int:
        """The last operation in the generation."""

    @property
    def files(self) -> FileCount:
        """The segments and tables of the generation."""

    @property
    def epochs(self) -> tuple[EpochInfo, ...]:
        """The store's epochs, by number."""

    @property
    def near_epoch(self) -> int:
        """The epoch of near-duplicates."""

@final
class Hints:
    """Times when pages of a store changed, from sitemaps or feeds: for the keyword `hints` of `due`.

    A page with a hint after its last visit is stale with the probability `trust`. Takes 16 bytes
    for each change, at most 100,000,000 of them. Hints are valid only for the store that made them.
    """

    def changed_after(self, url: str, last: Time, now: Time) -> datetime | None:
        """The first change of the page after its last visit, in whole seconds; `None` without such a
        change.

        Changes after `now` are ignored.
        """

    def worth(self, url: str, weight: float, last: Time, now: Time, otherwise: float) -> float:
        """The value of a visit to a page of some weight, in days. `otherwise` is the value of the
        visit without a hint.

        Raises `InvalidOptionError` if the weight is not positive and finite, or `otherwise` is negative
        or infinite.
        """

@final
class HostCensus:
    """Counts of a host."""

    __match_args__: tuple[Literal["host"], Literal["pages"], Literal["visits"], Literal["verdicts"]]
    def __new__(cls, host: str, pages: int, visits: int, verdicts: VerdictCounts) -> Self: ...
    @property
    def host(self) -> str:
        """The name of the host; for URLs without a host, the scheme and a colon."""

    @property
    def pages(self) -> int:
        """The number of pages of the host."""

    @property
    def visits(self) -> int:
        """The number of visits to the host's pages."""

    @property
    def verdicts(self) -> VerdictCounts:
        """The results of visits to the host's pages."""

@final
class HostPriors:
    """Priors for the pages of a host, learned from many hosts.

    The differences between hosts, and within them, determine how much a page indicates about other
    pages of its host. Each host is represented by the `Fit` of its pages. A few thousand hosts are
    enough. Takes some 10 microseconds a host, while other threads run.
    """

    def __new__(cls, hosts: Iterable[Fit]) -> Self: ...
    def prior(self, host: Fit) -> Prior:
        """The prior of a page of a host. `host` is the `Fit` of the other pages of the host.

        An empty `Fit` represents a new host. Takes some microseconds.
        """

@final
class HostRequests:
    """The requests to one host."""

    __match_args__: tuple[Literal["host"], Literal["counts"]]
    def __new__(cls, host: str, counts: RequestCounts) -> Self: ...
    @property
    def host(self) -> str:
        """The name of the host; for URLs without a host, the scheme and a colon."""

    @property
    def counts(self) -> RequestCounts:
        """The counts of its requests."""

@final
class HostShare:
    """The share of a host in a store."""

    __match_args__: tuple[Literal["host"], Literal["share"]]
    def __new__(cls, host: str, share: float) -> Self: ...
    @property
    def host(self) -> str:
        """The name of the host; for URLs without a host, the scheme and a colon."""

    @property
    def share(self) -> float:
        """The approximate share of the host in the store's pages, from 0 to 1."""

@final
class IncompleteGeneration:
    """A generation newer than the generation that is read. It was skipped because it is incomplete."""

    __match_args__: tuple[Literal["generation"], Literal["why"]]
    def __new__(cls, generation: int, why: str) -> Self: ...
    @property
    def generation(self) -> int:
        """The number of the generation."""

    @property
    def why(self) -> str:
        """The missing file, and how much of it is missing."""

@final
class JoinPlan:
    """The plan of a distributed join: independent tasks.

    Tasks are numbered from 0. A plan is made from the counts of `View.histogram` of each store;
    `uncounted` makes a plan without counts. `ranges` is the approximate number of tasks. No task
    takes more than `most` fingerprints, if possible. A plan can be pickled, and equal arguments
    make equal plans on every machine.
    """

    def __new__(cls, histograms: Iterable[bytes], ranges: int, most: int) -> Self: ...
    @property
    def fingerprints(self) -> int:
        """The number of counted fingerprints. A fingerprint in several stores counts several times."""

    @property
    def fingerprints_sent(self) -> int:
        """The total number of distributed fingerprints. Each fingerprint counts once for each of its
        tasks, and takes 8 bytes.
        """

    @property
    def k(self) -> int:
        """The distance of the join."""

    def __len__(self) -> int:
        """The number of tasks."""

    def join(
        self,
        task: int,
        first: Iterable[bytes | bytearray | memoryview],
        second: Iterable[bytes | bytearray | memoryview],
        *,
        memory_bytes: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Stream[NearPair]:
        """Finds the pairs of a task among its fingerprints from `View.partition`: the fingerprints of
        its first and of its second piece.

        The fingerprints may be in any order. Equal fingerprints, which come from several stores,
        count as one. `memory_bytes` (256 MiB) limits the memory in addition to the fingerprints,
        and `threads` is the number of threads (as many as there are cores). Runs in the background,
        and waits for the reader of the pairs. The task ends when the stream is closed.
        """

    def size(self, task: int) -> int:
        """The number of fingerprints that are distributed to a task."""

    @staticmethod
    def uncounted(k: int, tasks: int) -> JoinPlan:
        """A join within `k` bits in at most `tasks` tasks, each of which can have all fingerprints, so
        that no counts are needed.

        Each task finds the pairs of some of the parts, so there are no more tasks than parts.
        """

@final
class JoinedPair:
    """Two near fingerprints among the input, by their positions."""

    __match_args__: tuple[Literal["left"], Literal["right"], Literal["fingerprints"], Literal["distance"]]
    def __new__(cls, left: int, right: int, fingerprints: tuple[int, int], distance: int) -> Self: ...
    @property
    def left(self) -> int:
        """The position of the earlier fingerprint in the input, counted from 0."""

    @property
    def right(self) -> int:
        """The position of the later fingerprint."""

    @property
    def fingerprints(self) -> tuple[int, int]:
        """The two fingerprints, the earlier one first."""

    @property
    def distance(self) -> int:
        """The distance of the fingerprints in bits, 0 to 64."""

@final
class JournalView:
    """The contents of the journal: operations that no segment has yet."""

    __match_args__: tuple[
        Literal["first_operation"],
        Literal["last_operation"],
        Literal["operations"],
        Literal["pages"],
        Literal["times"],
        Literal["verdicts"],
        Literal["restated"],
        Literal["weights"],
        Literal["classes"],
        Literal["etags"],
        Literal["targets"],
        Literal["forgotten"],
    ]
    def __new__(
        cls,
        first_operation: int,
        last_operation: int,
        operations: int,
        pages: int,
        times: tuple[datetime, datetime] | None,
        verdicts: VerdictCounts,
        restated: int,
        weights: int,
        classes: int,
        etags: int,
        targets: int,
        forgotten: int,
    ) -> Self: ...
    @property
    def first_operation(self) -> int:
        """The number of the first operation in the journal; 0 if the journal is empty."""

    @property
    def last_operation(self) -> int:
        """The number of the last operation in the journal; 0 if the journal is empty."""

    @property
    def operations(self) -> int:
        """The number of operations in the journal."""

    @property
    def pages(self) -> int:
        """The number of distinct pages in the operations."""

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """The times of the earliest and the latest visit; `None` without visits."""

    @property
    def verdicts(self) -> VerdictCounts:
        """The results of the visits in the journal."""

    @property
    def restated(self) -> int:
        """The number of contents restated in another epoch."""

    @property
    def weights(self) -> int:
        """The number of weights that were set."""

    @property
    def classes(self) -> int:
        """The number of classes that were set."""

    @property
    def etags(self) -> int:
        """The number of entity tags of contents."""

    @property
    def targets(self) -> int:
        """The number of targets of contents."""

    @property
    def forgotten(self) -> int:
        """The number of forgotten pages and prefixes."""

@final
class KeptPage:
    """The page that is kept in place of a dropped page."""

    __match_args__: tuple[Literal["url"], Literal["distance"]]
    def __new__(cls, url: str, distance: int) -> Self: ...
    @property
    def url(self) -> str:
        """The page that is kept."""

    @property
    def distance(self) -> int:
        """The number of bits in which the fingerprints of the two pages differ."""

@final
class LastChange:
    """The last change of a page, or its last return to an earlier version."""

    __match_args__: tuple[Literal["time"], Literal["distance"]]
    def __new__(cls, time: datetime, distance: int | None) -> Self: ...
    @property
    def time(self) -> datetime:
        """The time of the change if known, or else of the visit that found the change."""

    @property
    def distance(self) -> int | None:
        """The Hamming distance to the version before, if known."""

@final
class LearnedPriors:
    """Priors for the change rates of pages, learned from all pages of a store. For the keyword
    `learned` of `due`.

    If you query often, you can reuse priors for an hour. Priors are valid only for the store from
    which they were learned.
    """

    @property
    def pages(self) -> int:
        """The number of pages with comparisons from which the priors were learned: all such pages, or
        the pages in a sample of a million.
        """

    def __eq__(self, other: object, /) -> bool: ...

@final
class Likelihood:
    """The likelihood of each of 64 rates for the comparisons of a page, of which there may be none.

    Each item is a `Comparison`, or a pair of a `Comparison` and its count. A count may combine
    several equal comparisons, or be 0.5 for an uncertain comparison. Linear in the number of
    comparisons. Raises `InvalidOptionError` if a count is negative, or exceeds a thousand million.
    """

    def __new__(cls, comparisons: Iterable[Comparison | tuple[Comparison, float]] | None = None) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class LoadEpochs:
    """The epochs of a load. The epochs begin when the load is done, in the same commit.

    The object assigns numbers to epochs, for the observations of one load. Pass the object to the
    load as `epochs`. Epochs may be added even while the load reads its observations. If the load
    fails, the epochs do not begin. The name of an existing epoch means the existing epoch.
    """

    def __new__(cls) -> Self: ...
    def described(
        self,
        name: str,
        *,
        reserved: int = 0,
        role: _types.EpochRole | None = None,
        bands: _types.EpochBands | None = None,
        begun: int = 0,
        ended: bool = False,
    ) -> int:
        """The number in the load of an epoch of another store, with these properties.

        `reserved` is the number of leading bits of the epoch's fingerprints for metadata. The other
        arguments are the options of the epoch, the number of visits that the other store had when
        the epoch began, and whether the epoch has ended in the other store. Add the epoch's table
        with `table`.
        """

    def named(
        self, name: str, *, role: _types.EpochRole | None = None, bands: _types.EpochBands | None = None
    ) -> int:
        """The number in the load of the epoch with this name, for external fingerprints.

        A new epoch begins if the store has no epoch with this name. Raises `InvalidArgumentError`
        for a name that is empty or has control characters, or that was used before with other
        options.
        """

    def of(self, other: View) -> list[int]:
        """The numbers of another store's epochs in this load, in the order of the epochs.

        The tables of the epochs are included. An epoch that has ended in the other store also ends
        in this store, unless pages of this store use it.
        """

    def origin(
        self,
        origin: Origin | str,
        *,
        role: _types.EpochRole | None = None,
        bands: _types.EpochBands | None = None,
    ) -> int:
        """The number in the load of an epoch whose fingerprints simkeep makes.

        `origin` is an `Origin`, or the name of its recipe. A new epoch begins if the store has no
        epoch with the name of the origin. The table of
        document frequencies, if the origin has one, is copied into the store.
        """

    def table(self, epoch: int, table: FrequencyTable) -> None:
        """Adds the table of document frequencies of an epoch of this load.

        The table is copied into the store, unless the store already has it. Raises `EpochError` for
        a number that this object did not assign, and `InvalidArgumentError` if the epoch's name
        belongs to a different table, or to no table.
        """

@final
class Loaded:
    """The result of a load."""

    __match_args__: tuple[
        Literal["observations"],
        Literal["visits"],
        Literal["restated"],
        Literal["weights"],
        Literal["classes"],
        Literal["pages"],
        Literal["new_pages"],
        Literal["segments"],
        Literal["bytes"],
        Literal["begun"],
    ]
    def __new__(
        cls,
        observations: int,
        visits: int,
        restated: int,
        weights: int,
        classes: int,
        pages: int,
        new_pages: int,
        segments: int,
        bytes: int,
        begun: tuple[EpochInfo, ...],
    ) -> Self: ...
    @property
    def observations(self) -> int:
        """The number of observations read."""

    @property
    def visits(self) -> int:
        """Visits that were new to the store."""

    @property
    def restated(self) -> int:
        """Restatements that were new to the store, including second fingerprints of visits."""

    @property
    def weights(self) -> int:
        """Weights that were new to the store, with a visit or without."""

    @property
    def classes(self) -> int:
        """Classes that were new to the store, with a visit or without."""

    @property
    def pages(self) -> int:
        """The number of pages with new visits, restatements, weights or classes."""

    @property
    def new_pages(self) -> int:
        """The number of these pages that were new to the store."""

    @property
    def segments(self) -> int:
        """The number of new segments."""

    @property
    def bytes(self) -> int:
        """The total size of the new segments in bytes."""

    @property
    def begun(self) -> tuple[EpochInfo, ...]:
        """Epochs that began with the load."""

@final
class LoggedOperation:
    """An acknowledged operation."""

    __match_args__: tuple[
        Literal["sequence"],
        Literal["kind"],
        Literal["url"],
        Literal["entry"],
        Literal["prefix"],
        Literal["pages"],
        Literal["visits"],
    ]
    def __new__(
        cls,
        sequence: int,
        kind: OperationKind,
        url: str | None,
        entry: VisitEntry | Restated | PropertyEntry | None,
        prefix: str | None,
        pages: int | None,
        visits: int | None,
    ) -> Self: ...
    @property
    def sequence(self) -> int:
        """The number of the operation."""

    @property
    def kind(self) -> OperationKind:
        """The effect of the operation."""

    @property
    def url(self) -> str | None:
        """The URL of the page; `None` for a forgotten prefix."""

    @property
    def entry(self) -> VisitEntry | Restated | PropertyEntry | None:
        """The new entry of the page: `VisitEntry`, `Restated` or `PropertyEntry`; `None` for a
        forget.
        """

    @property
    def prefix(self) -> str | None:
        """The prefix that was forgotten."""

    @property
    def pages(self) -> int | None:
        """The number of known pages under the prefix."""

    @property
    def visits(self) -> int | None:
        """The number of known visits that were forgotten."""

@final
class Loss:
    """Data that a repair could not recover."""

    __match_args__: tuple[
        Literal["file"],
        Literal["bytes"],
        Literal["operations"],
        Literal["pages"],
        Literal["after_url"],
        Literal["before_url"],
        Literal["why"],
    ]
    def __new__(
        cls,
        file: str,
        bytes: tuple[int, int] | None,
        operations: tuple[int, int | None] | None,
        pages: int | None,
        after_url: str | None,
        before_url: str | None,
        why: str,
    ) -> Self: ...
    @property
    def file(self) -> str:
        """The file that contained the lost data."""

    @property
    def bytes(self) -> tuple[int, int] | None:
        """The byte range of the loss in the file, if known. Nothing outside of this range is lost."""

    @property
    def operations(self) -> tuple[int, int | None] | None:
        """The first and the last operation of the range with the lost data, if known. If `pages` is `None`,
        all operations of the range are lost. The last operation is `None` if the end of the range is
        unknown.
        """

    @property
    def pages(self) -> int | None:
        """The number of lost page records; `None` if a whole file or operations are lost."""

    @property
    def after_url(self) -> str | None:
        """The page before the lost pages in SURT order, if there is one."""

    @property
    def before_url(self) -> str | None:
        """The page after the lost pages in SURT order, if there is one."""

    @property
    def why(self) -> str:
        """The reason, in words."""

@final
class Matches:
    """The result of a search: a collection of near pages."""

    __match_args__: tuple[Literal["near"], Literal["complete"], Literal["within"]]
    def __new__(cls, near: tuple[NearMatch, ...], complete: bool, within: int | None) -> Self: ...
    @property
    def near(self) -> tuple[NearMatch, ...]:
        """The pages, nearest first, then in SURT order."""

    @property
    def complete(self) -> bool:
        """Whether the result has all near pages. If not, the limit, the budget, or a dense region
        of fingerprints cut the search short.
        """

    @property
    def within(self) -> int | None:
        """The distance up to which no page is missing; `None` if even pages with the same
        fingerprint may be missing.
        """

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> NearMatch: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[NearMatch, ...]: ...
    def __iter__(self) -> Iterator[NearMatch]: ...
    def __len__(self) -> int: ...

@final
class Meaning:
    """The meaning of a distance between two versions of a page. As text: "moderately, some 0.5 to
    6 % of its words".
    """

    __match_args__: tuple[Literal["distance"], Literal["band"], Literal["changed"], Literal["text"]]
    def __new__(cls, distance: int, band: Band, changed: tuple[float, float], text: str) -> Self: ...
    @property
    def distance(self) -> int:
        """The distance, in bits."""

    @property
    def band(self) -> Band:
        """The band of the distance."""

    @property
    def changed(self) -> tuple[float, float]:
        """The minimum and the maximum share of changed words, from 0 to 1, in 8 of 10 cases."""

    @property
    def text(self) -> str:
        """The meaning as text for people."""

@final
class Merged:
    """The result of `merge`."""

    __match_args__: tuple[Literal["inputs"], Literal["bytes"]]
    def __new__(cls, inputs: int, bytes: int) -> Self: ...
    @property
    def inputs(self) -> int:
        """The number of merged segments."""

    @property
    def bytes(self) -> int:
        """The number of bytes written."""

@final
class Mirror:
    """Two sites with near pages at many paths."""

    __match_args__: tuple[
        Literal["leader"],
        Literal["follower"],
        Literal["is_mirror"],
        Literal["common"],
        Literal["near"],
        Literal["differing"],
        Literal["share"],
        Literal["lag"],
        Literal["examples"],
    ]
    def __new__(
        cls,
        leader: MirrorSite,
        follower: MirrorSite,
        is_mirror: bool,
        common: int,
        near: int,
        differing: int,
        share: float,
        lag: timedelta | None,
        examples: tuple[MirrorExample, ...],
    ) -> Self: ...
    @property
    def leader(self) -> MirrorSite:
        """The leading site, which had the common version first on more paths than the other site. Paths on
        which both sites are known to have changed decide; after a tie all near paths decide, and then SURT
        order.
        """

    @property
    def follower(self) -> MirrorSite:
        """The following site."""

    @property
    def is_mirror(self) -> bool:
        """Whether the share of near paths reaches the required share."""

    @property
    def common(self) -> int:
        """The number of paths that both sites have."""

    @property
    def near(self) -> int:
        """The number of common paths with near pages. The pages of a path are near if the current version on
        one site is near a version on the other site, current or earlier.
        """

    @property
    def differing(self) -> int:
        """The number of common paths whose pages are not near each other."""

    @property
    def share(self) -> float:
        """The share of near paths in the union of both sites' paths, from 0 to 1."""

    @property
    def lag(self) -> timedelta | None:
        """The lag of the follower: the median delay of the follower's first visit with common
        content. The median is over paths on which both sites were seen to change to the common
        content; `None` if there is no such path.
        """

    @property
    def examples(self) -> tuple[MirrorExample, ...]:
        """A random sample of up to ten common paths."""

@final
class MirrorExample:
    """The two pages of a path that both sites have."""

    __match_args__: tuple[Literal["leader"], Literal["follower"], Literal["distance"]]
    def __new__(cls, leader: str, follower: str, distance: int) -> Self: ...
    @property
    def leader(self) -> str:
        """The page on the leading site."""

    @property
    def follower(self) -> str:
        """The page on the following site."""

    @property
    def distance(self) -> int:
        """The number of differing bits between the current version on one site and the nearest version on the
        other site.
        """

@final
class MirrorSite:
    """A site: a host, or a folder of a host."""

    __match_args__: tuple[Literal["site"], Literal["paths"], Literal["outdated"]]
    def __new__(cls, site: str, paths: int, outdated: int) -> Self: ...
    @property
    def site(self) -> str:
        """The prefix of the site's pages, which ends with `/`."""

    @property
    def paths(self) -> int:
        """The number of paths of the site."""

    @property
    def outdated(self) -> int:
        """The number of near paths on which the site is outdated: its current version is an earlier version of
        the other site.
        """

@final
class Mirrors:
    """Sites that mirror each other."""

    __match_args__: tuple[
        Literal["pairs"],
        Literal["mirrors"],
        Literal["partial"],
        Literal["paths"],
        Literal["without_fingerprint"],
        Literal["sites"],
        Literal["compared"],
    ]
    def __new__(
        cls,
        pairs: tuple[Mirror, ...],
        mirrors: int,
        partial: int,
        paths: int,
        without_fingerprint: int,
        sites: int,
        compared: int,
    ) -> Self: ...
    @property
    def pairs(self) -> tuple[Mirror, ...]:
        """The pairs: mirrors come first. Mirrors, and then other pairs, are in descending order of near pages.
        """

    @property
    def mirrors(self) -> int:
        """The number of mirror pairs, including pairs beyond the limit."""

    @property
    def partial(self) -> int:
        """The number of pairs that are no mirrors but have at least a quarter of the required share. These
        pairs are listed, too.
        """

    @property
    def paths(self) -> int:
        """The number of paths."""

    @property
    def without_fingerprint(self) -> int:
        """The number of pages with content but without a fingerprint of the epoch. Such pages count for no
        path.
        """

    @property
    def sites(self) -> int:
        """The number of sites with the required number of paths."""

    @property
    def compared(self) -> int:
        """The number of pairs of sites whose samples had enough in common to compare them."""

    @staticmethod
    def recall(share: float) -> float:
        """The minimum probability that two large mirroring sites are compared.

        The probability holds for sites where this share of the combined paths leads to the same
        content on both sites.
        """

@final
class NearDuplicate:
    """A near-duplicate of the content that a visit saw."""

    __match_args__: tuple[Literal["url"], Literal["distance"], Literal["fingerprint"], Literal["first"]]
    def __new__(cls, url: str, distance: int, fingerprint: int, first: datetime) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def distance(self) -> int:
        """The Hamming distance between the page's fingerprint and the visit's fingerprint."""

    @property
    def fingerprint(self) -> int:
        """The page's fingerprint, with reserved bits set to 0."""

    @property
    def first(self) -> datetime:
        """The time when the page was first seen with its current content."""

@final
class NearMatch:
    """A page near a fingerprint."""

    __match_args__: tuple[Literal["url"], Literal["distance"], Literal["fingerprint"]]
    def __new__(cls, url: str, distance: int, fingerprint: int) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def distance(self) -> int:
        """The Hamming distance between the page's fingerprint and the searched fingerprint."""

    @property
    def fingerprint(self) -> int:
        """The page's fingerprint, with reserved bits set to 0."""

@final
class NearPair:
    """Two different fingerprints of pages that are near each other."""

    __match_args__: tuple[Literal["left"], Literal["right"], Literal["distance"]]
    def __new__(cls, left: int, right: int, distance: int) -> Self: ...
    @property
    def left(self) -> int:
        """The smaller fingerprint."""

    @property
    def right(self) -> int:
        """The larger fingerprint."""

    @property
    def distance(self) -> int:
        """The number of bits in which the two fingerprints differ: 1 to 64."""

@final
class NewPage:
    """The values of a page without visits, from `Plan.of_new`."""

    __match_args__: tuple[Literal["value"], Literal["rate"], Literal["weight"], Literal["every"]]
    def __new__(cls, value: float, rate: Rate, weight: float, every: timedelta) -> Self: ...
    @property
    def value(self) -> float:
        """The value of a visit, as if the page was last visited the largest interval ago. The value is
        comparable with the value of other pages.
        """

    @property
    def rate(self) -> Rate:
        """The estimated change rate, based on the pages of the same host."""

    @property
    def weight(self) -> float:
        """The weight that the page's rule sets."""

    @property
    def every(self) -> timedelta:
        """The interval between visits."""

@final
class Observation:
    """A visit, for `observe_batch` and `load`. `Observation` takes the arguments of `Store.observe`.

    An observation is validated when it is created, except for rules that need the store: valid URLs
    and epochs.
    """

    def __new__(
        cls,
        url: str,
        at: Time,
        *,
        text: str | None = None,
        html: _types.Html | None = None,
        encoding: str | None = None,
        fingerprint: SupportsIndex | None = None,
        epoch: int | None = None,
        also: tuple[SupportsIndex | None, int] | None = None,
        digest: bytes | bytearray | None = None,
        status: int | None = None,
        modified: Time | None = None,
        etag: bytes | bytearray | None = None,
        canonical: str | None = None,
        bytes: int | None = None,
        conditional: bool = False,
        weight: float | None = None,
        class_: int | None = None,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def at(self) -> datetime:
        """The time of the visit."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @classmethod
    def failed(cls, url: str, at: Time, **keywords: Unpack[_types.WithoutContent]) -> Self:
        """A visit that failed."""

    @classmethod
    def gone(cls, url: str, at: Time, **keywords: Unpack[_types.WithoutContent]) -> Self:
        """A visit that found the page gone."""

    @classmethod
    def not_modified(cls, url: str, at: Time, **keywords: Unpack[_types.NotModified]) -> Self:
        """A visit with unmodified content, by the server's report."""

    @classmethod
    def redirect(cls, url: str, at: Time, to: str, **keywords: Unpack[_types.WithoutContent]) -> Self:
        """A visit that found a redirect to a target, which may be relative to the page."""

@final
class Operations(Stream[LoggedOperation]):
    """The operations in the journal, in the order in which they were acknowledged."""

    @property
    def available(self) -> tuple[int, int] | None:
        """The numbers of the first and the last operation in the journal.

        `None` if the journal is empty. Earlier operations were sealed.
        """

@final
class Optimum:
    """The optimal use of a budget, from `fixed_intervals`, `random_times` or `few_misses`."""

    __match_args__: tuple[Literal["visits_per_day"], Literal["threshold"], Literal["freshness"]]
    def __new__(cls, visits_per_day: tuple[float, ...], threshold: float, freshness: float) -> Self: ...
    @property
    def visits_per_day(self) -> tuple[float, ...]:
        """The visits a day of each page, in input order. The visits of all pages add up to the budget."""

    @property
    def threshold(self) -> float:
        """The marginal value of a visit a day, Λ: equal for all visited pages, in days."""

    @property
    def freshness(self) -> float:
        """The fraction of time that a page is fresh, averaged over the pages by weight, from 0 to 1."""

@final
class Origin:
    """The origin of an epoch's fingerprints: an extractor, a recipe and a table of document
    frequencies.

    `recipe` is the name of a recipe, long or short. `extractor` is the name and version of the
    software that extracts texts; the default is `simkeep.EXTRACTOR`, simkeep's own extractor.
    `table` is for recipes that weigh words by rarity.
    """

    def __new__(
        cls, recipe: str | None = None, *, extractor: str | None = None, table: FrequencyTable | None = None
    ) -> Self: ...
    @property
    def recipe(self) -> str:
        """The name of the recipe."""

    @property
    def extractor(self) -> str | None:
        """The name of the extractor; `None` without an extractor."""

    @property
    def name(self) -> str:
        """The name of the epoch: the extractor, the recipe, and the checksum of the table."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def is_name(name: str) -> bool:
        """Whether an epoch with this name uses a recipe of simkeep."""

@final
class Original:
    """The first of several pages with nearly the same content; see `Outcome.original`."""

    __match_args__: tuple[Literal["url"], Literal["distance"], Literal["by"]]
    def __new__(cls, url: str, distance: int, by: OriginalBy) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the original page."""

    @property
    def distance(self) -> int:
        """The number of bits in which the fingerprint of the original differs from the page's fingerprint."""

    @property
    def by(self) -> OriginalBy:
        """The evidence that the content of the original is nearly the same."""

@final
class Outcome:
    """The outcome of an observation. As text: "changed by 4 bits: moderately, some 0.5 to 6 % of
    its words; near another page".
    """

    __match_args__: tuple[
        Literal["verdict"],
        Literal["by"],
        Literal["distance"],
        Literal["distance_epoch"],
        Literal["to"],
        Literal["meaning"],
        Literal["novel"],
        Literal["priority"],
        Literal["also"],
        Literal["copies"],
        Literal["near"],
        Literal["original"],
        Literal["refers_to"],
        Literal["complete"],
        Literal["text"],
    ]
    def __new__(
        cls,
        verdict: Verdict,
        by: SameBy | None,
        distance: int | None,
        distance_epoch: int | None,
        to: datetime | None,
        meaning: Meaning | None,
        novel: bool,
        priority: float,
        also: bool,
        copies: tuple[ExactCopy, ...],
        near: tuple[NearDuplicate, ...],
        original: Original | None,
        refers_to: Capture | None,
        complete: bool,
        text: str,
    ) -> Self: ...
    @property
    def verdict(self) -> Verdict:
        """The verdict on the page."""

    @property
    def by(self) -> SameBy | None:
        """The reason why the page is known to be the same, if the verdict is `same`."""

    @property
    def distance(self) -> int | None:
        """The distance of the page's fingerprint from the fingerprint of the previous version, in
        bits; `None` if the distance is unknown, or if the page did not change.
        """

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the compared fingerprints."""

    @property
    def to(self) -> datetime | None:
        """The time when the version that the page reverted to was last seen; `None` if the page
        was not reverted.
        """

    @property
    def meaning(self) -> Meaning | None:
        """The meaning of the distance, if there is a distance."""

    @property
    def novel(self) -> bool:
        """Whether the visit saw content that is far from all of the page's last versions.

        True for the first content of the page. Also true if the page changed by more than a minor change of
        its epoch, and is not near an earlier version. Without a distance, for example to a fingerprint of
        another epoch, content is far from every version with another digest. False for a visit that is out
        of order, because such a visit is not compared.
        """

    @property
    def priority(self) -> float:
        """The value of processing the content further, relative to other visits. It is between 0 and the
        page's weight after the visit:

        | verdict | priority |
        |---|---|
        | `New` | the weight |
        | `Changed` or `Reverted` | the weight times the distance / 32, but not more than the weight |
        | either, by an unknown distance | the weight |
        | `Same`, `Unseen`, `Gone`, `Failed`, `Known` | 0 |
        | `OutOfOrder` | 0, because a later version is current |

        So the priority is 0 for a page that was gone and came back unchanged. Two unrelated texts are 32
        bits apart on average. The idea that priority grows with the distance comes from S. Seshasai,
        *Efficient near duplicate document detection for specialized corpora*, MIT 2009, 2.6.1.
        """

    @property
    def also(self) -> bool:
        """Whether the fingerprint in another epoch was stored. A new fingerprint is stored even if the store
        had the visit already.
        """

    @property
    def copies(self) -> tuple[ExactCopy, ...]:
        """Other pages whose current version has the digest of this content (and its fingerprint, in the same
        epoch), in the order in which they were first seen with this digest. The first page is the original,
        unless this page had the content earlier. Content without any fingerprint, such as a PDF, an image
        or a short text, is found by its digest alone. Empty for redirects and content without a digest.
        """

    @property
    def near(self) -> tuple[NearDuplicate, ...]:
        """Near-duplicates: other pages whose current version is near, without the copies. The fingerprints are
        compared in the newest epoch that finds near-duplicates and has two fingerprints to compare. The
        nearest page comes first; equally near pages are in SURT order.
        """

    @property
    def original(self) -> Original | None:
        """The page among `copies` and `near` that ranks before this page and all others, by `Options.rule`: by
        default the page that was first seen with its content. `None` if this page ranks first, or there is
        no other page.

        An indexer keeps the original in place of this page. Together with `priority`, it shows which pages
        need no further processing. The original of a page may itself have an original that is not near this
        page. In clusters such a chain cannot happen, because pages yield only to leaders.
        """

    @property
    def refers_to(self) -> Capture | None:
        """The first visit of any page with exactly this content, as revisit records of archives
        name it; `None` for the first such visit, without a digest, and unless the store was
        opened with `refers_to=True`.
        """

    @property
    def complete(self) -> bool:
        """Whether `copies` and `near` are complete, so that no other page can be the original. If not, the
        lists were cut short for one of the reasons in `Matches.complete`.
        """

    @property
    def text(self) -> str:
        """The outcome as text for people."""

@final
class Outcomes:
    """The outcomes of many observations: a sequence of `Outcome`s, in the order of the observations.

    As Arrow data, the result is a table with a row for each observation: `verdict`, `distance`,
    `to`, `novel`, `priority` and `complete`.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """The data of `batches`, as a stream of Arrow data in a capsule."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Outcome]: ...
    def __iter__(self) -> Iterator[Outcome]: ...
    def __len__(self) -> int: ...
    def batches(self) -> Batches:
        """A row for each observation: `verdict`, `distance`, `to`, `novel`, `priority`, `complete`, and
        `refers_to_url` and `refers_to_time` of the first capture.
        """

    def copies(self) -> Batches:
        """A row for each copy: `observation`, counted from 0, `url` and `first`."""

    def near(self, *, signed: bool = False) -> Batches:
        """A row for each near-duplicate: `observation`, `url`, `distance`, `fingerprint` and `first`.

        The observation is counted from 0. The fingerprint is `int64`, bit for bit, with
        `signed=True`.
        """

@final
class Overview:
    """An overview of a store."""

    __match_args__: tuple[
        Literal["sequence"],
        Literal["pages"],
        Literal["in_force"],
        Literal["gone"],
        Literal["never"],
        Literal["visits"],
        Literal["first"],
        Literal["last"],
        Literal["unsealed_pages"],
        Literal["unsealed"],
        Literal["fingerprints"],
        Literal["commonest_pages"],
        Literal["epochs"],
        Literal["segments"],
        Literal["space"],
        Literal["hosts"],
        Literal["flaw"],
    ]
    def __new__(
        cls,
        sequence: int,
        pages: int,
        in_force: int,
        gone: int,
        never: int,
        visits: int,
        first: datetime | None,
        last: datetime | None,
        unsealed_pages: int,
        unsealed: tuple[int, int] | None,
        fingerprints: int,
        commonest_pages: int,
        epochs: tuple[EpochOverview, ...],
        segments: tuple[SegmentOverview, ...],
        space: tuple[SpaceUsage, ...],
        hosts: tuple[HostShare, ...],
        flaw: Corruption | None,
    ) -> Self: ...
    @property
    def sequence(self) -> int:
        """The number of the last operation."""

    @property
    def pages(self) -> int:
        """Known pages."""

    @property
    def in_force(self) -> int:
        """Pages with current content."""

    @property
    def gone(self) -> int:
        """Pages that are gone."""

    @property
    def never(self) -> int:
        """Pages whose content was never seen."""

    @property
    def visits(self) -> int:
        """Visits to all pages."""

    @property
    def first(self) -> datetime | None:
        """A lower bound of the times of all visits; `None` without visits. The bound is the time of the
        earliest visit, unless a merge dropped this visit because it was forgotten.
        """

    @property
    def last(self) -> datetime | None:
        """An upper bound of the times of all visits; `None` without visits."""

    @property
    def unsealed_pages(self) -> int:
        """Pages with data in the journal that no segment has yet."""

    @property
    def unsealed(self) -> tuple[int, int] | None:
        """The numbers of the first and the last operation in the journal; `None` if the journal is empty."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each epoch in each segment or memtable. Exact for one
        segment and an empty journal.
        """

    @property
    def commonest_pages(self) -> int:
        """The largest number of pages that have or had one fingerprint in one segment."""

    @property
    def epochs(self) -> tuple[EpochOverview, ...]:
        """All epochs, by number."""

    @property
    def segments(self) -> tuple[SegmentOverview, ...]:
        """The live segments, the oldest first."""

    @property
    def space(self) -> tuple[SpaceUsage, ...]:
        """Bytes of the segments by purpose, in descending order."""

    @property
    def hosts(self) -> tuple[HostShare, ...]:
        """The hosts with more than about 2 % of the pages, in descending order of their shares. The shares are
        estimated from 64 pages at equal distances in SURT order, without the journal.
        """

    @property
    def flaw(self) -> Corruption | None:
        """The damage among the 64 sampled pages, if any. With damage, `hosts` is empty."""

@final
class Page:
    """The current state of a page."""

    __match_args__: tuple[
        Literal["url"],
        Literal["visits"],
        Literal["first"],
        Literal["last"],
        Literal["content"],
        Literal["contents"],
        Literal["content_seen"],
        Literal["modified"],
        Literal["gone"],
        Literal["weight"],
        Literal["class_"],
        Literal["etag"],
        Literal["target"],
        Literal["changes"],
    ]
    def __new__(
        cls,
        url: str,
        visits: int,
        first: datetime,
        last: Visit,
        content: Content | None,
        contents: tuple[Content, ...],
        content_seen: datetime | None,
        modified: datetime | None,
        gone: bool,
        weight: float,
        class_: int | None,
        etag: bytes | None,
        target: str | None,
        changes: Changes,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def visits(self) -> int:
        """The number of visits, without restatements."""

    @property
    def first(self) -> datetime:
        """The time of the earliest visit."""

    @property
    def last(self) -> Visit:
        """The latest visit."""

    @property
    def content(self) -> Content | None:
        """The current content, with its fingerprint of the newest epoch that detects changes. `None` if the
        page is gone or its content was never seen.
        """

    @property
    def contents(self) -> tuple[Content, ...]:
        """The current content with each of its fingerprints: one item for each epoch in which the content has
        a fingerprint, or is known to have none; the newest epoch first.
        """

    @property
    def content_seen(self) -> datetime | None:
        """The time when the current content was last seen."""

    @property
    def modified(self) -> datetime | None:
        """The time when the content seen last was last modified: the value to send as `If-Modified-Since`. The
        server reported the time with that content or later. `None` if no content was ever seen, or the
        server did not report a time since.
        """

    @property
    def gone(self) -> bool:
        """Whether the page is gone."""

    @property
    def weight(self) -> float:
        """The importance of the page: the weight that was set last, or 1."""

    @property
    def class_(self) -> int | None:
        """The current class; `None` without a class."""

    @property
    def etag(self) -> bytes | None:
        """The entity tag of the content in force: the value to send as `If-None-Match`. `None` if the server
        sent no entity tag with this content or later.
        """

    @property
    def target(self) -> str | None:
        """The URL to which the content in force points: the target of a redirect, or the canonical URL that
        the content declares. `None` if it names no other page.
        """

    @property
    def changes(self) -> Changes:
        """The change statistics of the page's visits."""

    def conditional_headers(self) -> dict[str, bytes]:
        """The headers that make the next request for the page conditional: `If-None-Match` with
        `etag`, and `If-Modified-Since` with `modified`, each if it is known.

        The server answers such a request with 304 and without the content, if the page still
        has the content that the store knows. No value has a line end or a NUL. A page that is
        gone or was never seen has no such headers. The values are `bytes`, because an entity
        tag need not be text.
        """

@final
class PageCandidacy:
    """Whether the text of a page is worth comparing."""

    __match_args__: tuple[Literal["candidacy"], Literal["location"], Literal["digest"]]
    def __new__(cls, candidacy: Candidacy, location: int | None, digest: bytes | None) -> Self: ...
    @property
    def candidacy(self) -> Candidacy:
        """Whether the page is a candidate."""

    @property
    def location(self) -> int | None:
        """The location of the page, for `add`, if the page is a candidate."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the compared content, if known. Do not add another text of the page, for
        example an older version.
        """

@final
class PageCluster:
    """The cluster of a page."""

    __match_args__: tuple[Literal["cluster"], Literal["pages"], Literal["complete"]]
    def __new__(cls, cluster: Cluster, pages: tuple[ClusteredPage, ...], complete: bool) -> Self: ...
    @property
    def cluster(self) -> Cluster:
        """The cluster."""

    @property
    def pages(self) -> tuple[ClusteredPage, ...]:
        """The pages of the cluster: the leader first, then the other pages by distance and in SURT order."""

    @property
    def complete(self) -> bool:
        """Whether this cluster equals the cluster of the page in `clusters`. If not, the searches
        around the page were cut short: another page may be the leader, or pages may be missing.
        """

@final
class PageFate:
    """The decision whether a page is dropped."""

    __match_args__: tuple[Literal["fate"], Literal["digest"]]
    def __new__(cls, fate: Fate, digest: bytes | None) -> Self: ...
    @property
    def fate(self) -> Fate:
        """Whether the page is kept or dropped."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the compared content, if the page is dropped and has a digest. Other
        content of the page, for example an older version, may have no kept near-duplicate.
        """

@final
class PagePair:
    """Two pages with fingerprints that are equal or near each other."""

    __match_args__: tuple[Literal["left"], Literal["right"], Literal["distance"]]
    def __new__(cls, left: PairedPage, right: PairedPage, distance: int) -> Self: ...
    @property
    def left(self) -> PairedPage:
        """The page with the smaller fingerprint; if the fingerprints are equal, the first page in SURT order.
        """

    @property
    def right(self) -> PairedPage:
        """The page with the larger fingerprint; if the fingerprints are equal, the second page in SURT order.
        """

    @property
    def distance(self) -> int:
        """The number of bits in which the two fingerprints differ."""

@final
class PageRecord:
    """A record of a page, in a segment or in the journal."""

    __match_args__: tuple[
        Literal["segment"],
        Literal["number"],
        Literal["bytes"],
        Literal["entries"],
        Literal["is_first"],
    ]
    def __new__(
        cls, segment: int | None, number: int, bytes: int | None, entries: int, is_first: bool
    ) -> Self: ...
    @property
    def segment(self) -> int | None:
        """The number of the segment; `None` for the journal."""

    @property
    def number(self) -> int:
        """The number of the page in the segment or the journal, in the order of the segment."""

    @property
    def bytes(self) -> int | None:
        """Bytes of the page's record; `None` in the journal."""

    @property
    def entries(self) -> int:
        """The number of entries in this location: visits, restatements, weights and classes."""

    @property
    def is_first(self) -> bool:
        """Whether the page's data begins in this location: data in older segments does not count."""

@final
class PairedPage:
    """One page of a pair."""

    __match_args__: tuple[Literal["url"], Literal["fingerprint"]]
    def __new__(cls, url: str, fingerprint: int) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def fingerprint(self) -> int:
        """The fingerprint of the page, with reserved bits set to 0."""

@final
class Period:
    """The results of the visits in a period."""

    __match_args__: tuple[Literal["start"], Literal["verdicts"]]
    def __new__(cls, start: datetime, verdicts: VerdictCounts) -> Self: ...
    @property
    def start(self) -> datetime:
        """The start of the period."""

    @property
    def verdicts(self) -> VerdictCounts:
        """The results of the visits in the period."""

@final
class Plan:
    """A plan for spending a number of visits a day in the long run: the value threshold for a visit.

    As text, for people: "20 visits a day to 100 pages, each when a visit is worth 4.321: ...". A plan
    uses only the visits that were known when it was made, so make a new plan regularly, for example
    once a day.
    """

    @property
    def freshness(self) -> float:
        """The expected fraction of time for which a page is unchanged since its last visit, from 0 to
        1, averaged over pages.
        """

    @property
    def pages(self) -> float:
        """The number of pages. Above a million, the number is estimated from a sample."""

    @property
    def per_day(self) -> float:
        """The visits a day that the plan was made for."""

    @property
    def rarely_visited(self) -> float:
        """The number of pages that are visited less often than once in 360 days."""

    @property
    def threshold(self) -> float:
        """The value of a visit at which a page is due. The threshold is infinite if the visits do not
        suffice to visit all pages by their latest allowed dates.
        """

    @property
    def visits_per_day(self) -> float:
        """The resulting visits a day: more than planned if pages must be visited more often, and fewer
        if no page may be visited more often.
        """

    def of_new(self, url: str) -> NewPage:
        """The values of a page without visits, from its host and its rule. Reads no data of the store."""

@final
class Policy:
    """A policy for the order of visits, selected by its name.

    The policies are `"value"` (the default), `"crawl-value"`, `"harmonic"`, `"uniform"`,
    `"fixed:7d"`, `"thesis:3,1.5"`, `"nutch:0.4,0.2,0.3"` and `"stormcrawler"`. The first three use
    the value of a visit; `"uniform"` uses the time since the last visit; the other policies use this
    time divided by an interval. The parameters above are the defaults. As text, a policy is its
    name with all parameters. Raises `InvalidArgumentError` for an unknown name.
    """

    __match_args__: tuple[Literal["name"]]
    def __new__(cls, name: str | Policy | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """The name of the policy, with all parameters."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def schedule(self, recent: RecentComparisons) -> Schedule | None:
        """The interval of a page.

        `None` for `"value"`, `"crawl-value"`, `"harmonic"` and `"uniform"`, which have no intervals.
        """

    def score(self, belief: Belief, recent: RecentComparisons, weight: float, days: float) -> float:
        """The score of a page: the page with the highest score is visited first.

        For `"value"`, `"crawl-value"` and `"harmonic"` the score is the weighted value of a visit,
        in days. For `"uniform"` the score is the number of days since the last visit. For the other
        policies the score is the number of days since the last visit divided by the interval, so
        that a page is due at 1. Raises `InvalidOptionError` if the weight is not positive and
        finite.
        """

@final
class Preset:
    """A recipe with a short name."""

    __match_args__: tuple[
        Literal["name"],
        Literal["recipe"],
        Literal["description"],
        Literal["near"],
        Literal["bands"],
    ]
    def __new__(cls, name: str, recipe: str, description: str, near: int | None, bands: Bands) -> Self: ...
    @property
    def name(self) -> str:
        """The short name."""

    @property
    def recipe(self) -> str:
        """The full name of the recipe."""

    @property
    def description(self) -> str:
        """A description of its purpose."""

    @property
    def near(self) -> int | None:
        """The recommended distance for near-duplicates: the largest at which 97 % of the pairs have a
        resemblance of at least .8 (the Jaccard index of runs of five words), measured on versions of terms
        of service. `None` if no distance qualifies.
        """

    @property
    def bands(self) -> Bands:
        """The largest distances of minor and of moderate changes of a page."""

@final
class Prior:
    """The probability of each of 64 rates before the visits of a page are known.

    By default rates spread widely: half of the pages change more often than every two months, one
    in six more often than every eight days, and one in six less often than every 15 months.
    """

    def __new__(cls) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    @staticmethod
    def gamma(shape: float, days: float) -> Prior:
        """The Gamma distribution with this shape and the mean shape/days.

        The distribution is the posterior after `shape` changes in `days` days with an uninformative
        prior. Raises `InvalidOptionError` if the shape is not from 0.01 to a million, or the days
        are not from a millisecond to 4,000,000.
        """

    @staticmethod
    def log_normal(median_per_day: float, width: float) -> Prior:
        """Log-normal rates.

        Half of the rates are above the median, in changes a day, and two thirds are within a factor
        of e^width of the median. Raises `InvalidOptionError` if the median is not positive and
        finite, or the width is not from 0.1 to 100.
        """

@final
class Progress:
    """The progress of a long call, which other threads can read and cancel.

    Use a progress for one call at a time. A cancelled call raises `CancelledError`, usually within
    some milliseconds.
    """

    def __new__(cls) -> Self: ...
    @property
    def done(self) -> int:
        """The amount of work of this stage that is done."""

    @property
    def found(self) -> int:
        """The number of results so far: flaws of a check, pairs of a join."""

    @property
    def fraction(self) -> float | None:
        """The fraction of this stage that is done, from 0 to 1; `None` if unknown."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the call was cancelled."""

    @property
    def stage(self) -> Stage:
        """The stage of the call."""

    @property
    def total(self) -> int | None:
        """The approximate total of this stage; `None` if unknown."""

    def cancel(self) -> None:
        """Cancels the call soon."""

@final
class PropertyEntry:
    """A property of a page: a weight, a class, an entity tag or a target."""

    __match_args__: tuple[
        Literal["time"],
        Literal["weight"],
        Literal["class_"],
        Literal["etag"],
        Literal["target"],
    ]
    def __new__(
        cls, time: datetime, weight: float | None, class_: int | None, etag: bytes | None, target: str | None
    ) -> Self: ...
    @property
    def time(self) -> datetime:
        """The time when the property was set."""

    @property
    def weight(self) -> float | None:
        """The weight, if the property is a weight."""

    @property
    def class_(self) -> int | None:
        """The class, if the property is a class."""

    @property
    def etag(self) -> bytes | None:
        """The entity tag of the content, if the property is an entity tag."""

    @property
    def target(self) -> str | None:
        """The URL to which the content points, if the property is a target: the target of a
        redirect, or the canonical URL.
        """

@final
class Publication:
    """The result of publishing."""

    __match_args__: tuple[
        Literal["generation"],
        Literal["is_new"],
        Literal["sequence"],
        Literal["unsealed"],
        Literal["linked"],
        Literal["copied"],
        Literal["kept"],
        Literal["checked"],
        Literal["unchecked"],
        Literal["replaced"],
        Literal["removed"],
        Literal["removed_files"],
        Literal["older"],
        Literal["forgotten"],
        Literal["not_linked"],
    ]
    def __new__(
        cls,
        generation: int,
        is_new: bool,
        sequence: int,
        unsealed: int,
        linked: FileCount,
        copied: FileCount,
        kept: FileCount,
        checked: FileCount,
        unchecked: FileCount,
        replaced: FileCount,
        removed: tuple[int, ...],
        removed_files: int,
        older: tuple[int, ...],
        forgotten: bool | None,
        not_linked: str | None,
    ) -> Self: ...
    @property
    def generation(self) -> int:
        """The number of the generation."""

    @property
    def is_new(self) -> bool:
        """Whether the generation is new. If not, the newest existing generation already has this state of the
        store.
        """

    @property
    def sequence(self) -> int:
        """The last operation in the generation."""

    @property
    def unsealed(self) -> int:
        """The number of later operations that were acknowledged but are in no segment yet. These operations
        are not published.
        """

    @property
    def linked(self) -> FileCount:
        """Files that are links to files of the store."""

    @property
    def copied(self) -> FileCount:
        """Files that are copies."""

    @property
    def kept(self) -> FileCount:
        """Files that already existed."""

    @property
    def checked(self) -> FileCount:
        """Files that were read and checked: all new files, and some of the kept files."""

    @property
    def unchecked(self) -> FileCount:
        """Kept files that were not read, because they were checked in the last 30 days."""

    @property
    def replaced(self) -> FileCount:
        """Copied files that replaced damaged files."""

    @property
    def removed(self) -> tuple[int, ...]:
        """Older generations that were removed, by number."""

    @property
    def removed_files(self) -> int:
        """The number of files removed because no generation lists them any more."""

    @property
    def older(self) -> tuple[int, ...]:
        """Older generations that still exist, by number. They contain data that was forgotten after they were
        published.
        """

    @property
    def forgotten(self) -> bool | None:
        """Whether anything was forgotten since the oldest generation in `older`. `None` if unknown: a merge
        combined operations of that generation with later operations, and not all of these operations were
        visits.
        """

    @property
    def not_linked(self) -> str | None:
        """The system error that caused files to be copied instead of linked."""

@final
class PublishedFile:
    """A file of a generation."""

    __match_args__: tuple[Literal["name"], Literal["bytes"]]
    def __new__(cls, name: str, bytes: int) -> Self: ...
    @property
    def name(self) -> str:
        """The path of the file within the directory, such as `files/e220a8397b1dcdaf-0000000003-0d640880.seg`.
        A name always refers to the same bytes.
        """

    @property
    def bytes(self) -> int:
        """The size of the file in bytes."""

@final
class RandomPages:
    """Pages with random changes, at random rates that stay the same.

    A seed determines the pages, equally on every machine. `len` is the number of pages. The pages
    take 8 bytes for each change.
    """

    @property
    def rates(self) -> tuple[float, ...]:
        """The rate of each page, in changes a day."""

    def __len__(self) -> int: ...
    @staticmethod
    def by_host(
        hosts: int,
        pages: int,
        *,
        median: float,
        between: float,
        within: float,
        days: float,
        seed: int | None = None,
    ) -> RandomPages:
        """Draws the pages of hosts, with their changes up to a day: `pages` pages of each host.

        The rates of hosts are log-normal around the `median`, in changes a day, with the width
        `between`. The rates of pages are log-normal around the rate of their host, with the width
        `within`. The seed is 1 by default. Raises `InvalidOptionError` if a number is not positive,
        or more than 100 million changes are expected. Ctrl-C abandons the call.
        """

    @staticmethod
    def flat(pages: int, *, days: float, seed: int | None = None) -> RandomPages:
        """Draws pages with their changes up to a day.

        Rates are log-uniform from one change in 400 days to one change in about eight hours. The
        seed is 1 by default. Raises `InvalidOptionError` if there are no pages, or more than 100
        million changes are expected. Ctrl-C abandons the call.
        """

@final
class RankedPage:
    """A selected page with a fingerprint, with its rank."""

    __match_args__: tuple[Literal["url"], Literal["fingerprint"], Literal["class_"], Literal["rank"]]
    def __new__(cls, url: str, fingerprint: int, class_: int | None, rank: bytes) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def fingerprint(self) -> int:
        """The fingerprint of the page, with reserved bits set to 0."""

    @property
    def class_(self) -> int | None:
        """The current class; `None` for a page without a class."""

    @property
    def rank(self) -> bytes:
        """The rank as bytes: lesser bytes rank first, across stores. The bytes contain the input of the rules,
        then the SURT key, then the URL.
        """

@final
class Rate:
    """A change rate with its uncertainty."""

    __match_args__: tuple[Literal["per_day"], Literal["low"], Literal["high"]]
    def __new__(cls, per_day: float, low: float, high: float) -> Self: ...
    @property
    def per_day(self) -> float:
        """The mean of the belief, in changes a day."""

    @property
    def low(self) -> float:
        """The lower bound: the rate is lower with a probability of 5 %."""

    @property
    def high(self) -> float:
        """The upper bound: the rate is higher with a probability of 5 %."""

@final
class Reader(View):
    """A read-only view of a store, which another process may have open for writing. Needs no write
    permission.

    A reader sees all operations that were acknowledged before it was opened or refreshed, and does
    not write to the store's directory. For a published store, `Reader` opens the newest complete
    generation; `Reader.published` opens a generation by its number. A reader may be used in a
    forked process, and is pickled as its path, and reopened. With `plain_reads=True` segments are
    read whole into memory instead of being mapped.
    """

    def __new__(cls, path: str | PathLike[str], *, plain_reads: bool = False) -> Self: ...
    @property
    def path(self) -> Path:
        """The path of the store."""

    @property
    def closed(self) -> bool:
        """Whether the reader was closed."""

    @property
    def fell_back(self) -> bool:
        """Whether commits followed each other too fast to read the journal, so that only sealed
        operations are visible.
        """

    @property
    def generation(self) -> int | None:
        """The number of the generation; `None` for a store."""

    @property
    def incomplete(self) -> IncompleteGeneration | None:
        """The newest generation in the directory, if it is incomplete and an older generation is read.

        An incomplete generation is still being copied, or one of its files was truncated. `None`
        for a store.
        """

    @property
    def written(self) -> datetime | None:
        """The time when this state was the newest, if a writer was active at that time. For a
        generation, the time when it was published.

        `None` if there was no writer.
        """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def behind(self) -> int:
        """The number of acknowledged operations that this reader does not see.

        Costs one small read.
        """

    def close(self) -> None:
        """Releases the files. May be called twice."""

    @staticmethod
    def published(
        path: str | PathLike[str], generation: int | None = None, *, plain_reads: bool = False
    ) -> Reader:
        """Opens a published generation in a directory: the generation with a number, or the newest.

        Takes no lock, and needs only the files of the generation. `refresh` advances to the newest
        generation if the reader was opened without a number; otherwise `refresh` does nothing.
        """

    def refresh(self) -> bool:
        """Advances to the newest state, and returns whether the state changed."""

    def snapshot(self) -> Snapshot:
        """A snapshot of the current view, which does not change when the reader is refreshed."""

    def stats(self) -> Stats:
        """Sizes of the reader's view. Reads no table."""

@final
class RecentComparisons:
    """The last 64 comparisons of a page in order, for policies that depend on the order."""

    def __new__(cls, comparisons: Iterable[Comparison] | None = None) -> Self: ...
    @property
    def changes(self) -> tuple[bool, ...]:
        """Whether each comparison found a change, the oldest first."""

    @property
    def quiet_days(self) -> float:
        """The days from the last known change to the last visit; without a change, from the first
        visit.
        """

    def __eq__(self, other: object, /) -> bool: ...

@final
class Repaired:
    """The result of a repair."""

    __match_args__: tuple[
        Literal["is_whole"],
        Literal["pages"],
        Literal["visits"],
        Literal["lost"],
        Literal["lost_pages"],
        Literal["lost_visits"],
        Literal["damaged_frames"],
        Literal["withheld_pages"],
        Literal["ambiguities"],
        Literal["unnamed_epochs"],
        Literal["flaws"],
        Literal["more_flaws"],
    ]
    def __new__(
        cls,
        is_whole: bool,
        pages: int,
        visits: int,
        lost: tuple[Loss, ...],
        lost_pages: int,
        lost_visits: int,
        damaged_frames: int,
        withheld_pages: int,
        ambiguities: tuple[str, ...],
        unnamed_epochs: tuple[str, ...],
        flaws: tuple[Corruption, ...],
        more_flaws: int,
    ) -> Self: ...
    @property
    def is_whole(self) -> bool:
        """Whether all data was saved, and no forgotten page was restored."""

    @property
    def pages(self) -> int:
        """The number of pages in the new store."""

    @property
    def visits(self) -> int:
        """The number of visits in the new store."""

    @property
    def lost(self) -> tuple[Loss, ...]:
        """The losses, file by file."""

    @property
    def lost_pages(self) -> int:
        """The number of lost page records, as far as they could be counted."""

    @property
    def lost_visits(self) -> int:
        """The number of lost visits, as far as they could be counted."""

    @property
    def damaged_frames(self) -> int:
        """The number of frames of the journal with a wrong checksum. Their operations are among the lost ones.
        """

    @property
    def withheld_pages(self) -> int:
        """The number of pages with entries that were left out, because a lost operation may have forgotten
        them.
        """

    @property
    def ambiguities(self) -> tuple[str, ...]:
        """The lost operations that may have forgotten pages which the new store has. Only with
        `keep_forgotten`.
        """

    @property
    def unnamed_epochs(self) -> tuple[str, ...]:
        """Epochs whose names could not be read, by their new names."""

    @property
    def flaws(self) -> tuple[Corruption, ...]:
        """The first flaws found, whether or not they lost data."""

    @property
    def more_flaws(self) -> int:
        """The number of further flaws."""

@final
class Replay:
    """Pages of a store with their histories, for `simkeep.recrawl.crawl`.

    Each version is current from the visit that found it until the visit that found the next
    version. `len` is the number of pages.
    """

    @property
    def first(self) -> datetime:
        """The time of the first visit to any page with content, which is day 0; the start of 1970 if
        there are no pages.
        """

    @property
    def last(self) -> datetime:
        """The time of the last visit to any page with content."""

    @property
    def of(self) -> int:
        """The number of pages with content from which the pages were selected."""

    def __len__(self) -> int: ...

@final
class RequestCounts:
    """Counts of requests."""

    __match_args__: tuple[
        Literal["requests"],
        Literal["conditional"],
        Literal["transferred"],
        Literal["not_modified"],
        Literal["unchanged"],
        Literal["conditional_unchanged"],
        Literal["unchanged_dated"],
        Literal["unchanged_redated"],
        Literal["copies"],
        Literal["honored"],
    ]
    def __new__(
        cls,
        requests: int,
        conditional: int,
        transferred: Bodies,
        not_modified: Bodies,
        unchanged: Bodies,
        conditional_unchanged: int,
        unchanged_dated: int,
        unchanged_redated: int,
        copies: Bodies,
        honored: float | None,
    ) -> Self: ...
    @property
    def requests(self) -> int:
        """The number of visits."""

    @property
    def conditional(self) -> int:
        """The number of conditional requests. A request that got "not modified" was conditional, unless it has
        the status 200: then it is an archive's record that repeats an unknown original.
        """

    @property
    def transferred(self) -> Bodies:
        """The bodies that were transferred, without redirects."""

    @property
    def not_modified(self) -> Bodies:
        """The bodies that were not transferred, because the server answered "not modified". The length of such
        a body is the length of the page's content.
        """

    @property
    def unchanged(self) -> Bodies:
        """The transferred bodies with the digest of the content before: not worth storing. If the length of
        such a body is unknown, it is the known length of the content before.
        """

    @property
    def conditional_unchanged(self) -> int:
        """The conditional requests among `unchanged`: the server has a validator that changes, or ignores the
        condition.
        """

    @property
    def unchanged_dated(self) -> int:
        """The number of `unchanged` bodies that came with a `Last-Modified`, as did the content
        before.
        """

    @property
    def unchanged_redated(self) -> int:
        """The number of `unchanged_dated` bodies with a newer `Last-Modified`, although the content is the
        same.
        """

    @property
    def copies(self) -> Bodies:
        """The transferred bodies of new versions that were captured before, on any page: not
        worth storing either. Counted only with `copies=True`.
        """

    @property
    def honored(self) -> float | None:
        """The share of conditional requests for unchanged content that were answered "not
        modified", from 0 to 1; `None` without such requests.
        """

@final
class Restated:
    """A fingerprint in another epoch for content that an earlier visit saw."""

    __match_args__: tuple[Literal["time"], Literal["fingerprint"], Literal["digest"], Literal["epoch"]]
    def __new__(cls, time: datetime, fingerprint: int | None, digest: bytes | None, epoch: int) -> Self: ...
    @property
    def time(self) -> datetime:
        """The time when the visit saw the content."""

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint of the content; `None` if the content has no fingerprint."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the content."""

    @property
    def epoch(self) -> int:
        """The epoch of the fingerprint."""

@final
class SampledPage:
    """A sampled page."""

    __match_args__: tuple[Literal["url"], Literal["fingerprint"]]
    def __new__(cls, url: str, fingerprint: int) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def fingerprint(self) -> int:
        """The fingerprint of the page's content, with reserved bits set to 0."""

@final
class Schedule:
    """The state of an interval rule, with the time until the next visit."""

    __match_args__: tuple[Literal["interval_days"], Literal["next_days"]]
    def __new__(cls, interval_days: float, next_days: float) -> Self: ...
    @property
    def interval_days(self) -> float:
        """The interval in days that the next comparison adjusts."""

    @property
    def next_days(self) -> float:
        """The days from the last visit to the next visit. Only `nutch` makes it shorter than the interval."""

@final
class SectionView:
    """A section of a segment."""

    __match_args__: tuple[
        Literal["kind"],
        Literal["part"],
        Literal["epoch"],
        Literal["of_digests"],
        Literal["space"],
        Literal["offset"],
        Literal["bytes"],
        Literal["blocks"],
    ]
    def __new__(
        cls,
        kind: str,
        part: int,
        epoch: int | None,
        of_digests: bool,
        space: Space,
        offset: int,
        bytes: int,
        blocks: int,
    ) -> Self: ...
    @property
    def kind(self) -> str:
        """The kind of the section, as named in the format."""

    @property
    def part(self) -> int:
        """The number of the section among sections of one kind and epoch, for example the number of its
        rotation.
        """

    @property
    def epoch(self) -> int | None:
        """The epoch, for a section of fingerprint tables; `None` for a section of the tables of digests."""

    @property
    def of_digests(self) -> bool:
        """Whether the section belongs to the tables of digests, which find content without a fingerprint."""

    @property
    def space(self) -> Space:
        """The purpose of the section's bytes."""

    @property
    def offset(self) -> int:
        """The byte offset of the section in the file."""

    @property
    def bytes(self) -> int:
        """The length of the section in bytes."""

    @property
    def blocks(self) -> int:
        """The number of 4 KiB blocks in the section; each block has a checksum."""

@final
class SegmentOverview:
    """The numbers of a segment."""

    __match_args__: tuple[
        Literal["id"],
        Literal["level"],
        Literal["first_operation"],
        Literal["last_operation"],
        Literal["pages"],
        Literal["visits"],
        Literal["times"],
        Literal["written"],
        Literal["bytes"],
        Literal["shape"],
        Literal["superseded"],
    ]
    def __new__(
        cls,
        id: int,
        level: int,
        first_operation: int,
        last_operation: int,
        pages: int,
        visits: int,
        times: tuple[datetime, datetime] | None,
        written: datetime,
        bytes: int,
        shape: str | None,
        superseded: float,
    ) -> Self: ...
    @property
    def id(self) -> int:
        """The number of the segment."""

    @property
    def level(self) -> int:
        """The depth of merges: 0 for a sealed segment."""

    @property
    def first_operation(self) -> int:
        """The first operation in the segment."""

    @property
    def last_operation(self) -> int:
        """The last operation in the segment."""

    @property
    def pages(self) -> int:
        """The number of page records."""

    @property
    def visits(self) -> int:
        """The number of visits in the page records."""

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """The earliest and latest possible time of the segment's visits; `None` without visits."""

    @property
    def written(self) -> datetime:
        """The time at which the segment was written."""

    @property
    def bytes(self) -> int:
        """Bytes of the file."""

    @property
    def shape(self) -> str | None:
        """The search structure of the epoch with the most fingerprints: column, rotations or cells; `None`
        without fingerprints.
        """

    @property
    def superseded(self) -> float:
        """The approximate share of superseded records in the segment, from 0 to 1. A record is superseded if a
        newer segment has a record of its page, or if the page was forgotten. A merge combines or drops
        superseded records.
        """

@final
class SegmentStats:
    """Sizes of one segment."""

    __match_args__: tuple[
        Literal["id"],
        Literal["pages"],
        Literal["visits"],
        Literal["fingerprints"],
        Literal["digests"],
        Literal["bytes"],
    ]
    def __new__(
        cls, id: int, pages: int, visits: int, fingerprints: int, digests: int, bytes: int
    ) -> Self: ...
    @property
    def id(self) -> int:
        """The number of the segment."""

    @property
    def pages(self) -> int:
        """The number of page records."""

    @property
    def visits(self) -> int:
        """The number of visits."""

    @property
    def fingerprints(self) -> int:
        """The number of distinct fingerprints, counted once for each epoch."""

    @property
    def digests(self) -> int:
        """The number of distinct digests of content without a fingerprint."""

    @property
    def bytes(self) -> int:
        """The size of the file in bytes."""

@final
class SegmentView:
    """A segment, as described by its file."""

    __match_args__: tuple[
        Literal["id"],
        Literal["bytes"],
        Literal["level"],
        Literal["first_operation"],
        Literal["last_operation"],
        Literal["pages"],
        Literal["visits"],
        Literal["fingerprints"],
        Literal["resets"],
        Literal["page_delta"],
        Literal["visit_delta"],
        Literal["in_force_delta"],
        Literal["gone_delta"],
        Literal["times"],
        Literal["longest_list"],
        Literal["written"],
        Literal["forgotten"],
        Literal["sections"],
        Literal["tables"],
    ]
    def __new__(
        cls,
        id: int,
        bytes: int,
        level: int,
        first_operation: int,
        last_operation: int,
        pages: int,
        visits: int,
        fingerprints: int,
        resets: int,
        page_delta: int,
        visit_delta: int,
        in_force_delta: int,
        gone_delta: int,
        times: tuple[datetime, datetime] | None,
        longest_list: int,
        written: datetime,
        forgotten: int,
        sections: tuple[SectionView, ...],
        tables: tuple[TableView, ...],
    ) -> Self: ...
    @property
    def id(self) -> int:
        """The number of the segment, which is also in the name of its file."""

    @property
    def bytes(self) -> int:
        """Bytes of the file."""

    @property
    def level(self) -> int:
        """The depth of merges: 0 for a sealed segment; for a merged segment, one more than for its inputs."""

    @property
    def first_operation(self) -> int:
        """The first operation in the segment."""

    @property
    def last_operation(self) -> int:
        """The last operation in the segment."""

    @property
    def pages(self) -> int:
        """The number of page records."""

    @property
    def visits(self) -> int:
        """The number of visits in the page records."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each epoch."""

    @property
    def resets(self) -> int:
        """The number of records that hide all older data of their page."""

    @property
    def page_delta(self) -> int:
        """The change that the segment makes to the number of pages of the store. The change is less than the
        number of page records, since some records continue older records.
        """

    @property
    def visit_delta(self) -> int:
        """The change that the segment makes to the number of visits of the store."""

    @property
    def in_force_delta(self) -> int:
        """The change that the segment makes to the number of the store's pages with current content."""

    @property
    def gone_delta(self) -> int:
        """The change that the segment makes to the number of the store's pages that are gone."""

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """The earliest and latest possible time of the segment's visits; `None` without visits."""

    @property
    def longest_list(self) -> int:
        """The largest number of pages that have or had one fingerprint."""

    @property
    def written(self) -> datetime:
        """The time at which the segment was written."""

    @property
    def forgotten(self) -> int:
        """The number of prefixes that the segment records as forgotten."""

    @property
    def sections(self) -> tuple[SectionView, ...]:
        """The sections, in the order of the file."""

    @property
    def tables(self) -> tuple[TableView, ...]:
        """The fingerprint tables, one for each epoch."""

@final
class Shingles:
    """The set of a text's runs of `words` words, 1 to 8 (5), to compute the resemblance of two texts.

    A text with fewer words is one run. `len` is the number of runs. Takes 8 bytes for each run, and
    sorts the runs.
    """

    def __new__(cls, text: str, words: int | None = None) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def common(self, other: Shingles) -> int:
        """The number of common runs. Linear in the size of both sets."""

    def containment(self, other: Shingles) -> float:
        """The share of this text's runs that are also in the other set, from 0 to 1. Linear in the
        size of both sets.
        """

    def resemblance(self, other: Shingles) -> float:
        """The resemblance: common runs as a share of the union, from 0 to 1. Linear in the size of
        both sets.
        """

@final
class SimulationResult:
    """Averages over the discovered pages of a simulated crawl and the measured time."""

    __match_args__: tuple[
        Literal["freshness"],
        Literal["near_freshness"],
        Literal["staleness"],
        Literal["divergence"],
        Literal["visits_per_day"],
    ]
    def __new__(
        cls,
        freshness: float,
        near_freshness: float,
        staleness: float,
        divergence: float,
        visits_per_day: float,
    ) -> Self: ...
    @property
    def freshness(self) -> float:
        """The fraction of time in which the last seen version was the current version."""

    @property
    def near_freshness(self) -> float:
        """The fraction of time in which the last seen version differed from the current version by at most a
        minor change.
        """

    @property
    def staleness(self) -> float:
        """The harmonic number of the changes missed since the last visit, 1 + ½ + ⅓ + …, averaged over
        time. LambdaCrawl uses this number as its penalty.
        """

    @property
    def divergence(self) -> float:
        """The fraction of the 64 bits in which the last seen version differed from the current version,
        averaged over time.
        """

    @property
    def visits_per_day(self) -> float:
        """The visits a day."""

@final
class Snapshot(View):
    """A snapshot of a store: later observations, merges and forgets do not affect it.

    The files of a snapshot are kept until it is released.
    """

@final
class SpaceUsage:
    """The number of bytes for a purpose."""

    __match_args__: tuple[Literal["of"], Literal["bytes"]]
    def __new__(cls, of: Space, bytes: int) -> Self: ...
    @property
    def of(self) -> Space:
        """The purpose."""

    @property
    def bytes(self) -> int:
        """The number of bytes."""

@final
class StalePage:
    """A page whose current version has a fingerprint, but no fingerprint of the requested epoch."""

    __match_args__: tuple[Literal["url"], Literal["time"], Literal["content"]]
    def __new__(cls, url: str, time: datetime, content: Content) -> Self: ...
    @property
    def url(self) -> str:
        """The URL of the page."""

    @property
    def time(self) -> datetime:
        """The time when the current version was last seen. A restatement needs this time."""

    @property
    def content(self) -> Content:
        """The current version, with its fingerprint in the newest epoch that has one."""

@final
class Stats:
    """Sizes of a store."""

    __match_args__: tuple[
        Literal["pages"],
        Literal["visits"],
        Literal["unsealed_visits"],
        Literal["segments"],
        Literal["epochs"],
        Literal["epoch_visits"],
        Literal["epoch_due"],
        Literal["segment_bytes"],
        Literal["catalog_bytes"],
        Literal["sequence"],
        Literal["merge_error"],
    ]
    def __new__(
        cls,
        pages: int,
        visits: int,
        unsealed_visits: int,
        segments: tuple[SegmentStats, ...],
        epochs: tuple[EpochInfo, ...],
        epoch_visits: int,
        epoch_due: bool,
        segment_bytes: int,
        catalog_bytes: int,
        sequence: int,
        merge_error: str | None,
    ) -> Self: ...
    @property
    def pages(self) -> int:
        """The number of known pages."""

    @property
    def visits(self) -> int:
        """The number of known visits."""

    @property
    def unsealed_visits(self) -> int:
        """The number of visits that are in no segment yet."""

    @property
    def segments(self) -> tuple[SegmentStats, ...]:
        """The live segments, the oldest first."""

    @property
    def epochs(self) -> tuple[EpochInfo, ...]:
        """The epochs, by number."""

    @property
    def epoch_visits(self) -> int:
        """The number of visits since the newest epoch in use began."""

    @property
    def epoch_due(self) -> bool:
        """Whether a new epoch is recommended."""

    @property
    def segment_bytes(self) -> int:
        """Bytes of the live segments."""

    @property
    def catalog_bytes(self) -> int:
        """Bytes of the catalog and its journal."""

    @property
    def sequence(self) -> int:
        """The number of the last acknowledged operation."""

    @property
    def merge_error(self) -> str | None:
        """The error of the last background merge, if the merge failed because the disk was full or a segment
        is damaged. The store tries again.
        """

@final
class Store(View):
    """A store that is open for writing.

    Threads may share a store; their concurrent observations become durable together. A store
    belongs to the process that opened it; in a forked process every call raises `ForkedError`.
    Close the store, or use it in a `with` statement.
    """

    def __new__(cls, *_args: Never, **_options: Never) -> Self:
        """Raises an error that names the ways to open a store."""

    @property
    def closed(self) -> bool:
        """Whether the store was closed."""

    @property
    def path(self) -> Path:
        """The path of the store."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _class: type[BaseException] | None = None,
        raised: BaseException | None = None,
        _traceback: TracebackType | None = None,
    ) -> None: ...
    def backup(
        self, to: str | PathLike[str], *, copy: bool = False, progress: Progress | None = None
    ) -> BackedUp:
        """Makes a backup of the store in another directory, or updates it. Ctrl-C ends the call."""

    def begin_epoch(
        self,
        origin: Origin | str,
        *,
        role: _types.EpochRole | None = None,
        bands: _types.EpochBands | None = None,
    ) -> int:
        """Begins an epoch of fingerprints that simkeep makes, and returns its number.

        `origin` is an `Origin`, or the name of its recipe. The new epoch becomes the newest of its
        role. The table of document frequencies of the epoch
        is copied into the store.
        """

    def close(self) -> None:
        """Makes all observations durable, ends the background work and releases the lock. May be
        called twice.
        """

    def compact(self, *, progress: Progress | None = None) -> Compacted:
        """Makes the store as small as possible.

        Costs reading and writing the store, and its size in free space meanwhile. Ctrl-C ends the
        call.
        """

    def copy_from(
        self,
        other: View,
        *,
        memory_bytes: int | None = None,
        segment_pages: int | None = None,
        progress: Progress | None = None,
    ) -> Loaded:
        """Loads all entries of another store, with its epochs and their tables. Ctrl-C ends the call."""

    @staticmethod
    def create(path: str | PathLike[str], **options: Unpack[_types.Options]) -> Store:
        """Creates a store in a new or empty directory, and opens it.

        Raises `AlreadyExistsError` if there is already a store. Takes the options of
        `open_or_create`.
        """

    @staticmethod
    def create_from(
        path: str | PathLike[str],
        observations: _types.Rows,
        *,
        url: str | None = None,
        text: str | None = None,
        html: str | None = None,
        at: Time | str | None = None,
        origin: Origin | str | None = None,
        epochs: LoadEpochs | None = None,
        memory_bytes: int | None = None,
        segment_pages: int | None = None,
        progress: Progress | None = None,
        **options: Unpack[_types.Options],
    ) -> tuple[Store, Loaded]:
        """Creates a store from a load, and returns the open store and the counts of the load.

        The result is a pair: `store, loaded = Store.create_from(path, observations)`. The store is
        created with all observations, or not at all.

        Takes the arguments of `load` and `create`. `origin`, an `Origin` or the name of a recipe,
        makes the fingerprints of texts among the observations, instead of the default recipe; the
        first epoch of the store is the epoch of `origin`. No file is created before the first
        observation arrives. Ctrl-C ends the call, and leaves at most empty directories.

        Raises `AlreadyExistsError` if there is already a store, and the errors of `load`.
        """

    def end_epoch(self, epoch: int, *, left: int | None = 0) -> None:
        """Ends an epoch permanently.

        Fails if more than `left` pages would have no comparable fingerprint; `None` means no limit.
        """

    def failed(self, url: str, at: Time, **known: Unpack[_types.WithoutContent]) -> Outcome:
        """Reports a visit that failed. The current content stays current.

        Keywords: the keywords of `gone`.
        """

    def flush(self) -> None:
        """Makes all acknowledged operations durable. Needed only with `durability="flush"`."""

    @overload
    def forget(self, url: str, *, under: None = None) -> Forgotten:
        """Forgets all observations so far of a page, or of all pages `under` a prefix. A prefix with a
        host or a path also covers pages that match it except for the user in their URL.

        The forgotten data is hidden from every result at once. Its bytes leave the files when
        merges rewrite them.
        """

    @overload
    def forget(self, url: None = None, *, under: str) -> Forgotten: ...
    def gone(self, url: str, at: Time, **known: Unpack[_types.WithoutContent]) -> Outcome:
        """Reports a visit that found the page gone.

        Keywords: `status`, `conditional`, `weight`, `class_`.
        """

    def lease_due(
        self, now: Time, budget: int | None, lease: _types.Seconds, **like: Unpack[_types.Due]
    ) -> list[Decision]:
        """Leases the most valuable due pages. Takes the keywords of `due`.

        Leaves out pages already leased and pages with no value. A lease ends when its page is
        observed in any way or released, or when the `now` of a later call is past its end. Threads
        may call this method concurrently. Leases are in memory only: after the store is reopened,
        no page is leased. At most `leases_max` pages are leased.
        """

    def load(
        self,
        observations: _types.Rows,
        *,
        url: str | None = None,
        text: str | None = None,
        html: str | None = None,
        at: Time | str | None = None,
        epochs: LoadEpochs | None = None,
        memory_bytes: int | None = None,
        segment_pages: int | None = None,
        progress: Progress | None = None,
    ) -> Loaded:
        """Loads an existing corpus: any number of observations in any order, in the form that
        `observe_batch` takes.

        A load runs no searches, and memory is bounded. Either all observations are stored, or none.
        If observations have fingerprints, a load is some four times as fast as `observe_batch`.
        Readers are not blocked. `epochs` are the epochs that the load adds. Ctrl-C ends the call.

        For a table, `url`, `text`, `html` and `at` name the columns of URLs, texts, pages and
        times, if they have other names; `at` may also be a single time for all visits. Other
        columns are ignored.

        Raises `LoadRejectedError` with the number of the first observation that the store rejects,
        counted from 1, and exceptions of the iterable.
        """

    def merge(self, *, progress: Progress | None = None) -> Merged:
        """Merges all segments into a single segment. Merges also happen automatically.

        Costs reading and writing the store. Ctrl-C ends the call, and leaves the store unchanged.
        """

    def not_modified(self, url: str, at: Time, **known: Unpack[_types.NotModified]) -> Outcome:
        """Reports a visit with unmodified content, by the server's report.

        Keywords: the keywords of `gone`, `digest`, `modified` and `etag`.
        """

    def observe(
        self,
        url: str,
        at: Time,
        *,
        text: str | None = None,
        html: _types.Html | None = None,
        encoding: str | None = None,
        fingerprint: SupportsIndex | None = None,
        epoch: int | None = None,
        also: tuple[SupportsIndex | None, int] | None = None,
        digest: bytes | bytearray | None = None,
        status: int | None = None,
        modified: Time | None = None,
        etag: bytes | bytearray | None = None,
        canonical: str | None = None,
        bytes: int | None = None,
        conditional: bool = False,
        weight: float | None = None,
        class_: int | None = None,
    ) -> Outcome:
        """Reports a visit that saw content, and returns the state of the page, and the similar pages.

        The content is a `text`; or `html`, as `str` or as `bytes`; or an external `fingerprint` of
        an `epoch` (by default the epoch of verdicts), optionally with the fingerprint of another
        epoch as `also=(fingerprint, epoch)`. The `encoding` of `bytes` is the encoding from the
        server, or the Content-Type as received, several values joined by commas. A text of fewer
        than eight words gets no fingerprint. See `text_epochs` for stores that accept no text.

        `digest` is any 16 bytes that identify the exact content. A text without a digest gets the
        digest that the tool gives to texts: the first half of the SHA-1 of its bytes in UTF-8. HTML
        without a digest gets none; the tool's digest of a page is `sha1(body).digest()[:16]` for the
        body as the server sent it. `status` is the HTTP status;
        `modified` is the server's time of the last modification; `weight` and `class_` apply until
        new values are set. With a digest alone, searches no longer find the page: for unchanged
        content, pass its earlier fingerprint.

        `etag` is the value of the header `ETag`, with its quotes, to send as `If-None-Match` later;
        a value of more than 128 bytes is not kept. `canonical` is the canonical URL that the content
        declares; it may be relative to the page, and is kept if it is the `http` or `https` URL of
        another page. By default, it is the first valid `<link rel=canonical>` in the head of `html`.
        `bytes` is the number of bytes of the content as transferred. `conditional` is
        whether the request had `If-None-Match` or `If-Modified-Since`.

        The visit is durable when the call returns, unless the store was opened with another
        durability. Costs some microseconds, and a share of a commit: two or three syncs for all
        concurrent calls.
        """

    def observe_batch(
        self,
        observations: _types.Rows,
        *,
        url: str | None = None,
        text: str | None = None,
        html: str | None = None,
        at: Time | str | None = None,
    ) -> Outcomes:
        """Reports many visits. Each verdict takes the earlier visits into account.

        The visits are `Observation`s, or dictionaries with the arguments of `observe` as keys, and
        optionally `seen`; or a table with `__arrow_c_stream__`, with the same names as columns.
        `url`, `text`, `html` and `at` name the columns of a table, as in `load`. Other columns are
        ignored; a null fingerprint means content without a fingerprint. The visits become durable
        together, and cost much less than single calls. If one visit is invalid, no visit is stored.
        """

    @staticmethod
    def open(path: str | PathLike[str], **options: Unpack[_types.Options]) -> Store:
        """Opens the store in a directory for writing.

        Costs the time to read the journal, at most a second, for any size of the store. Raises
        `NotAStoreError` if there is no store, and `LockedError` if another process has it open.

        Takes the options of `open_or_create`.
        """

    @staticmethod
    def open_or_create(path: str | PathLike[str], **options: Unpack[_types.Options]) -> Store:
        """Opens the store, or creates it if there is no store.

        Options, each with its default in parentheses:

        - `durability`: when an observation is durable. `"each"`, the default: when the call returns.
          `"flush"`: after the next `flush()`. A time: when the call returns, but each commit waits that
          long for other observations.
        - `memtable_observations`: the number of observations kept in memory before they are sealed
          (262,144).
        - `memtable_bytes`: the most bytes that these may take (80 MiB).
        - `seal_after`: the longest time before they are sealed (5 minutes).
        - `merge_fanout`: the number of similar-sized segments that are merged into one (8).
        - `background`: whether to seal and merge in the background (yes).
        - `epoch`: the name of the first epoch of a new store: by default the default recipe, of texts
          that simkeep extracts from HTML, as in Rust, C and the tool.
        - `epoch_bands`: the largest distances of minor and of moderate changes in that epoch.
        - `file_mode`: permissions of the files of a new store (0o600).
        - `epoch_visits`: the number of visits in an epoch after which a new one is recommended
          (1,000,000).
        - `near_distance`: the distance of near-duplicates in outcomes: by default what
          the recipe recommends.
        - `clock_tolerance`: how far a visit may be ahead of this machine's clock. A later one
          raises `TimeError`, unless the store has such a visit already; `None` for visits of any
          time (`None`).
        - `fingerprint_bytes`: the most bytes of the tables for each fingerprint (48).
        - `near_limit`: the most near-duplicates, and the most copies, that an outcome lists (16).
        - `rule`: which of several pages with nearly the same content is the original: a rule such as
          `"https,shortest-url"` (`"first-seen"`).
        - `refers_to`: whether outcomes name the first visit with exactly the same content, for revisit
          records of archives (False).
        - `validators`: whether to keep entity tags, which can identify people (True).
        - `leases_max`: the most pages that may be leased at a time (1,000,000).
        - `near_fingerprints`: the most fingerprints compared in a dense region (4,096).
        - `background_memory_bytes`: the memory for sealing and merging together (256 MiB).
        - `reader_grace`: how long replaced files are kept for readers in other processes (10
          seconds).
        - `lock_wait`: how long to wait while another process writes to the store (5 seconds).
        """

    def publish(
        self,
        to: str | PathLike[str],
        *,
        keep: int | None = None,
        grace: _types.Seconds | None = None,
        copy: bool = False,
        check_kept: bool = False,
        progress: Progress | None = None,
    ) -> Publication:
        """Seals the memtable, and publishes the store in a directory as a generation, which a `Reader`
        opens.

        Takes the keywords of `publish`, and costs as much as `publish`. Ctrl-C ends the call.
        """

    @overload
    def purge(self, url: str, *, under: None = None, progress: Progress | None = None) -> Forgotten:
        """Forgets, and rewrites every file with bytes of forgotten pages.

        Costs a rewrite of each segment with such pages. Ctrl-C ends the call. The pages may then be
        forgotten, with some of their bytes left in files; purge again.
        """

    @overload
    def purge(self, url: None = None, *, under: str, progress: Progress | None = None) -> Forgotten: ...
    def redirect(self, url: str, at: Time, to: str, **known: Unpack[_types.WithoutContent]) -> Outcome:
        """Reports a visit that found a redirect to a target, which may be relative to the page.

        A redirect ends the page's content. The page is unchanged until the target changes. A
        redirect has no copies and no near-duplicates.

        Keywords: the keywords of `gone`.
        """

    def register_epoch(
        self, name: str, *, role: _types.EpochRole | None = None, bands: _types.EpochBands | None = None
    ) -> int:
        """Registers an epoch of external fingerprints by name, and returns its number.

        A known name changes nothing, and costs nothing.
        """

    def release(self, url: str) -> bool:
        """Ends the lease of a page that was not visited, so that it can be leased again.

        Returns whether the page was leased.
        """

    def restate(
        self,
        url: str,
        at: Time,
        fingerprint: SupportsIndex | None,
        epoch: int,
        *,
        digest: bytes | bytearray | None = None,
    ) -> RestateOutcome:
        """Stores a fingerprint in another epoch for the content that a page had at a time.

        A restatement is neither a visit nor a change of the page.

        Returns `"stored"`, `"known"`, or `"missing"` if the page had no content at that time.
        """

    def seal(self) -> None:
        """Writes the memtable as a segment. Sealing also happens automatically."""

    @overload
    def set_property(self, url: str, at: Time, *, weight: float, class_: None = None) -> PropertyOutcome:
        """Sets the weight or the class of a page from a time on, without a visit.

        Returns `"stored"`, `"known"`, or `"missing"` for an unknown page.
        """

    @overload
    def set_property(self, url: str, at: Time, *, weight: None = None, class_: int) -> PropertyOutcome: ...
    def snapshot(self) -> Snapshot:
        """A snapshot of the store: later changes do not affect it."""

    def stats(self) -> Stats:
        """Sizes of the store. Reads no table."""

    def verify(
        self, *, rate: int | None = None, flaws_max: int | None = None, progress: Progress | None = None
    ) -> Verified:
        """Checks the store while it is in use: reads the whole store, and lists every flaw.

        `rate` is the maximum number of bytes to read per second. Damage is part of the result, and
        raises no exception. Ctrl-C ends the call.
        """

    def wait_idle(self) -> None:
        """Waits until the background work is done."""

    def write_batch(
        self, entries: Iterable[tuple[str, Visit | Restated | PropertyEntry | VisitEntry]]
    ) -> list[Outcome | RestateOutcome | PropertyOutcome]:
        """Observes, restates and sets properties in one call. The argument has pairs of a URL and an
        entry, as returned by `observations`.

        Each verdict takes the earlier entries into account. All entries become durable together, in
        one commit or a few. If one entry is invalid, no entry is stored. Returns an `Outcome` for
        each visit. For each other entry, returns whether the entry was stored.
        """

@disjoint_base
class Stream(Generic[_T_co]):
    """An iterator over the content of a store or the results of a query.

    A stream keeps its snapshot until the stream ends or is closed. A `with` statement closes the
    stream.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """The remaining items as a stream of Arrow data in a capsule.

        The first consumer that requests a row takes the items, and ends the iteration.
        """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> _T_co: ...
    def batches(self, *, signed: bool = False) -> Batches:
        """The remaining items as Arrow columns; ends the iteration.

        With `signed=True`, fingerprints have the type `int64`, bit for bit.
        """

    def close(self) -> None:
        """Ends the iteration, and releases its source. May be called twice."""

    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class Survey:
    """A summary of how the pages of a store change.

    All numbers derive from the changes of each page.
    """

    __match_args__: tuple[Literal["pages"], Literal["compared"], Literal["changed"], Literal["deciles"]]
    def __new__(
        cls, pages: float, compared: float, changed: float, deciles: tuple[float, ...] | None
    ) -> Self: ...
    @property
    def pages(self) -> float:
        """The number of pages. Above a million pages, this number and the other numbers are estimates from a
        sample.
        """

    @property
    def compared(self) -> float:
        """The number of pages with at least two compared visits. The comparisons found a change, or a time of
        half a second without a change.
        """

    @property
    def changed(self) -> float:
        """The number of compared pages that were found changed or returned to an earlier version."""

    @property
    def deciles(self) -> tuple[float, ...] | None:
        """Deciles of the estimated changes a day. The first decile is the maximum rate of the slowest tenth of
        the compared pages, the second decile of the slowest two tenths, and so on. `None` without compared
        pages.
        """

@final
class TableComparison:
    """The differences between the weights by two tables for the same pages."""

    __match_args__: tuple[
        Literal["common"],
        Literal["first_only"],
        Literal["second_only"],
        Literal["known"],
        Literal["difference"],
        Literal["idf"],
    ]
    def __new__(
        cls, common: int, first_only: int, second_only: int, known: float, difference: float, idf: float
    ) -> Self: ...
    @property
    def common(self) -> int:
        """The number of features in both tables."""

    @property
    def first_only(self) -> int:
        """The number of features in the first table only."""

    @property
    def second_only(self) -> int:
        """The number of features in the second table only."""

    @property
    def known(self) -> float:
        """The share of the first table's counts (one feature in one document) whose features are in the second
        table as well, from 0 to 1.
        """

    @property
    def difference(self) -> float:
        """The mean difference between the two idf values of a feature, ln(1 + N/df), over the counts of the
        first table.
        """

    @property
    def idf(self) -> float:
        """The mean idf of a feature in the first table, over the counts of the first table."""

@final
class TableView:
    """The fingerprint tables of an epoch in a segment, or the tables of digests."""

    __match_args__: tuple[Literal["epoch"], Literal["fingerprints"], Literal["shape"], Literal["bytes"]]
    def __new__(cls, epoch: int | None, fingerprints: int, shape: str, bytes: int) -> Self: ...
    @property
    def epoch(self) -> int | None:
        """The number of the epoch; `None` for the tables of digests, which find content without a fingerprint.
        """

    @property
    def fingerprints(self) -> int:
        """The number of distinct fingerprints, or of distinct beginnings of digests."""

    @property
    def shape(self) -> str:
        """The search structure: column, rotations or cells."""

    @property
    def bytes(self) -> int:
        """Bytes of the fingerprints and of the tables that search them."""

@final
class Trace:
    """All stored data about a page, with the locations."""

    __match_args__: tuple[
        Literal["page"],
        Literal["surt"],
        Literal["hash"],
        Literal["records"],
        Literal["history"],
    ]
    def __new__(
        cls,
        page: Page,
        surt: str,
        hash: int,
        records: tuple[PageRecord, ...],
        history: tuple[VisitEntry | Restated | PropertyEntry, ...],
    ) -> Self: ...
    @property
    def page(self) -> Page:
        """The current state of the page."""

    @property
    def surt(self) -> str:
        """The SURT of the page, by which pages are sorted, for example `com,example)/terms`."""

    @property
    def hash(self) -> int:
        """The hash of the page's URL, by which the store finds the page. Each store has a different seed."""

    @property
    def records(self) -> tuple[PageRecord, ...]:
        """The locations of data about the page, the newest first."""

    @property
    def history(self) -> tuple[VisitEntry | Restated | PropertyEntry, ...]:
        """The page's visits with their verdicts."""

@final
class VerdictCounts:
    """Counts of visits by result."""

    __match_args__: tuple[
        Literal["new"],
        Literal["same"],
        Literal["changed"],
        Literal["reverted"],
        Literal["gone"],
        Literal["failed"],
        Literal["other"],
        Literal["visits"],
    ]
    def __new__(
        cls, new: int, same: int, changed: int, reverted: int, gone: int, failed: int, other: int, visits: int
    ) -> Self: ...
    @property
    def new(self) -> int:
        """Visits that saw the first content of their page."""

    @property
    def same(self) -> int:
        """Visits that saw the current version."""

    @property
    def changed(self) -> int:
        """Visits that saw a new version."""

    @property
    def reverted(self) -> int:
        """Visits that saw an earlier version."""

    @property
    def gone(self) -> int:
        """Visits that found the page gone."""

    @property
    def failed(self) -> int:
        """Visits that failed."""

    @property
    def other(self) -> int:
        """Visits without a result: late visits, and visits that got "not modified" for a page whose content
        was never seen.
        """

    @property
    def visits(self) -> int:
        """The total number of visits."""

@final
class Verified:
    """The result of a check."""

    __match_args__: tuple[
        Literal["is_sound"],
        Literal["files"],
        Literal["bytes"],
        Literal["pages"],
        Literal["visits"],
        Literal["catalog"],
        Literal["flaws"],
        Literal["more_flaws"],
    ]
    def __new__(
        cls,
        is_sound: bool,
        files: int,
        bytes: int,
        pages: int,
        visits: int,
        catalog: bool,
        flaws: tuple[Corruption, ...],
        more_flaws: int,
    ) -> Self: ...
    @property
    def is_sound(self) -> bool:
        """Whether no flaw was found."""

    @property
    def files(self) -> int:
        """The number of files."""

    @property
    def bytes(self) -> int:
        """The total size of the files in bytes."""

    @property
    def pages(self) -> int:
        """The number of pages; not counted if there are flaws."""

    @property
    def visits(self) -> int:
        """The number of visits; not counted if there are flaws."""

    @property
    def catalog(self) -> bool:
        """Whether the catalog, or the generation of a published store, was read. The catalog is not read if a
        writer in another process has it open.
        """

    @property
    def flaws(self) -> tuple[Corruption, ...]:
        """The first flaws, file by file and block by block."""

    @property
    def more_flaws(self) -> int:
        """The number of further flaws."""

@final
class Version:
    """Consecutive visits to a page with the same result."""

    __match_args__: tuple[
        Literal["kind"],
        Literal["number"],
        Literal["visit"],
        Literal["contents"],
        Literal["last"],
        Literal["visits"],
        Literal["verdict"],
        Literal["by"],
        Literal["distance"],
        Literal["distance_epoch"],
        Literal["to"],
        Literal["back_to"],
        Literal["differing"],
    ]
    def __new__(
        cls,
        kind: VersionKind,
        number: int | None,
        visit: Visit,
        contents: tuple[Content, ...],
        last: datetime,
        visits: int,
        verdict: Verdict,
        by: SameBy | None,
        distance: int | None,
        distance_epoch: int | None,
        to: datetime | None,
        back_to: int | None,
        differing: int | None,
    ) -> Self: ...
    @property
    def kind(self) -> VersionKind:
        """The kind of the row."""

    @property
    def number(self) -> int | None:
        """The number of the version among the versions with content, counted from 1; `None`
        without content.
        """

    @property
    def visit(self) -> Visit:
        """The first visit of the row."""

    @property
    def contents(self) -> tuple[Content, ...]:
        """The content of the version, with the last fingerprint of each epoch; the fingerprint of the first
        visit's epoch comes first. Empty without content.
        """

    @property
    def last(self) -> datetime:
        """The time at which the version was last seen before the content changed."""

    @property
    def visits(self) -> int:
        """The number of visits that saw the version before the content changed."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first visit of the row."""

    @property
    def by(self) -> SameBy | None:
        """The reason why the page is known to have been the same, if the verdict is `same`."""

    @property
    def distance(self) -> int | None:
        """The distance in bits of the version's fingerprint from the fingerprint of the previous
        version, by the verdict.
        """

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the compared fingerprints."""

    @property
    def to(self) -> datetime | None:
        """The time when the version that the page reverted to was last seen."""

    @property
    def back_to(self) -> int | None:
        """The number of the earlier version whose content came back, if any."""

    @property
    def differing(self) -> int | None:
        """The bits in which the version's fingerprint differs from the previous version's, in the epoch of the
        verdict; `None` if there is no previous version, or if the two fingerprints cannot be compared.
        """

@disjoint_base
class View:
    """The queries on a store: the common methods of `Store`, `Reader` and `Snapshot`.

    Each query uses a snapshot of the current state, and does not wait for a writer. Finding a page
    takes some microseconds, for any size of the store.
    """

    @property
    def change_epoch(self) -> int:
        """The number of the epoch of verdicts and their distances."""

    @property
    def near_epoch(self) -> int:
        """The number of the epoch of near-duplicates."""

    @property
    def sequence(self) -> int:
        """The number of the last visible operation."""

    def aliases(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.AliasQuery]
    ) -> AliasSites:
        """Finds differences between URLs that do not matter, site by site.

        Examples are `http` and `https`, with and without `www.`, or a session number. A site is a
        host with and without `www.`; the result has the sites with a rule to report. Of all pages
        that a rule maps to one URL, each but the first forms a pair with the first. A pair is near
        if its two fingerprints are within k bits of each other. A rule holds if it has at least
        `pairs` pairs, and at least a `share` of the pairs is near. `normalised` applies the rules
        of a site.

        Costs a scan of all pages, and up to some microseconds for each page, in a thread that waits
        for the reader and ends when the stream is closed. Takes `memory_bytes` for one site at a
        time.

        Reading raises `InvalidOptionError` for an invalid share, and `EpochError` for an ended or
        unknown epoch.

        Keywords: `share` (0.9); `pairs` (10); `all=True` also reports rules that do not hold;
        `examples`, the maximum number of examples for each rule (3); `epoch`; `under`, a prefix;
        `memory_bytes` for the pages of one site (512 MiB).
        """

    def all_fingerprints(
        self, *, progress: Progress | None = None, **like: Unpack[_types.FingerprintPairs]
    ) -> Stream[int]:
        """All different fingerprints of pages, each once, in no particular order.

        Reads all fingerprints on all cores, and waits for their reader. The call ends when the
        iterator is closed.

        Takes the keywords `epoch`, `under`, `exclude`, `classes`, `at`, `seen`, `ever` and
        `threads` of `near`.
        """

    def all_pairs(
        self,
        k: int | None = None,
        *,
        progress: Progress | None = None,
        **like: Unpack[_types.FingerprintPairs],
    ) -> Stream[NearPair]:
        """All pairs of different fingerprints of pages within k bits of each other, in no particular
        order.

        A join of all fingerprints, which runs on all cores in 256 MiB, and waits for the reader of
        the pairs. The join ends when the iterator is closed.

        Takes the keywords `epoch`, `under`, `exclude`, `classes`, `at`, `seen`, `ever` and
        `threads` of `near`.
        """

    def as_of(self, url: str, at: Time) -> Visit | None:
        """The visit whose content was current at a time; `None` if the page was unknown then, or gone."""

    def balls(
        self,
        k: int | None = None,
        *,
        labels: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        progress: Progress | None = None,
        **like: Unpack[_types.Clustering],
    ) -> tuple[Balls, ...]:
        """Counts the pages within each distance of each page, from 0 to k. Returns one `Balls` for
        each distance.

        With `labels` of pages by URL, pairs are also counted by whether their labels are equal. If
        a page has several labels, the last label is used. Costs the join of `all_pairs`, with
        quadratic time for many near fingerprints; in addition 4 bytes of memory for each
        fingerprint, and the labels. Ctrl-C ends the call. Raises the errors of `clusters`.

        Takes the keywords of `clusters`.
        """

    def by_digest(
        self,
        digest: bytes,
        fingerprint: SupportsIndex | None = None,
        *,
        epoch: int | None = None,
        limit: int | None = ...,
    ) -> Copies:
        """Finds the pages whose current version is exactly a content, the first seen first.

        Content without a fingerprint is found by its digest alone: a PDF, an image, a text that is
        too short. Other content is found through its fingerprint, so pass the `fingerprint`, too.
        `epoch` is the epoch of the fingerprint, by default the epoch that detects changes. Redirects
        are not found. `limit` is the maximum number of pages (16; `None` for all).

        Costs about a microsecond, and less than a microsecond more for each page. Raises
        `EpochError` for a fingerprint of an ended or unknown epoch.
        """

    def candidates(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Clustering]
    ) -> Candidates:
        """The pages with other pages within k bits. The texts of these pages are worth comparing.

        If texts decide among candidates that fingerprints propose, choose a distance that is wide
        enough: within 10 bits, fingerprints of the default recipe miss one in fifty of the texts
        with a resemblance of 0.8. Costs as much as `clusters`, and a join of the pages that are
        alone in their clusters with all other pages. Ctrl-C ends the call. Raises the errors of
        `clusters`.

        Takes the keywords of `clusters`.
        """

    def census(self, *, progress: Progress | None = None) -> Census:
        """Counts the content of the store, in one pass over all its pages and visits.

        Counts hosts, fingerprints, and results of visits by time. Takes some 64 MiB for any size of
        the store. The progress counts pages. Ctrl-C ends the call.

        Raises `CorruptError` if the data that it reads is damaged, `CancelledError` if `progress`
        was cancelled.
        """

    def cluster_changes(
        self,
        since: Time,
        until: Time | None = None,
        k: int | None = None,
        *,
        progress: Progress | None = None,
        **like: Unpack[_types.ClusteringNow],
    ) -> ClusterChanges:
        """Compares the clusters at two times. The result has the pages whose leader changed, with the
        reasons.

        `None` as the later time means now. Forgotten pages are in no cluster at either time. Costs
        two calls of `clusters`, each with half of the memory. Ctrl-C ends the call.

        Raises the errors of `clusters`.

        Takes the keywords of `clusters` except `at`.
        """

    def cluster_of(
        self, url: str, k: int | None = None, **like: Unpack[_types.Clustering]
    ) -> PageCluster | None:
        """The cluster of a page, equal to the cluster that `clusters` would find; `None` if the
        arguments exclude the page.

        The cluster is found by searches around the page: usually a few, in dense regions thousands.
        After 4,096 searches, or 262,144 pages, the call stops, and the result is not `complete`.
        Ctrl-C abandons the call; the searches then end in the background.

        Raises `UrlError` for an invalid URL, and the errors of `clusters`.

        Takes the keywords of `clusters`.
        """

    def clusters(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Clustering]
    ) -> Clusters:
        """Divides all pages into clusters, each with a leader within k bits of all other pages in the
        cluster.

        `k` is from 0 to 64; by default the near distance of the epoch. Pages are taken in the order
        of `rule`. A page leads if no leader is within k bits of it; every other page belongs to the
        nearest leader that ranks before it, or to the first of equally near leaders. So each page
        is in one cluster, and no two leaders are within k bits of each other. The same pages make
        the same clusters, regardless of the order of their visits.

        Content without a fingerprint is in a cluster with the pages of the same digest.

        Costs reading all pages once, sorts of some 40 bytes a page, and joins of about three times
        the number of fingerprints. Takes `memory_bytes`, and scratch files for data that does not
        fit. Other threads run meanwhile. Ctrl-C ends the call.

        Raises `EpochError` for an ended or unknown epoch, `IoError` if a scratch file cannot be
        written, `CancelledError` if `progress` was cancelled.

        Keywords: `rule`, for example "https,shortest-url" ("first-seen"); `at`, the time of the
        versions (the current versions); `epoch`; `under`, a prefix; `classes`; `memory_bytes` (512
        MiB); `scratch`, a directory for scratch files.
        """

    def compaction_estimate(self) -> CompactionEstimate:
        """Estimates the space that `compact` would free.

        The freed space is the data that newer segments repeat, and the fingerprint tables of ended
        epochs. Costs as much as `overview`.
        """

    def comparisons(
        self, url: str, *, return_share: float | None = None
    ) -> list[tuple[Comparison, float]] | None:
        """The comparisons of a page's visits, which determine its change rate.

        Each comparison has a count. `None` for an unknown page. Several intervals of similar length
        are represented by their mean. A return to an earlier version counts as `return_share` of a
        change (0.5). Costs as much as `latest`.
        """

    def connected_components(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Clustering]
    ) -> ConnectedComponents:
        """Computes connected components: pages within k bits of each other are in one component.

        Tools that remove all but one page of each component work this way. A chain of small steps
        may join dissimilar texts; the largest distance within a component shows this. Prefer
        `clusters`.

        Costs the join of `all_pairs`, with quadratic time for many near fingerprints, and 16 bytes
        for each fingerprint in addition to its memory. Ctrl-C ends the call. Raises the errors of
        `clusters`.

        Takes the keywords of `clusters`.
        """

    def count_without_fingerprint(self, epoch: int, *, classes: Iterable[int | None] | None = None) -> int:
        """The number of pages with current content that searches of an epoch do not find. Costs a
        scan.
        """

    def decide(self, url: str, plan: Plan) -> Decision | None:
        """The decision about a page by a plan; `None` for an unknown page.

        The decision equals the decision in the result of `due` with this plan. Costs reading one
        record, and a search for the page's leader. Raises `UrlError` for an invalid URL.
        """

    def diff(self, before: View, under: str | None = None) -> Diff[Difference]:
        """The differences between this store and an earlier state `before`, or any other store.

        Returns the pages under a prefix, or all pages, whose current version differs, in SURT
        order. The verdict about a page is as if its version in this store were the next observation
        in `before`. So a page that changed and reverted does not differ. A page that only this
        store has is new, and a page that only `before` has is gone. Epochs with the same name are
        the same. Reads both stores once, lazily, with one page of each in memory.
        """

    def diff_exact(self, before: View, under: str | None = None) -> Diff[ExactDifference]:
        """The entries that only one of two stores has, of the pages under a prefix, or of all pages.

        Reads both stores once, lazily.
        """

    def diff_since(
        self, since: Time, until: Time | None = None, under: str | None = None
    ) -> Diff[Difference]:
        """The changes of the pages under a prefix, or of all pages, from one time to another,
        inclusive. Without `until`, the later time is the last visit.

        Compares like `diff`, by the visits up to each time. Reads all pages once, lazily.
        """

    def due(self, now: Time, budget: int | None, **like: Unpack[_types.Due]) -> Stream[Decision]:
        """The most valuable pages to visit now, the best first, each with its decision.

        Returns at most `budget` pages; `None` means no limit. Reads lazily.

        Keywords: `policy`, the order of pages ("value"); `under`, a prefix; `per_host`, the maximum
        number of pages of each host; `largest_interval`, the time after which an unvisited page
        comes first (365 days); `rules` for the pages under prefixes; `hints` about changes; `plan`,
        which adds due times; `learned`, the priors for change rates; `memory_bytes`, for selected
        pages (64 MiB).
        """

    def dump(
        self,
        id: int,
        *,
        section: str | None = None,
        part: int | None = None,
        epoch: int | None = None,
        offset: int | None = None,
    ) -> Stream[DumpLine]:
        """The bytes of a segment and their meaning, in the order of the file.

        `section` selects the sections with a name, as in `SectionView.kind`, or "head", "table" or
        "trailer"; `part` and `epoch` select among these sections. `offset` leaves out all lines
        whose bytes end before it in the file. A damaged block becomes a line that reports the
        damage, and raises no exception.

        Reads the file once, from `offset` on, in a thread that waits for the reader of the lines,
        and ends when the stream is closed. Raises `ValueError` if there is no segment with this
        number, and `IoError` if its file cannot be opened.
        """

    def epochs(self) -> list[EpochInfo]:
        """All epochs, by number."""

    def explain(
        self,
        fingerprint: SupportsIndex | None = None,
        k: int | None = None,
        *,
        text: str | None = None,
        html: _types.Html | None = None,
        url: str | None = None,
        **like: Unpack[_types.Query],
    ) -> Explanation:
        """Explains the plan and the cost of a search. Costs about three searches.

        Takes the arguments of `near`. Raises `ValueError` for a text or page without a fingerprint.
        """

    def fingerprints(self, epoch: int) -> int:
        """The number of distinct searchable fingerprints of an epoch.

        A fingerprint counts once for each segment or memtable that has it. Reads no table.
        """

    def hints(self, changes: Iterable[tuple[str, Time]], *, trust: float | None = None) -> Hints:
        """Collects hints: times when pages changed, for example from sitemaps.

        Hints are pairs of a URL and a time, in any order. `trust` is the probability that a hint is
        true, from 0 to 1 (0.8). Reads no data of the store, and takes up to 48 bytes for each
        change while the hints are built.

        Raises `UrlError` or `TimeError` for a URL or a time that no visit can have,
        `InvalidOptionError` for an invalid trust, `LimitError` above a hundred million changes, and
        exceptions of the iterable.
        """

    def histogram(
        self,
        k: int,
        *,
        buckets: int | None = None,
        progress: Progress | None = None,
        **like: Unpack[_types.FingerprintPairs],
    ) -> bytes:
        """Counts the different fingerprints of pages, for a distributed join within `k` bits.

        A `JoinPlan` is made from the counts. Fingerprints are counted in `buckets` buckets for each
        part of the join. `buckets` is a power of two, and exceeds the number of tasks. Reads all
        fingerprints on all cores. Ctrl-C ends the call.

        Takes the keywords `epoch`, `under`, `classes`, `at`, `seen` and `ever` of `near`.
        """

    def histories(
        self, under: str | None = None
    ) -> Stream[tuple[str, list[VisitEntry | Restated | PropertyEntry]]]:
        """The history of every page, or of the pages under a prefix, in SURT order, with its URL.
        Reads lazily.
        """

    def history(self, url: str) -> list[VisitEntry | Restated | PropertyEntry]:
        """All visits of a page in order, each with its verdict, which takes the earlier visits into
        account.

        The result includes restatements and properties. Empty for an unknown page.
        """

    def journal(self) -> JournalView:
        """Summary figures of the journal: the operations that are not in a segment yet.

        Costs a lookup of the page of each operation, and memory for the URLs of the pages. Ctrl-C
        abandons the call.
        """

    def latest(self, url: str) -> Page | None:
        """The current state of a page; `None` for an unknown page."""

    def learn(self) -> LearnedPriors:
        """Estimates a change-rate prior for each host from all pages.

        Reads 28 bytes for each page, or for a sample of a million pages in larger stores; takes
        some 50 ms and 30 MB for a million. Runs once for a snapshot.
        """

    def meaning(self, distance: int, *, epoch: int | None = None) -> Meaning:
        """The meaning of a distance in an epoch; the default is the epoch of verdicts."""

    def mirrors(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.MirrorQuery]
    ) -> Mirrors:
        """Finds the sites that mirror each other: hosts, or folders of hosts, with the same paths.

        A site mirrors another site if at least `paths` paths lead to pages within k bits of each
        other on both, and these paths are at least a `share` of the combined paths of both sites. A
        path is the part of a URL after the site, for any scheme. Reported pairs were compared path
        by path. A sample selects the pairs to compare, so a pair may be missed: `Mirrors.recall` is
        the probability of finding a pair.

        Costs a scan of all pages, and for each compared pair some 100 microseconds and a read of
        the pages of both sites. Takes `memory_bytes`, and scratch files for data that does not fit.
        Other threads run meanwhile. Ctrl-C ends the call.

        Raises `InvalidArgumentError` for inconsistent arguments, `EpochError` for an ended or
        unknown epoch, `IoError` if there is no space for scratch files.

        Keywords: `paths`, the minimum number of common paths (10); `share`, the minimum share of
        the combined paths (0.8); `depth`, the maximum depth of folders in a site (2, at most 16);
        `limit`, the maximum number of pairs (1,000; `None` for all); `at`, `under`, `epoch`,
        `classes`; `memory_bytes` (128 MiB); `scratch`, a directory for scratch files.
        """

    def near(
        self,
        fingerprint: SupportsIndex | None = None,
        k: int | None = None,
        *,
        text: str | None = None,
        html: _types.Html | None = None,
        url: str | None = None,
        limit: int | None = ...,
        under: str | None = ...,
        exclude: str | None = ...,
        classes: Iterable[int | None] | None = ...,
        epoch: int | None = ...,
        at: Time | None = ...,
        seen: tuple[Time, Time] | None = ...,
        ever: bool = ...,
        budget: _types.Seconds | None = ...,
        fingerprints: int = ...,
    ) -> Matches:
        """Finds pages near a fingerprint, a text or a page: nearest first, then in SURT order.

        Exact for every k. Pass a fingerprint, a `text`, a page as `html`, or the `url` of a page of
        the store. The page with this URL is excluded from the result. Texts and HTML get a
        fingerprint by the recipe of the searched epoch. The result for a text of fewer than eight
        words is empty. Raises `InvalidArgumentError` for a text if the fingerprints of the epoch
        are external.

        `k` is the largest distance in bits, 0 to 64; the default is the store's distance of
        near-duplicates. A search usually takes some microseconds.

        Keywords: `limit`, the maximum number of pages to return (16; `None` for all); `under`, a
        prefix; `exclude`, a URL to leave out; `classes`; `epoch`; at most one of `at` (versions
        current at a time), `seen` (versions seen between two times) and `ever=True` (every
        version); `budget`, the maximum duration of the search; `fingerprints`, the maximum number
        of fingerprints compared in a dense region.
        """

    def near_batch(
        self, fingerprints: _types.Fingerprints, /, k: int | None = None, **like: Unpack[_types.BatchQuery]
    ) -> Answers:
        """Finds pages near each of many fingerprints, in order.

        The fingerprints may be a buffer of `uint64` or `int64`, for example an array of numpy, a
        column of Arrow with one of these types, or the result of `fingerprint_batch`. The
        fingerprints are copied. The result for a null or `None` is empty. Searches run concurrently
        on all cores, so each costs a half to a quarter of a single search. Ctrl-C ends the call.

        Raises `EpochError` if `fingerprint_batch` made the fingerprints by another recipe than the
        recipe of the epoch. `fingerprint_batch(texts, recipe=store.origin(store.near_epoch))` uses
        the recipe of the store.

        Takes the keywords of `near`.
        """

    def near_batch_of_pages(
        self,
        pages: Iterable[tuple[SupportsIndex, str]],
        /,
        k: int | None = None,
        **like: Unpack[_types.BatchQuery],
    ) -> Answers:
        """Finds the pages near each of many pages with known fingerprints.

        The argument has pairs of a fingerprint and a URL. Each page is left out of its own result.
        Results are in the order of the pages. Costs as much as `near_batch`; no page is looked up.
        Ctrl-C ends the call.

        Takes the keywords of `near`.
        """

    def near_distance(self, epoch: int | None = None) -> int:
        """The distance of near-duplicates in an epoch.

        The default is the epoch of near-duplicates.
        """

    def nearest(
        self,
        fingerprint: SupportsIndex | None = None,
        count: int | None = None,
        *,
        text: str | None = None,
        html: _types.Html | None = None,
        url: str | None = None,
        **like: Unpack[_types.Query],
    ) -> Matches:
        """Finds the pages nearest to a fingerprint, a text or a page, at any distance.

        `count` is the number of pages (16). Costs up to three times as much as a search within the
        distance of the farthest page.

        Takes `text`, `html`, `url` and the keywords of `near` except `limit`.
        """

    def observations(
        self,
        under: str | None = None,
        *,
        start: str | None = None,
        end: str | None = None,
        in_force: bool = False,
    ) -> Stream[tuple[str, Visit | Restated | PropertyEntry]]:
        """Every observation of all pages, or of the pages under a prefix, in SURT order, with its URL.

        `start` and `end` restrict the result to pages from the URL `start` on, and before the URL
        `end`. With `in_force=True`, the result has only the current observations. Reads lazily.
        """

    def operations(self, after: int | None = None, *, under: str | None = None) -> Operations:
        """The operations in the journal, in the order in which they were acknowledged.

        `after` selects the operations with a greater number. A visit has its verdict. `under`, a
        prefix, selects the operations on pages under the prefix, and on prefixes that overlap it.
        Sealed operations are no longer in the journal. A further fingerprint, a weight or a class
        that was observed with a visit is a separate operation, after the operation of the visit.

        Costs a lookup of the page of each operation, in a thread that waits for the reader, and
        ends when the stream is closed.
        """

    def origin(self, epoch: int) -> Origin | None:
        """The origin of an epoch's fingerprints; `None` if the fingerprints are external.

        Reads the epoch's table of document frequencies, if the epoch has a table.
        """

    def origins(self) -> list[tuple[int, Origin]]:
        """The origins of the fingerprints of new observations, each with the number of its epoch.

        Returns at most two origins: the origin of the epoch of verdicts, then the origin of the
        epoch of near-duplicates. If both are the same epoch, the second origin belongs to the
        newest other epoch that has not ended. Epochs of external fingerprints are left out. Reads
        and checks the tables of document frequencies of the returned epochs. Raises `EpochError` if
        the table of the first epoch is missing, and `CorruptError` if a table is damaged.
        """

    def overview(self) -> Overview:
        """A summary of the store: its figures, epochs and segments, and the use of its bytes.

        The summary estimates the hosts with the most pages. The cost does not grow with the store:
        64 pages are read, and data that is already open. Damaged pages raise no exception, and are
        listed.
        """

    def pace(self, now: Time, *, under: str | None = None) -> float:
        """Returns the recent number of visits a day, as input for a `plan`.

        Counts the visits of the 28 days up to the latest visit, divided by 28, or by the number of
        days since the first visit in the store if there are fewer, but at least by 1. Visits after
        `now` count as visits at `now`. Exact up to 65,536 pages; in larger stores, a sample is
        read.
        """

    def page_pairs(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.PairQuery]
    ) -> Stream[PagePair]:
        """Pairs of pages with fingerprints within k bits of each other, in no particular order.

        By default each fingerprint is represented by its first page, and pages with equal
        fingerprints are not paired.

        Keywords: `equal=True` also pairs pages with the same fingerprint; `pages_per_fingerprint`,
        the maximum number of pages of each fingerprint to pair (1; `None` for all); `epoch`,
        `under`, `classes`.
        """

    def pairs_with(
        self,
        fingerprints: _types.Fingerprints,
        /,
        k: int | None = None,
        *,
        progress: Progress | None = None,
        **like: Unpack[_types.FingerprintPairs],
    ) -> Stream[NearPair]:
        """All pairs of one of these fingerprints and a different fingerprint of a page within k bits.

        Pairs come in no particular order. A pair is returned once for each of its fingerprints that
        is in the argument. The fingerprints in the argument need not belong to a page. `near_batch`
        explains the accepted types.

        Costs a search for each fingerprint, on all cores, and waits for the reader of the pairs.
        The search ends when the iterator is closed. For as many fingerprints as the store has,
        prefer `all_pairs`.
        """

    def partition(
        self,
        plan: JoinPlan,
        *,
        chunk_bytes: int | None = None,
        progress: Progress | None = None,
        **like: Unpack[_types.FingerprintPairs],
    ) -> Stream[tuple[int, bool, bytes]]:
        """Distributes the different fingerprints of pages to the tasks of a join of several stores.

        Returns triples: the number of a task, whether the fingerprints belong to its second piece,
        and the fingerprints as `bytes`, 8 bytes for each, little-endian. Takes the keywords of the
        `histogram` call.

        Each triple has up to `chunk_bytes` (4 MiB), and up to `chunk_bytes` are buffered for each
        task. Reads all fingerprints on all cores, and waits for their reader. The call ends when
        the iterator is closed.
        """

    def plan(self, now: Time, per_day: float | None = None, **like: Unpack[_types.Due]) -> Plan:
        """Plans the use of a number of visits a day in the long run.

        Without `per_day`, the plan uses the recent number of visits a day, as `pace` returns it.

        Computes the value threshold for a visit, and the resulting freshness. Uses `policy`,
        `under`, `rules`, `largest_interval` and `learned`; the other keywords of `due` are ignored.
        Passed to `due`, `lease_due` or `decide`, a plan adds due times to decisions.

        Reads 28 bytes for each page, or for a sample of a million pages in larger stores. Takes up
        to a second and 100 MB. Raises `InvalidOptionError` unless `per_day` is positive and finite.
        """

    def ranked(self, **like: Unpack[_types.Clustering]) -> Stream[RankedPage]:
        """The pages with a fingerprint that `clusters` uses for the same arguments, in SURT order, each
        with its rank.

        Ranks are comparable with the ranks of other stores. The page with the lowest number ranks
        first. Reads lazily, but the rule "canonical" reads all pages once before. Ctrl-C ends this
        reading.

        Takes the keywords of `clusters`.
        """

    def recent(self, url: str) -> RecentComparisons | None:
        """The last comparisons of a page in order, for policies that depend on the order.

        `None` for an unknown page. Costs as much as `latest`.
        """

    def replay(
        self, under: str | None = None, *, pages_max: int | None = None, return_share: float | None = None
    ) -> Replay:
        """The pages that have had content, with their histories, to simulate crawls.

        For `simkeep.recrawl.crawl`. `under` restricts the result to the pages under a prefix. Of
        more than `pages_max` (1,000,000) pages, the pages with the lowest URL hashes are selected.
        A return to an earlier version counts as `return_share` of a change (0.5). Takes the time of
        a scan with all visits, and some 100 bytes for each visit of a selected page. Ctrl-C
        abandons the call.
        """

    def requests(
        self, *, progress: Progress | None = None, **like: Unpack[_types.RequestSurvey]
    ) -> RequestCounts:
        """Counts what the requests of the crawl transferred, and what they saved: bodies that servers
        did not send again (304), unchanged bodies, and copies.

        Reads all histories, twice with `copies=True`. Takes the memory of one history, and scratch
        files of 50 bytes for each version if copies are counted. Other threads run meanwhile. The
        progress counts pages. Ctrl-C ends the call.

        Raises `IoError` if there is no space for scratch files.

        Keywords: `under`, a prefix; `copies=True` also counts copies; `memory_bytes` to sort
        versions (64 MiB); `scratch`, a directory for scratch files.
        """

    def requests_by_host(
        self, *, progress: Progress | None = None, **like: Unpack[_types.RequestSurvey]
    ) -> Stream[HostRequests]:
        """Counts the requests to each host, in SURT order: which hosts deserve conditional requests.

        Costs as much as `requests`, in a thread that waits for the reader and ends when the stream
        is closed. As Arrow data, the stream has a row for each host.

        Takes the keywords of `requests`.
        """

    def scan(
        self, under: str | None = None, *, start: str | None = None, end: str | None = None
    ) -> Stream[Page]:
        """All pages, or the pages under a prefix, in SURT order. In SURT order all pages of a host are
        adjacent.

        `start` and `end` restrict the result to pages from the URL `start` on, and before the URL
        `end`. Reads lazily, some microseconds a page.
        """

    def segment(self, id: int) -> SegmentView | None:
        """The segment with this number, with its sections and fingerprint tables.

        `None` if there is no such segment; `stats` and `overview` have the numbers. Reads no data:
        all figures are in memory since the segment was opened.
        """

    def split(self, ranges: int, *, under: str | None = None) -> list[str]:
        """Splits all pages, or the pages under a prefix, into ranges of about equally many pages, for
        several readers.

        There are at most `ranges` ranges. Returns the URLs at which all ranges but the first begin,
        for `scan` and `observations`. Reads some 32 pages a range.
        """

    def stale(self, epoch: int, *, after: str | None = None) -> Stream[StalePage]:
        """Pages whose current version has a fingerprint, but no fingerprint of this epoch, and should
        be restated.

        `after` restricts the result to pages after this URL in SURT order.
        """

    def survey(self) -> Survey:
        """Summarizes the changes of the pages: the number of changed pages, and the deciles of change
        rates.

        Reads the data of `learn` once more, and reads no pages. Takes up to a second, and 20 MB for
        a million pages.
        """

    def table_file(self, epoch: int) -> str | None:
        """The name of the file in the store's directory with the table of document frequencies of an
        epoch.

        `None` if the epoch has no table, or has ended. Reads no data of the store.
        """

    def text_epochs(self) -> tuple[int, ...]:
        """The numbers of the epochs in which the text of a page gets a fingerprint, at most two.

        The page may be HTML or visible text. If there is no such epoch, raises
        `InvalidArgumentError` with the name of the store's epoch, and with the name of the epoch to
        begin. Reads no data of the store.
        """

    def trace(self, url: str) -> Trace | None:
        """All data about a page, and the places where the data is stored; `None` for an unknown page.

        Costs reading the page's record in each segment that has a record of the page. Raises
        `UrlError` for an invalid URL.
        """

    def warm_up(self, *, progress: Progress | None = None) -> None:
        """Reads the fingerprint tables into memory and checks them, so that searches do not need to.

        Ctrl-C ends the call.
        """

@final
class Visit:
    """A visit to a page: the result and the time."""

    __match_args__: tuple[
        Literal["time"],
        Literal["seen"],
        Literal["fingerprint"],
        Literal["digest"],
        Literal["epoch"],
        Literal["status"],
        Literal["modified"],
        Literal["bytes"],
        Literal["conditional"],
    ]
    def __new__(
        cls,
        time: datetime,
        seen: Seen,
        fingerprint: int | None,
        digest: builtins.bytes | None,
        epoch: int | None,
        status: int | None,
        modified: datetime | None,
        bytes: int | None,
        conditional: bool,
    ) -> Self: ...
    @property
    def time(self) -> datetime:
        """The time of the visit."""

    @property
    def seen(self) -> Seen:
        """The result of the visit."""

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint of the content; `None` if the content has no fingerprint, or if there
        was no content.
        """

    @property
    def digest(self) -> builtins.bytes | None:
        """The digest of the content, 16 bytes. A visit that reported unmodified content also has a
        digest.
        """

    @property
    def epoch(self) -> int | None:
        """The epoch of the fingerprint; `None` if there was no content."""

    @property
    def status(self) -> int | None:
        """The HTTP status, if known."""

    @property
    def modified(self) -> datetime | None:
        """The time when the page was last modified, as the server reported in `Last-Modified`. The time need
        not be plausible.
        """

    @property
    def bytes(self) -> int | None:
        """The number of bytes of the content as transferred, if known."""

    @property
    def conditional(self) -> bool:
        """Whether the request was conditional: it had `If-None-Match` or `If-Modified-Since`."""

@final
class VisitEntry:
    """A visit in a history, with its verdict, which takes the earlier visits into account."""

    __match_args__: tuple[
        Literal["visit"],
        Literal["verdict"],
        Literal["by"],
        Literal["distance"],
        Literal["distance_epoch"],
        Literal["to"],
        Literal["meaning"],
    ]
    def __new__(
        cls,
        visit: Visit,
        verdict: Verdict,
        by: SameBy | None,
        distance: int | None,
        distance_epoch: int | None,
        to: datetime | None,
        meaning: Meaning | None,
    ) -> Self: ...
    @property
    def visit(self) -> Visit:
        """The visit."""

    @property
    def verdict(self) -> Verdict:
        """The verdict about the page."""

    @property
    def by(self) -> SameBy | None:
        """The reason why the page is known to have been the same, if the verdict is `same`."""

    @property
    def distance(self) -> int | None:
        """The distance of the fingerprint from the fingerprint of the previous version, in bits."""

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the compared fingerprints."""

    @property
    def to(self) -> datetime | None:
        """The time when the version that the page reverted to was last seen."""

    @property
    def meaning(self) -> Meaning | None:
        """The meaning of the distance, if there is a distance."""

    @property
    def time(self) -> datetime:
        """The time of the visit."""
