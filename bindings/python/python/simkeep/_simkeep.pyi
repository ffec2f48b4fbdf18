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
    Reason,
    Role,
    SameBy,
    Seen,
    Space,
    Stage,
    Stored,
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
_Index: TypeAlias = Literal["value", "harmonic"]
_Halves: TypeAlias = Literal["none", "unchanged", "both"]
_T_co = TypeVar("_T_co", covariant=True)

__all__ = [
    "AliasCount",
    "AliasPair",
    "AliasRule",
    "AliasSite",
    "AliasSites",
    "Aliases",
    "Answers",
    "BackedUp",
    "Balls",
    "Bands",
    "Batches",
    "Belief",
    "BitSketch",
    "Candidate",
    "Candidates",
    "Census",
    "Changes",
    "Cluster",
    "ClusterChange",
    "ClusterChanges",
    "ClusteredPage",
    "Clusters",
    "Compacted",
    "Compaction",
    "Comparison",
    "Component",
    "ComponentSearch",
    "Components",
    "Content",
    "Copy",
    "Cost",
    "Counter",
    "DISTANCE_MAX",
    "Decider",
    "Decision",
    "Difference",
    "Differences",
    "Dropped",
    "DumpLine",
    "EXTRACTOR",
    "EpochInfo",
    "EpochOverview",
    "ExactDifference",
    "Explained",
    "Explanation",
    "Fated",
    "Feature",
    "Figures",
    "FileCount",
    "FingerprintCensus",
    "Fingerprinter",
    "Fingerprints",
    "Fit",
    "Flaw",
    "Forgotten",
    "GenerationInfo",
    "HISTORY_WINDOW",
    "Hints",
    "HostCensus",
    "HostShare",
    "Hosts",
    "Incomplete",
    "JoinPlan",
    "JoinedPair",
    "JournalView",
    "KeptFor",
    "LastChange",
    "Learned",
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
    "Near",
    "NearDuplicate",
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
    "PageCluster",
    "PagePair",
    "PageRecord",
    "Pair",
    "PairedPage",
    "Period",
    "Plan",
    "PoissonPages",
    "Policy",
    "Preset",
    "Prior",
    "Progress",
    "PropertyEntry",
    "Publication",
    "PublishedFile",
    "RECIPE",
    "RankedPage",
    "Rate",
    "Reader",
    "Recent",
    "Repaired",
    "Replay",
    "Restated",
    "SampledPage",
    "Schedule",
    "SectionView",
    "SegmentOverview",
    "SegmentStats",
    "SegmentView",
    "Shingles",
    "Snapshot",
    "SpaceOf",
    "StalePage",
    "Stats",
    "Store",
    "Stream",
    "Survey",
    "TIME_MAX",
    "TIME_MIN",
    "Table",
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
    "harmonic",
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
    "value",
    "verify",
    "versions",
    "visible_text",
]

DISTANCE_MAX: Final[int]
"""The largest distance of a search, in bits."""
EXTRACTOR: Final[str]
"""The name of what `visible_text` does, with its version: the first part of the names of epochs."""
HISTORY_WINDOW: Final[int]
"""How many versions of a page a verdict looks back at."""
RECIPE: Final[str]
"""The name of the recipe that is used unless another is chosen."""
TIME_MAX: Final[datetime]
"""The last time of a visit."""
TIME_MIN: Final[datetime]
"""The first time of a visit."""
URL_BYTES_MAX: Final[int]
"""The most bytes that the URL of a page may have in UTF-8."""
__version__: Final[str]
"""The version of the package."""

def _error_classes() -> dict[str, str | None]:
    """The names of all kinds of errors, each with that of its class. For the tests."""

def _forked() -> None:
    """Notes that this is a child."""

def _tool(words: list[str]) -> int:
    """Runs the tool by these words, of which the first is its name, and returns its exit code."""

def _words() -> dict[str, list[str]]:
    """All enumerations by name, each with its values. For the tests."""

def backup(
    path: str | PathLike[str],
    to: str | PathLike[str],
    *,
    copy: bool = False,
    progress: Progress | None = None,
) -> BackedUp:
    """Makes a backup of the store in a directory, also of one that is being written.

    To an earlier backup it adds what is new. With `copy=True` files are copied that could be
    linked. Ctrl-C ends it.
    """

def check_generation(
    path: str | PathLike[str], generation: int, *, file: str | None = None, progress: Progress | None = None
) -> None:
    """Reads all files that a generation names, or the one of this name.

    Raises `CorruptError` for the first that is damaged, `IoError` for one that is not there. Ctrl-C
    ends it.
    """

def compare(first: Table, second: Table) -> TableComparison:
    """Compares two tables of document frequencies: why fingerprints by them differ. Reads both once."""

def crawl(
    pages: Replay | PoissonPages,
    by: Decider | Policy | str | None = None,
    *,
    step_days: float,
    start: float,
    end: float,
    visits_per_day: float | None = None,
    every: float | None = None,
) -> Figures:
    """Crawls pages in a simulation, and says how fresh they were.

    `by` is a `Decider`, or the name of a policy (`"value"`). From day 0 to the day `end`, in steps
    of `step_days`, the crawler visits as many pages as the budget allows, those first that the
    decider puts first, and knows nothing but what its visits found. What is measured is from the
    day `start` on. The budget is either `visits_per_day`, or a visit for each page that is known
    `every` so many days, on average.

    Takes 1 to 3 KiB for each page; a step takes some 50 nanoseconds for each page, and some 10
    microseconds for each visit. Other threads run meanwhile, and Ctrl-C leaves it. Raises
    `InvalidOptionError` if there are no pages before the end, or rates are wanted that are not known.
    """

def decode(body: bytes | bytearray, content_type: str | None = None) -> str:
    """Decodes a document as its `content_type` says, or as it says itself, or else by a guess.

    `content_type` is the Content-Type of the response, several joined by commas, or the label of an
    encoding; without one the document is HTML. The encoding is found as browsers find it: a byte
    order mark, the Content-Type, what a `<meta>` or an XML declaration says, UTF-8 if the bytes are
    UTF-8, and else the most likely one. Linear in the document.
    """

def distance(left: SupportsIndex, right: SupportsIndex) -> int:
    """In how many bits two fingerprints differ."""

def few_misses(pages: Iterable[tuple[float, float]], visits_per_day: float) -> Optimum:
    """The least penalty for changes that are missed, if each further one counts less than the one
    before.

    Visits are at random times, and no page is left alone. Each page is a pair of its rate, in
    changes a day, and its weight. Takes 64 roots for each page; Ctrl-C leaves it. Raises
    `InvalidOptionError` if there are no pages, or a number is not from 1e-100 to 1e100.
    """

def fingerprint(text: str, *, recipe: str | None = None) -> int | None:
    """The fingerprint of a text by the default recipe.

    `None` if it has fewer than eight words, which is too short to tell it from others. Linear in
    the text. By another `recipe`, if one is named that needs no table.
    """

def fingerprint_batch(
    texts: Iterable[str] | _types.ArrowStream | _types.ArrowArray,
    *,
    recipe: str | None = None,
    table: Table | None = None,
) -> Fingerprints:
    """The fingerprints of many texts, in their order, as `Fingerprinter.of_page` makes them.

    The texts may come from an iterable of `str`, or in a column of strings that has
    `__arrow_c_stream__`; they are copied. Runs on all cores. Ctrl-C ends it.
    """

def fixed_intervals(pages: Iterable[tuple[float, float]], visits_per_day: float) -> Optimum:
    """The most freshness that so many visits a day can reach, if each page is visited at fixed
    intervals.

    No policy that knows the rates does better. Each page is a pair of its rate, in changes a day,
    and its weight. Takes some 4,000 exponentials for each page; Ctrl-C leaves it. Raises
    `InvalidOptionError` if there are no pages, or a number is not from 1e-100 to 1e100.
    """

def generation_files(path: str | PathLike[str], generation: int) -> tuple[PublishedFile, ...]:
    """The files that a generation names: segments, then tables of document frequencies.

    Needs the generation alone, none of these files. Costs a small read.
    """

def generation_fingerprints(path: str | PathLike[str], generation: int, epoch: int) -> int:
    """How many distinct fingerprints of an epoch a generation has; one counts once for each segment
    that has it.

    Reads the beginning of each segment, and some bytes for each MiB at its end: what is between
    need not have arrived, if only the files have their lengths.
    """

def generations(path: str | PathLike[str]) -> tuple[GenerationInfo, ...]:
    """The generations that are published in a directory, in order. Costs a small read for each."""

def generations_with(
    path: str | PathLike[str], url: str | None = None, *, prefix: str | None = None
) -> tuple[int, ...]:
    """Which generations in a directory still hold bytes of a page, or of pages under a `prefix`.

    By number: of what was purged from the store meanwhile, say. Costs a search in each segment that
    is named.
    """

def harmonic(weight: float, per_day: float, days: float) -> float:
    """The harmonic index of a visit, in days.

    That is what it is worth to a page of this weight, which changes so many times a day, so many
    days after its last visit, if each further change that is missed counts less. It leaves no page
    alone. Raises `InvalidOptionError` if the weight or the rate is not positive and finite.
    """

def hinted(trust: float, weight: float, after_days: float, otherwise: float) -> float:
    """What a visit is worth, in days, to a page that somebody says has changed, as a sitemap does.

    `trust` is the probability that this is true, `after_days` how long after the last visit the
    change was, and `otherwise` what a visit is worth without the hint. Raises `InvalidOptionError`
    if the trust is not from 0 to 1, the weight is not positive and finite, or the worth is negative
    or infinite.
    """

def interval(weight: float, per_day: float, threshold: float, index: _Index | None = None) -> float | None:
    """The days after a visit from which on the next one is worth a threshold.

    To a page of this weight that changes so many times a day, by the index `"value"` (the default)
    or `"harmonic"`; `None` if it never is, or not within 4,000,000 days. Raises `InvalidOptionError` if a
    number is not positive and finite.
    """

def irregular(comparisons: Iterable[Comparison], halves: _Halves | None = None) -> float:
    """Changes a day, from comparisons at any intervals: the rate that makes them most likely.

    With the halves of the mean interval added that `halves` says: `"none"`, `"unchanged"` (the
    default) or `"both"`. Takes 64 steps, each in proportion to the comparisons. With `"none"` the
    rate of a page that never changed is 0, and of one that always did, without a date, infinite.
    Raises `InvalidOptionError` if there is no comparison.
    """

def is_published(path: str | PathLike[str]) -> bool:
    """Whether a store is published in a directory, or is being carried there.

    `Reader` reads such a directory like a store, and nothing but `publish` writes to it. Costs
    listing what is there.
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

    Two equal ones are a pair of distance 0. They may come in a buffer of `uint64` or `int64`, such as an
    array of numpy, in such a column of Arrow, from an iterable of `int`s, or from `fingerprint_batch`,
    and are copied; fewer than 2**32. A null or `None` is in no pair. With `across`, those before this
    place are joined with the others, and neither with themselves. With `part`, one of `join_parts`, only
    pairs are found that agree in this part, and in none before it. `memory_bytes` (256 MiB) bounds the
    memory beside the copy, and `threads` is how many run (as many as there are cores).

    Runs in the background, and waits for whoever reads the pairs. It ends when the stream is
    closed. For whoever reads Arrow it has the columns `left`, `right`, `distance`,
    `left_fingerprint` and `right_fingerprint`.

    Time, for evenly spread fingerprints and k = 3: some 0.15 microseconds of one core for each.
    Within a wide distance all are compared with all: 0.4 nanoseconds for each two.
    """

def join_parts(k: int) -> list[tuple[int, int]]:
    """The parts into which a join within `k` bits cuts fingerprints, so that each can be joined by
    itself.

    Pairs of a part's lowest bit, counted from 0, and of how many bits it has. What a fingerprint
    has there is `fingerprint >> lowest & (1 << bits) - 1`. Among all fingerprints that have some
    values there, `join(..., part=)` finds the pairs of the part, wherever the others are.
    """

def last_modified(comparisons: Iterable[Comparison]) -> float:
    """Changes a day, where the time of the last change before each visit is known, as by
    `Last-Modified`.

    Raises `InvalidOptionError` if there is no comparison, and `InvalidArgumentError` if a change
    has no date.
    """

def merge(tables: list[str | PathLike[str]], path: str | PathLike[str], least: int = 1) -> Table:
    """Adds up the tables in some files, and writes the sum to another.

    Features of fewer than `least` documents are left out.
    """

def naive(changes: int, days: float) -> float:
    """Changes seen, over the days in which they were seen, in changes a day.

    That is too low where a page may change more than once between visits. Raises `InvalidOptionError` if
    the days are not from a millisecond to 4,000,000.
    """

def normalised(url: str, rules: Iterable[AliasRule]) -> str:
    """What all of some rules make of a URL, one after another.

    They are to stand in the order in which an `AliasSite` has them; and they hold for its pages
    only.
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
    """Publishes what is sealed of the store in a directory: makes it a generation in another
    directory.

    `Reader.published` opens it. Works also beside a process that writes the store. Segments and
    tables are linked or copied (`copy=True` links none), if no earlier generation has brought them,
    and never change. The newest `keep` generations stay (3), and others for a `grace` after they
    were the newest (a day). Costs a read of the segments that are new, and of a small part of the
    others: each is read once in 30 days, and all of them with `check_kept=True`. A damaged one
    gives way to that of the store. Ctrl-C ends it.
    """

def random_times(pages: Iterable[tuple[float, float]], visits_per_day: float) -> Optimum:
    """The most freshness that so many visits a day can reach, if each page is visited at random times.

    As often on average as is best. Each page is a pair of its rate, in changes a day, and its
    weight. Sorts the pages; Ctrl-C leaves it. Raises `InvalidOptionError` if there are no pages, or a
    number is not from 1e-100 to 1e100.
    """

def recipes() -> tuple[Preset, ...]:
    """The recipes that have a short name."""

def regular(comparisons: int, changes: int, halves: _Halves | None = None) -> float:
    """The changes in an interval, of a page that changed in so many of equal intervals.

    Divide by the interval in days to have changes a day. `halves` says what is added, so that the
    answer is neither zero nor infinite: `"none"`, `"unchanged"` for half an unchanged comparison
    (the default), or `"both"` for half a changed one as well. Raises `InvalidOptionError` if there are no
    comparisons, or more changes than comparisons.
    """

def repair(
    path: str | PathLike[str],
    to: str | PathLike[str],
    *,
    keep_forgotten: bool = False,
    memory_bytes: int | None = None,
    progress: Progress | None = None,
) -> Repaired:
    """Makes a new store of everything in another that is sound, and says what is lost.

    The old one stays as it is. Costs two reads of all files, and a load of what is saved. Raises
    `AmbiguousRepairError` if it cannot be told what was forgotten, unless `keep_forgotten`. Ctrl-C ends
    it, and leaves no new store.
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
    """What an HTTP response to a GET says of its page: what to report. `None` below 200: no visit.

    `location` and `content_range` are the headers; `length` is the Content-Length, if no
    Transfer-Encoding delimits the body, and `received` the number of bytes that arrived;
    `is_encoded` says that there is a Content-Encoding, `is_cut` that the body is known to be cut.
    """

def route(url: str, stores: int) -> int:
    """Which of so many stores a page belongs to, counted from 0, where a crawl is shared out among several.

    All pages of a host belong to the same one. The answer never changes; with more stores than before, a
    page stays where it was or goes to a new one.
    """

def site_of(url: str) -> str | None:
    """The site that a URL is of, as an `AliasSite` names it; `None` without a host that can exist.

    That is its host in lower case, and without `www.`.
    """

def surt(url: str) -> str:
    """What a page is sorted by, its SURT, as the Internet Archive writes it.

    Such as "com,example)/terms". Linear in the length of the URL.
    """

def surt_key(url: str) -> bytes:
    """Bytes that compare as pages are sorted, also those of several stores: what `surt` is made of.

    Of two URLs with the same, the less comes first.
    """

def value(weight: float, per_day: float, days: float) -> float:
    """The crawl value of a visit, in days.

    That is what it is worth to a page of this weight, which changes so many times a day, so many
    days after its last visit. Visits to what is worth most keep the most pages fresh. Raises
    `InvalidOptionError` if the weight or the rate is not positive and finite.
    """

def verify(
    path: str | PathLike[str],
    *,
    rate: int | None = None,
    flaws_max: int | None = None,
    progress: Progress | None = None,
) -> Verified:
    """Checks the store in a directory: reads all of it, and names every flaw.

    `rate` is the most bytes to read per second. Damage is part of the answer, and raises nothing.
    Ctrl-C ends it.
    """

def versions(history: Iterable[VisitEntry | Restated | PropertyEntry]) -> list[Version]:
    """The versions of a page, from its history, as `View.history` or `View.histories` tell it.

    Visits that saw one content, were told that it was not modified, or saw it again after failures
    are one version; a content that comes back later is another. Failures that follow each other
    with one status are one, and so are visits that find the page gone. What the page was given is
    left out. Linear in the history.
    """

def visible_text(html: _types.Html, encoding: str | None = None) -> str:
    """The text that a reader sees of an HTML page.

    It is `str`, or bytes with the `encoding` that the server named, or its Content-Type.
    """

@final
class AliasCount:
    """A rule in a site, and what speaks for it."""

    __match_args__: tuple[
        Literal["rule"],
        Literal["holds"],
        Literal["pairs"],
        Literal["near"],
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
        share: float,
        visits: int,
        examples: tuple[AliasPair, ...],
        exceptions: tuple[AliasPair, ...],
    ) -> Self: ...
    @property
    def rule(self) -> AliasRule:
        """The rule. If it has a direction, that is to what more pages of the site have."""

    @property
    def holds(self) -> bool:
        """Whether it holds, by `share` and `pairs`."""

    @property
    def pairs(self) -> int:
        """Pages that it makes one with a page that stands before them in SURT order (the first of the group;
        pages without `www.` come before those with it), and takes something else from: as many would be
        spared. If these are too few, with the pairs that it makes with one other rule.
        """

    @property
    def near(self) -> int:
        """Those of them that are near that page."""

    @property
    def share(self) -> float:
        """The share of the pairs that are near; 0 without any."""

    @property
    def visits(self) -> int:
        """Visits that these pairs had, without those to the first pages: as many would have been spared."""

    @property
    def examples(self) -> tuple[AliasPair, ...]:
        """Pairs that are near, each of another group, drawn by a hash. Of the 128 rules of a site with most
        pairs.
        """

    @property
    def exceptions(self) -> tuple[AliasPair, ...]:
        """Pairs that are not near, drawn in the same way."""

@final
class AliasPair:
    """Two pages that a rule makes one."""

    __match_args__: tuple[Literal["first"], Literal["other"], Literal["distance"]]
    def __new__(cls, first: str, other: str, distance: int) -> Self: ...
    @property
    def first(self) -> str:
        """The page that stands before all others of the group."""

    @property
    def other(self) -> str:
        """Another one."""

    @property
    def distance(self) -> int:
        """In how many bits their fingerprints differ."""

@final
class AliasRule:
    """A rule that makes one URL of several: a difference between URLs that may make no difference.

    `kind` and `value` say which: `"host"` (as browsers write it), `"scheme"` with `"https"` or
    `"http"`, `"www"` with `"without"` or `"with"`, `"port"`, `"escapes"`, `"session"` (in the
    path), `"slashes"`, `"fragment"`, `"empty-query"`, `"parameter"` with its name (`"utm_*"` is all
    that begin so), `"order"` (of parameters), `"index"` with the name of a page, `"slash"` with
    `"without"` or `"with"`, `"case"` (of the path). As a text: "parameter sid". Raises `ValueError`
    if there is no such rule.
    """

    __match_args__: tuple[Literal["kind"], Literal["value"]]
    def __new__(cls, kind: _AliasKind, value: str | None = None) -> Self: ...
    @property
    def kind(self) -> _AliasKind:
        """What kind of rule it is, in one word."""

    @property
    def value(self) -> str | None:
        """Which of its kind it is; `None` where there is one."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def apply(self, url: str) -> str | None:
        """What the rule makes of a URL; `None` if it leaves it as it is, as it does any without a host."""

@final
class AliasSite:
    """A site, and the rules that were found for it."""

    __match_args__: tuple[
        Literal["site"],
        Literal["pages"],
        Literal["sampled"],
        Literal["skipped"],
        Literal["rules"],
    ]
    def __new__(
        cls, site: str, pages: int, sampled: float, skipped: int, rules: tuple[AliasCount, ...]
    ) -> Self: ...
    @property
    def site(self) -> str:
        """The host without `www.`, in lower case."""

    @property
    def pages(self) -> int:
        """Its pages that took part."""

    @property
    def sampled(self) -> float:
        """What share of the URLs that rules make was looked at: 1, unless the site was beyond the memory. All
        that is counted of its rules is of these.
        """

    @property
    def skipped(self) -> int:
        """Pages with so many parameters, or in a site with so many names of them, that some were passed over:
        more than 32 on a page, 1,024 names in a site, or 64 bytes in a name. simkeep tries at most 16 KiB /
        (length of path and query) parameters, 32 at most.
        """

    @property
    def rules(self) -> tuple[AliasCount, ...]:
        """The rules, in the order in which they are to be applied: none twice."""

@final
class AliasSites(Stream[AliasSite]):
    """The sites that have a rule to report, in SURT order: found as they are read.

    For whoever reads Arrow it has a row for each rule: `site`, `kind`, `value`, `holds`, `pairs`,
    `near` and `visits`.
    """

    @property
    def summary(self) -> Aliases | None:
        """What was looked at in all; `None` as long as there is more to look at, and if the stream was
        closed before.
        """

@final
class Aliases:
    """What was looked at for aliases, in all."""

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
    ) -> Self: ...
    @property
    def sites(self) -> int:
        """Sites with a page that took part."""

    @property
    def sites_with_rules(self) -> int:
        """Sites that have a rule that holds."""

    @property
    def sampled(self) -> int:
        """Sites that were sampled."""

    @property
    def pages(self) -> int:
        """Pages that took part: of those whose URLs SURT order does not tell apart, one."""

    @property
    def without_fingerprint(self) -> int:
        """Pages with content that has no fingerprint in the epoch: they took no part."""

    @property
    def skipped(self) -> int:
        """Pages with parameters that were passed over, whether their sites have rules or not."""

    @property
    def rules(self) -> int:
        """Rules that hold, all sites together."""

    @property
    def pairs(self) -> int:
        """Pairs of these."""

    @property
    def visits(self) -> int:
        """Visits of these."""

@final
class Answers:
    """The answers of many searches: a sequence of `Matches`, in the order of what was searched for.

    For whoever reads Arrow it is a table with a row for each page that was found: `query`, `url`,
    `distance` and `fingerprint`.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """What `batches` has, as a stream of Arrow data in a capsule."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Matches: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Matches]: ...
    def __iter__(self) -> Iterator[Matches]: ...
    def __len__(self) -> int: ...
    def batches(self, *, signed: bool = False) -> Batches:
        """A row for each page that was found: `query`, counted from 0, `url`, `distance` and
        `fingerprint`.

        The fingerprint is `int64`, bit for bit, with `signed=True`.
        """

    def queries(self) -> Batches:
        """A row for each search: whether its answer is `complete`, and `within` which distance."""

@final
class BackedUp:
    """What a backup did."""

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
        """The last operation that the backup has."""

    @property
    def pages(self) -> int:
        """Pages in it, all of which were checked."""

    @property
    def visits(self) -> int:
        """Visits in it."""

    @property
    def earlier(self) -> int | None:
        """The last operation that the earlier backup had in whose place this one is; `None` if there was none.
        """

    @property
    def linked(self) -> FileCount:
        """Files that are links: of one file with the store."""

    @property
    def copied(self) -> FileCount:
        """Files that are copies."""

    @property
    def kept(self) -> FileCount:
        """Files that the earlier backup had already."""

    @property
    def removed(self) -> int:
        """Files of the earlier backup that were removed, because the store has them no more."""

    @property
    def catalog_bytes(self) -> int:
        """Bytes of the catalog, which is always written anew."""

    @property
    def not_linked(self) -> str | None:
        """Why files were copied that were to be linked, as the system said it."""

@final
class Balls:
    """The balls of one distance: each page with all that are within so many bits of it, itself included.

    Other than clusters, balls overlap. Their number by size is figure 6-2 and their average size table
    6.2 of S. Seshasai, *Efficient near duplicate document detection for specialized corpora*, MIT 2009.
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
        """How many balls there are: one for each page."""

    @property
    def pages(self) -> int:
        """How many pages they have together."""

    @property
    def largest(self) -> int:
        """How many pages the largest has."""

    @property
    def without_fingerprint(self) -> int:
        """Pages with content that have no fingerprint of the epoch, and have no ball."""

    @property
    def by_size(self) -> tuple[int, ...]:
        """How many balls have 1 page, 2 or 3, 4 to 7, and so on: those of size s are in bin log2(s)."""

    @property
    def labelled_pairs(self) -> int:
        """Pairs of pages within the distance that both have a label."""

    @property
    def equal_pairs(self) -> int:
        """Those of them whose labels are equal."""

    @property
    def average(self) -> float | None:
        """How many pages a ball has on average; `None` if there is none."""

    @property
    def shared(self) -> float | None:
        """The share of balls that have another page than their own; `None` if there is none."""

    @property
    def equal_share(self) -> float | None:
        """The share of labelled pairs whose labels are equal; `None` if there is none."""

@final
class Bands:
    """Up to which distance a change is minor, and up to which it is moderate."""

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
    """A table in Arrow's form, for what reads that: pyarrow, polars, pandas, DuckDB.

    One that a store is read for is read once, batch by batch, as far as whoever reads it goes: by the
    first that asks for a row. To ask for its columns reads nothing.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """A stream of Arrow data, in a capsule."""

@final
class Belief:
    """How likely each of 64 rates is to be that of a page: a prior times the likelihood of what was seen.

    With few visits a rate is hardly known, and each change that was seen means only "one or more". What
    a visit is worth is best taken as its expectation over a belief.
    """

    def __new__(cls, prior: Prior, likelihood: Likelihood) -> Self: ...
    @property
    def rate(self) -> Rate:
        """The mean rate, in changes a day, and the central 90 %."""

    def __eq__(self, other: object, /) -> bool: ...
    def interval(self, weight: float, threshold: float, index: _Index | None = None) -> float | None:
        """The days after a visit from which on the next one is worth a threshold.

        By the index `"value"` (the default) or `"harmonic"`; `None` if it never is, or not within
        4,000,000 days. Takes 65 times as long as `worth`. Raises `InvalidOptionError` if the weight or
        the threshold is not positive and finite.
        """

    def worth(self, weight: float, days: float, index: _Index | None = None) -> float:
        """What a visit is worth so many days after the last one, in days.

        That is the expectation of the index, `"value"` (the default) or `"harmonic"`, of a page of this
        weight. Takes about a microsecond. Negative days count as none. Raises `InvalidOptionError` if
        the weight is not positive and finite.
        """

@final
class BitSketch:
    """A sketch of a text in 64 bytes, which estimates how much two texts have in common.

    That is their resemblance in runs of five words. It is what `Candidates` keep of a text. `bytes`
    has its bytes, of which it can be made again.
    """

    def __new__(cls, bytes: bytes | bytearray) -> Self: ...
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def distance(self, other: BitSketch) -> int:
        """In how many of their 512 bits two sketches differ."""

    @staticmethod
    def of_text(text: str) -> BitSketch:
        """The sketch of a text. Costs some 6 nanoseconds for each of its words, and 10 KiB meanwhile."""

    def resemblance(self, other: BitSketch) -> float:
        """How much the two texts have in common, about.

        It is 1 of equal texts, and about 0, or less, of texts without a run in common. The standard
        error is 0.027 at a resemblance of 0.8.
        """

@final
class Candidate:
    """Whether the text of a page is worth comparing."""

    __match_args__: tuple[Literal["candidacy"], Literal["location"], Literal["digest"]]
    def __new__(cls, candidacy: Candidacy, location: int | None, digest: bytes | None) -> Self: ...
    @property
    def candidacy(self) -> Candidacy:
        """Whether it is."""

    @property
    def location(self) -> int | None:
        """Where the page stands, for `add`, if it is."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the content that was compared, if there is one: another text of the page, such
        as an older version of it, is not the one that is wanted.
        """

@final
class Candidates:
    """Pages that have others within k bits of them: those whose texts are worth comparing.

    The store has no texts. Whoever has them asks for each page whether its text is wanted
    (`candidacy`), adds those that are (`add`), and has clusters of those that are alike
    (`clusters`). Takes two bits of memory for each page of the store, and in scratch files 68 bytes
    for each text that is added. Threads may share it. It is of the process that found it.
    """

    def __len__(self) -> int: ...
    def add(self, location: int, text: str) -> None:
        """Adds the text of the page at a `location`, once or more often.

        A page of which different texts are added is compared with none, since it is not known which of
        them is the one in force. Linear in the text. Raises `InvalidArgumentError` if no candidate
        stands there.
        """

    def candidacy(self, url: str) -> Candidate:
        """Whether the text of a page is wanted. Costs looking it up; of a candidate, reading its head,
        too.

        Raises `UrlError` for what no page can have.
        """

    def clusters(self, resemblance: float, *, progress: Progress | None = None) -> Clusters:
        """Puts all pages into clusters, as `View.clusters` does, of pages whose texts are alike.

        A page is led by one within k bits whose text resembles its own at least so much, from 0 to
        1: by the one that it resembles most. Pages without a text lead clusters of their own. The
        candidates are gone then. Costs some joins, and a crowd of fingerprints whose texts are not
        alike its square. Ctrl-C ends it.

        Raises `InvalidArgumentError` if it was called before, or while another thread adds texts.
        """

@final
class Census:
    """What a store has, counted page by page."""

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
        """Pages that are known."""

    @property
    def in_force(self) -> int:
        """Pages with content in force."""

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
        """When the earliest visit was; `None` without visits."""

    @property
    def last(self) -> datetime | None:
        """When the latest visit was; `None` without visits."""

    @property
    def hosts(self) -> int:
        """Hosts that have pages; URLs without one count as one for each scheme."""

    @property
    def largest_hosts(self) -> tuple[HostCensus, ...]:
        """The hosts with most pages, the largest first: twenty, if there are so many."""

    @property
    def fingerprints(self) -> FingerprintCensus:
        """The fingerprints by which near-duplicates are sought."""

    @property
    def sample(self) -> tuple[SampledPage, ...]:
        """Pages that have such a fingerprint now, drawn by a hash of their URLs: ten thousand, or all."""

    @property
    def distances(self) -> tuple[int, ...]:
        """How many visits found the page so many bits away from the version before: of 0 bits first, of 64
        last.
        """

    @property
    def changing(self) -> tuple[int, ...]:
        """How many pages changed at what share of their visits that could tell: at none, and up to a tenth,
        two tenths and so on, in eleven numbers.
        """

    @property
    def period(self) -> timedelta:
        """How long each period is."""

    @property
    def periods(self) -> tuple[Period, ...]:
        """What visits found by when they were, in order of time: at most 400 periods."""

    @property
    def outside(self) -> VerdictCounts:
        """What visits found that are in none of the periods: one in a thousand at either end, or one of at
        least twenty, whose times are so far from all others that most periods would be empty.
        """

@final
class Changes:
    """What the visits of a page tell about how it changes."""

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
        """How often two visits were compared."""

    @property
    def changes(self) -> int:
        """How often the later one had other content."""

    @property
    def returns(self) -> int:
        """How often that was content seen before."""

    @property
    def dated(self) -> int:
        """Of how many changes the server said when they were."""

    @property
    def unchanged_ms(self) -> int:
        """How long the page was seen not to change, in milliseconds."""

    @property
    def last_change(self) -> LastChange | None:
        """The last change, if there was one."""

@final
class Cluster:
    """A cluster: pages within a distance of one, which leads them."""

    __match_args__: tuple[
        Literal["leader"],
        Literal["fingerprint"],
        Literal["first_seen"],
        Literal["pages"],
        Literal["max_distance"],
    ]
    def __new__(
        cls, leader: str, fingerprint: int, first_seen: datetime, pages: int, max_distance: int
    ) -> Self: ...
    @property
    def leader(self) -> str:
        """The page that leads."""

    @property
    def fingerprint(self) -> int:
        """Its fingerprint, with reserved bits set to 0."""

    @property
    def first_seen(self) -> datetime:
        """When it was first seen with the content that counts."""

    @property
    def pages(self) -> int:
        """How many pages there are, itself included."""

    @property
    def max_distance(self) -> int:
        """The greatest distance of the fingerprint of one of them to its own."""

@final
class ClusterChange:
    """That a page is led by another than before."""

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
        """The page that led it, perhaps itself; `None` if it was in no cluster."""

    @property
    def after(self) -> str | None:
        """The page that leads it now; `None` if it is in no cluster."""

    @property
    def reason(self) -> LeaderChangeReason:
        """Why."""

    @property
    def bits(self) -> int | None:
        """In how many bits the page or its leader changed, if that is why."""

@final
class ClusterChanges:
    """The clusters of two times: an iterable over the pages that are led by others, in SURT order.

    It can be iterated over several times; each costs going through both clusterings, in a thread
    that ends when the stream is closed. It is of the process that found it.
    """

    @property
    def after(self) -> Clusters:
        """The clusters of the later time."""

    @property
    def before(self) -> Clusters:
        """The clusters of the earlier time."""

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
        fingerprint: int,
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
    def fingerprint(self) -> int:
        """Its fingerprint, with reserved bits set to 0."""

    @property
    def class_(self) -> int | None:
        """The class that it is of now, whichever time the cluster is of; `None` of a page that has
        none.
        """

    @property
    def leader(self) -> str:
        """The page that leads its cluster, which may be itself."""

    @property
    def leader_class(self) -> int | None:
        """The class that the leader is of now."""

    @property
    def distance(self) -> int:
        """In how many bits the fingerprints of the two differ."""

    @property
    def resemblance(self) -> float | None:
        """How much the texts of the two have in common, by their sketches; `None` of the leader, and where no
        texts were compared.
        """

    @property
    def pages(self) -> int:
        """How many pages the cluster has."""

    @property
    def by(self) -> OriginalBy | None:
        """How it is known to be nearly the same as its leader; `None` of the leader, and in what
        `cluster_of` finds.
        """

    @property
    def is_leader(self) -> bool:
        """Whether it leads its cluster."""

@final
class Clusters:
    """The clusters of a moment of a store: pages near each other, of which one leads.

    They stay in memory or in scratch files until this is gone, with the snapshot that they are of,
    and can be gone through several times, in several orders. They are of the process that found
    them: in a forked one, `ForkedError` is raised.
    """

    @property
    def epoch(self) -> int:
        """The number of the epoch whose fingerprints are compared."""

    @property
    def fingerprints(self) -> int:
        """How many distinct fingerprints they have."""

    @property
    def k(self) -> int:
        """The distance that counts."""

    @property
    def largest(self) -> int:
        """How many pages the largest has."""

    @property
    def multi_page_clusters(self) -> int:
        """How many clusters have two pages or more."""

    @property
    def pages(self) -> int:
        """How many pages there are."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many clusters have 1 page, 2 or 3, 4 to 7, and so on: those of size s are in bin log2(s)."""

    @property
    def without_fingerprint(self) -> int:
        """How many other pages have content, but no fingerprint of the epoch: they are in no cluster."""

    def __len__(self) -> int: ...
    def by_cluster(self, pages_min: int = 1) -> Stream[ClusteredPage]:
        """The pages of clusters of so many pages at least, cluster by cluster in the order of
        `by_size`.

        The leader comes first, then the others by distance and in SURT order. Costs what `by_page`
        does.
        """

    def by_page(self, pages_min: int = 1) -> Stream[ClusteredPage]:
        """The pages of clusters of so many pages at least, in SURT order, each with the page that
        leads it.

        Costs a sort of some 100 bytes a page, in the memory that was asked for, and then a read of
        each, in a thread that ends when the stream is closed.
        """

    def by_size(self, pages_min: int = 1) -> Stream[Cluster]:
        """The clusters of so many pages at least, the largest first.

        Of equally large ones, that whose leader ranks first. Costs a sort of some 100 bytes a
        cluster, and then a read of each leader.
        """

    def count_dropped(self, open: Iterable[int | None] | None = None) -> int:
        """How many pages `dropped` would have. Costs going through the pages once, without their URLs."""

    def dropped(self, open: Iterable[int | None] | None = None) -> Dropped:
        """The pages that are dropped in favour of those that lead them, to look up by URL.

        Dropped is each page that is led by another one of its class, or of one of the classes in
        `open`, which all may see; `None` among them is for pages without a class. All others are
        kept. Costs a sort of 16 bytes for each of them, and a bit of memory for each page of the
        store.
        """

@final
class Compacted:
    """What `compact` did."""

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
        """Bytes of the segments before."""

    @property
    def segment_bytes(self) -> int:
        """Bytes of the segments now."""

    @property
    def catalog_bytes_before(self) -> int:
        """Bytes of the catalog before, with the journal."""

    @property
    def catalog_bytes(self) -> int:
        """Bytes of the catalog now."""

    @property
    def freed_bytes(self) -> int:
        """How many bytes less the store takes."""

@final
class Compaction:
    """An estimate of what `Store.compact` does to the segments."""

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
        """How many segments there are."""

    @property
    def segment_bytes(self) -> int:
        """Bytes of them."""

    @property
    def unsealed_pages(self) -> int:
        """Pages of which something is in no segment yet: it will be in the merged one."""

    @property
    def reclaimable_bytes(self) -> int:
        """About how many bytes a merge of all segments frees."""

    @property
    def temporary_bytes(self) -> int:
        """The free room that the merge takes until it is done, in bytes."""

@final
class Comparison:
    """What two visits in a row say of the time between them.

    They are `days` apart: from a millisecond to 4,000,000 days. If the page `changed`, `days_ago`
    says how many days before the later visit it last did; `None` where nobody knows. Raises
    `InvalidOptionError` if they are nearer or farther apart, or the change was not between them.
    """

    __match_args__: tuple[Literal["days"], Literal["changed"], Literal["days_ago"]]
    def __new__(cls, days: float, changed: bool | None = None, days_ago: float | None = None) -> Self: ...
    @property
    def days(self) -> float:
        """The days between the two visits."""

    @property
    def changed(self) -> bool:
        """Whether the page changed between them."""

    @property
    def days_ago(self) -> float | None:
        """How many days before the later visit it last changed; `None` if it did not, or nobody knows."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Component:
    """A component."""

    __match_args__: tuple[Literal["page"], Literal["pages"], Literal["max_distance"]]
    def __new__(cls, page: str, pages: int, max_distance: int) -> Self: ...
    @property
    def page(self) -> str:
        """One of its pages: of those with its least fingerprint, the first by the rules."""

    @property
    def pages(self) -> int:
        """How many there are."""

    @property
    def max_distance(self) -> int:
        """The greatest distance between two of its pages: of more than 65,536 fingerprints, the greatest that
        was found, by comparing with each of a few that are far from each other.
        """

@final
class ComponentSearch:
    """How one segment or memtable is searched."""

    __match_args__: tuple[
        Literal["segment"],
        Literal["fingerprints"],
        Literal["shape"],
        Literal["way"],
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
        way: str,
        expected: Cost,
        counted: Cost,
        hits: int,
        crowded: int | None,
        faults: tuple[int, int] | None,
    ) -> Self: ...
    @property
    def segment(self) -> int | None:
        """The segment's number; `None` for a memtable."""

    @property
    def fingerprints(self) -> int:
        """How many distinct fingerprints of the epoch it has."""

    @property
    def shape(self) -> str | None:
        """The shape of its tables: column, rotations or cells; `None` for a memtable."""

    @property
    def way(self) -> str:
        """How it is searched: rotations, cells or scan."""

    @property
    def expected(self) -> Cost:
        """What that was expected to cost."""

    @property
    def counted(self) -> Cost:
        """What the search met, and how long it took."""

    @property
    def hits(self) -> int:
        """How many distinct near fingerprints were found; of a search that leaves pages or classes out, those
        that other pages have.
        """

    @property
    def crowded(self) -> int | None:
        """How many fingerprints were compared, if there was a crowd with more than the search may compare; see
        `fingerprints`.
        """

    @property
    def faults(self) -> tuple[int, int] | None:
        """Page faults during the search: those served from memory, and those that waited for the disk. `None`
        if the system does not tell.
        """

@final
class Components:
    """The components of a snapshot: two pages are in one if a chain of pages leads from one to the other,
    of which each is within k bits of the next.
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
        largest: tuple[Component, ...],
    ) -> Self: ...
    @property
    def k(self) -> int:
        """The distance of a step."""

    @property
    def pages(self) -> int:
        """How many pages there are."""

    @property
    def without_fingerprint(self) -> int:
        """Pages with content that have no fingerprint of the epoch, and took no part."""

    @property
    def components(self) -> int:
        """How many components there are."""

    @property
    def multi_page_components(self) -> int:
        """Those of two pages or more."""

    @property
    def largest(self) -> tuple[Component, ...]:
        """The ten largest, of two pages or more."""

@final
class Content:
    """What a page held."""

    __match_args__: tuple[Literal["fingerprint"], Literal["digest"], Literal["epoch"]]
    def __new__(cls, fingerprint: int | None, digest: bytes | None, epoch: int) -> Self: ...
    @property
    def fingerprint(self) -> int | None:
        """The fingerprint; `None` if the text is too short to tell."""

    @property
    def digest(self) -> bytes | None:
        """The digest, 16 bytes, if one was given."""

    @property
    def epoch(self) -> int:
        """The epoch of the fingerprint."""

@final
class Copy:
    """Another page with the same digest: an exact copy."""

    __match_args__: tuple[Literal["url"], Literal["first"]]
    def __new__(cls, url: str, first: datetime) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def first(self) -> datetime:
        """When that page was first seen with this digest."""

@final
class Cost:
    """What a search costs, expected or counted."""

    __match_args__: tuple[Literal["probes"], Literal["candidates"], Literal["lines"], Literal["ns"]]
    def __new__(cls, probes: float, candidates: float, lines: float, ns: float) -> Self: ...
    @property
    def probes(self) -> float:
        """Buckets or cells looked into; 0 for a scan."""

    @property
    def candidates(self) -> float:
        """Entries compared."""

    @property
    def lines(self) -> float:
        """Memory lines of 64 bytes read."""

    @property
    def ns(self) -> float:
        """Nanoseconds on one core, from memory, without those for hits."""

@final
class Counter:
    """Counts how many documents have each feature, for a new table in a file.

    What does not fit into `memory_bytes` (64 MiB by default) is in a scratch file beside it.
    """

    def __new__(
        cls, path: str | PathLike[str], recipe: str | None = None, *, memory_bytes: int | None = None
    ) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def add(self, text: str) -> None:
        """Counts a document."""

    def close(self) -> None:
        """Gives up, and leaves no file, unless it was frozen. May be called twice."""

    def freeze(self, least: int = 1) -> Table:
        """Writes the table, without features of fewer than `least` documents, and opens it."""

@final
class Decider:
    """By what a simulated crawler puts pages in order.

    That is a policy, given by its name (`"value"`), or what policies are compared with. As a text
    it is what a table of results calls it. `learning` says from what it learns what to expect of
    pages: `"hosts"` (the default), from all pages and for each page from others of its host, as a
    store does; `"pages"`, from all pages; `"nothing"`.
    """

    def __new__(
        cls, policy: str | Policy | None = None, learning: Literal["nothing", "pages", "hosts"] | None = None
    ) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def all(*, rates_known: bool = False) -> list[Decider]:
        """All that are worth comparing.

        These are the policies, the crawl value without hosts and without a belief, and, if the
        rates are known, at the true rates.
        """

    @staticmethod
    def estimated(index: _Index | None = None) -> Decider:
        """An index, `"value"` (the default) or `"harmonic"`, at the rate that the comparisons of a
        page give.

        It has no belief.
        """

    @staticmethod
    def known(index: _Index | None = None) -> Decider:
        """An index, `"value"` (the default) or `"harmonic"`, at the true rate.

        Only pages whose rate is known can be simulated so, which those of a store are not.
        """

@final
class Decision:
    """What is decided about a page: what a visit to it is worth, and why. As a text, for people: "by
    what a visit is worth; a visit is worth 12.30; 3 of 8 comparisons found it changed; ...".
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
        """The page, with its last visit, and with what its visits tell of how it changes."""

    @property
    def value(self) -> float:
        """What the policy makes of it now. By the crawl value that is what a visit is worth: the days for
        which it makes the page fresh, times its weight. A page that is gone counts for an eighth, and one
        that another leads for a quarter.
        """

    @property
    def rate(self) -> Rate:
        """How often it is believed to change."""

    @property
    def weight(self) -> float:
        """How much it matters: its weight, with the factor of its rule. What is made of that if the page is
        gone, or if another leads it, is not in it.
        """

    @property
    def due(self) -> datetime | None:
        """When it is due by the plan that was given, which may be past; `None` without one."""

    @property
    def every(self) -> timedelta | None:
        """How long after its last visit that is, if no visit fails; `None` without a plan."""

    @property
    def rule(self) -> str | None:
        """The prefix of the rule that it goes by, if it is not one for all pages."""

    @property
    def near(self) -> str | None:
        """The page that leads it, if any does: of the pages near it, the one that was first visited with the
        content that it has in force, if that was before this one was, and in SURT order if at the same
        time. None is looked for unless the policy goes by what a visit is worth.

        Pages are near within the distance of the store (`Options.near_distance`), whether their content is
        the same or nearly so. Of those near the nearest 16 are looked at; of more with just this
        fingerprint the first 17 in SURT order, of which one leads all others. As any search, this one gives
        up in a crowd of pages that had such content once and have other content now.
        """

    @property
    def reason(self) -> Reason:
        """What decides."""

    @property
    def interval(self) -> timedelta | None:
        """How long it may be left unvisited, if it is overdue, or must be, if its rule says not yet."""

    @property
    def until(self) -> datetime | None:
        """Until when it is left alone, because its last visits failed."""

    @property
    def changed(self) -> datetime | None:
        """When it changed, if a hint says that it did."""

    @property
    def text(self) -> str:
        """For people."""

@final
class Difference:
    """A page whose version in force differs."""

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
        """The page."""

    @property
    def verdict(self) -> Verdict:
        """What became of it: `Verdict.New`, `Verdict.Changed`, `Verdict.Reverted`, or `Verdict.Gone` if no
        version is in force any more, or the page is not known there.
        """

    @property
    def distance(self) -> int | None:
        """In how many bits the fingerprints differ; `None` where that is not known."""

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the fingerprints that were compared."""

    @property
    def to(self) -> datetime | None:
        """When the version that the page went back to was last seen before, if it was reverted."""

    @property
    def priority(self) -> float:
        """How much what is in force now is worth being processed: the priority of an observation that saw it.
        """

    @property
    def before(self) -> Content | None:
        """What was in force before, with its fingerprint of the newest epoch."""

    @property
    def after(self) -> Content | None:
        """What is in force after."""

    @property
    def seen(self) -> datetime | None:
        """When that was last seen."""

@final
class Differences(Stream[_T_co]):
    """How pages differ: a stream in SURT order, read lazily."""

    def epochs(self) -> list[EpochInfo]:
        """The epochs of the contents and distances.

        Those of the side before come under the numbers that they have there, then those that only
        the side after has.
        """

@final
class Dropped:
    """The pages that are dropped in favour of those that lead their clusters, by URL.

    `len` says how many there are. Threads may share it, and are answered one after another. It is
    of the process that found it.
    """

    def __len__(self) -> int: ...
    def fate(self, url: str) -> Fated:
        """What becomes of a page. Costs looking it up; of one that is dropped, reading its head, too.

        Raises `UrlError` for what no page can have.
        """

    def has(self, location: int) -> bool:
        """Whether the page at a `location` is dropped, which `Candidates.candidacy` named.

        Costs no lookup.
        """

    def kept_for(self, url: str) -> KeptFor | None:
        """The page that is kept for one that is dropped, with the distance of the two.

        `None` if it is not dropped. Costs what `fate` does, and reading the page that is kept.
        """

@final
class DumpLine:
    """Some bytes of a file, and what they mean.

    As text it is what the pages of `format/` show: the offset in hexadecimal digits, the bytes, and the
    meaning, two spaces apart; 16 bytes at most side by side, with the others below them; `00*36` is 36
    bytes of zero, and `??*36` are 36 that no checksum vouches for. The meaning may quote URLs, which
    are from strangers: who shows it on a terminal has to escape it.
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
        """Where the bytes are in the file."""

    @property
    def len(self) -> int:
        """How many there are."""

    @property
    def bytes(self) -> builtins.bytes | None:
        """The bytes; `None` of those that are damaged."""

    @property
    def meaning(self) -> str:
        """What they mean, or what is wrong with them."""

    @property
    def damaged(self) -> bool:
        """Whether they are damaged, or are what they cannot be."""

    @property
    def text(self) -> str:
        """For people."""

@final
class EpochInfo:
    """What a store knows of an epoch."""

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
        """Its number."""

    @property
    def name(self) -> str:
        """Its name, which no other epoch of the store has."""

    @property
    def begun(self) -> int:
        """How many visits the store knew when it began."""

    @property
    def role(self) -> Role:
        """What its fingerprints are for."""

    @property
    def bands(self) -> Bands:
        """Which distances of its fingerprints are minor changes, and which moderate ones."""

    @property
    def ended(self) -> bool:
        """Whether it has ended: nothing is observed or searched in it any more."""

@final
class EpochOverview:
    """An epoch, and what there is of it."""

    __match_args__: tuple[Literal["info"], Literal["fingerprints"], Literal["is_in_use"]]
    def __new__(cls, info: EpochInfo, fingerprints: int, is_in_use: bool) -> Self: ...
    @property
    def info(self) -> EpochInfo:
        """The epoch."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each segment or memtable that has them."""

    @property
    def is_in_use(self) -> bool:
        """Whether verdicts or searches go by it."""

@final
class ExactDifference:
    """Entries of a page that only one side has."""

    __match_args__: tuple[Literal["url"], Literal["before"], Literal["after"]]
    def __new__(
        cls,
        url: str,
        before: tuple[Visit | Restated | PropertyEntry, ...],
        after: tuple[Visit | Restated | PropertyEntry, ...],
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def before(self) -> tuple[Visit | Restated | PropertyEntry, ...]:
        """What only the side before has."""

    @property
    def after(self) -> tuple[Visit | Restated | PropertyEntry, ...]:
        """What only the side after has."""

@final
class Explained:
    """How a fingerprint came about."""

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
        """How many distinct features the document has, in its text and, if the recipe uses them, its fields.
        """

    @property
    def voting(self) -> int:
        """How many of them vote; by a minwise recipe, how many give a bit."""

    @property
    def heaviest(self) -> tuple[Feature, ...]:
        """The heaviest features, the heaviest first. By a minwise recipe, those that give most bits."""

    @property
    def balance(self) -> tuple[float, ...]:
        """For each of the 64 bits, the lowest first, the margin of its vote as a share of the weight of all
        features: between -1 and 1, positive for a bit that is 1. The nearer to 0, the smaller a change of
        the document flips the bit. 0 for reserved bits. By a minwise recipe all bits are as near: each
        hangs on one of the distinct features.
        """

@final
class Explanation:
    """What a search does and costs."""

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
        """What was searched, the oldest first; memtables last."""

    @property
    def matches(self) -> Matches:
        """What it answered."""

    @property
    def took(self) -> timedelta:
        """How long the whole search took, including the lookup of pages."""

@final
class Fated:
    """What becomes of a page."""

    __match_args__: tuple[Literal["fate"], Literal["digest"]]
    def __new__(cls, fate: Fate, digest: bytes | None) -> Self: ...
    @property
    def fate(self) -> Fate:
        """Whether it is kept or dropped."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the content that was compared, if it is dropped and there is one. Other content
        of the page, such as an older version of it, may be near nothing that is kept.
        """

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
        """Its words or characters, in lower case; the value of a field as it is."""

    @property
    def short(self) -> bool:
        """Whether it has fewer words or characters than the features of the recipe. A text that is too short
        is a single feature, which only documents with exactly this text have.
        """

    @property
    def field(self) -> str | None:
        """The name of the field that it is, if it is one."""

    @property
    def hash(self) -> int:
        """Its hash."""

    @property
    def count(self) -> int:
        """How often it occurs; for a field, how many fields are equal to it."""

    @property
    def frequency(self) -> int | None:
        """How many documents have it, if the recipe uses document frequencies."""

    @property
    def share(self) -> float:
        """Its share of the weight of all features, from 0 to 1; by a minwise recipe, its share of the bits.
        """

@final
class Figures:
    """How fresh the pages were that a simulated crawler knew, over the time that was measured."""

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
        """The share of the time in which the version that the crawler saw last was the one in force."""

    @property
    def near_freshness(self) -> float:
        """The share of the time in which it differed in no more than a minor way."""

    @property
    def staleness(self) -> float:
        """The harmonic number of the changes missed since the last visit, 1 + ½ + ⅓ + …, on average over
        the time: the penalty of LambdaCrawl.
        """

    @property
    def divergence(self) -> float:
        """The share of the 64 bits in which the version seen last differed from the one in force, on average
        over the time.
        """

    @property
    def visits_per_day(self) -> float:
        """The visits a day."""

@final
class FileCount:
    """Some segments and tables of document frequencies."""

    __match_args__: tuple[Literal["files"], Literal["bytes"]]
    def __new__(cls, files: int, bytes: int) -> Self: ...
    @property
    def files(self) -> int:
        """How many."""

    @property
    def bytes(self) -> int:
        """Bytes of them together."""

@final
class FingerprintCensus:
    """What is counted of the fingerprints of an epoch that pages have now."""

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
        """Pages that have one."""

    @property
    def without(self) -> int:
        """Pages whose content has none."""

    @property
    def popcounts(self) -> tuple[int, ...]:
        """Pages by how many bits of their fingerprint are 1: none first, all 64 last."""

    @property
    def ones(self) -> tuple[int, ...]:
        """How many pages have a 1 in each of the 64 bits, the lowest first."""

    @property
    def values(self) -> tuple[int, ...]:
        """Pages by the highest eight bits of their fingerprint, in 256 numbers."""

    @property
    def share(self) -> float:
        """What share of the different fingerprints is counted in what follows: 1 if there are at most a
        million, and otherwise that of a sample that is drawn by a hash.
        """

    @property
    def distinct(self) -> int:
        """Different fingerprints that are counted."""

    @property
    def different(self) -> int:
        """About how many different fingerprints there are: exactly, if all were counted."""

    @property
    def distinct_ones(self) -> tuple[int, ...]:
        """How many of those counted have a 1 in each of the 64 bits, the lowest first."""

    @property
    def shared(self) -> tuple[int, ...]:
        """How many of those counted are on so many pages: on 1, on 2 or 3, on 4 to 7 and so on."""

    @property
    def commonest(self) -> tuple[int, int] | None:
        """The fingerprint that is on most pages, and on how many. `None` if there is none, or if only a sample
        was counted: that may lack it.
        """

@final
class Fingerprinter:
    """Makes fingerprints by one recipe, named long or short.

    `table` is for recipes that weigh words by how rare they are. Threads may share it.
    """

    def __new__(cls, recipe: str | None = None, *, table: Table | None = None) -> Self: ...
    @property
    def recipe(self) -> str:
        """The name of the recipe."""

    def explain(self, text: str, *, limit: int | None = 20) -> Explained:
        """Makes the fingerprint of a text, and explains it.

        By its heaviest features, at most `limit`, and by how near each bit is to flipping. Reads
        the text three times, and takes some 50 bytes for each distinct feature.
        """

    def of_html(self, html: _types.Html, encoding: str | None = None) -> int | None:
        """The fingerprint of an HTML page; `None` if its visible text has fewer than eight words.

        It is `str`, or bytes with the `encoding` that the server named, or its Content-Type.
        """

    def of_page(self, text: str) -> int | None:
        """The fingerprint of the text of a page; `None` if it has fewer than eight words.

        Such a text is too short to tell it from others.
        """

    def of_text(self, text: str) -> int:
        """The fingerprint of a text; 0 if it has no features. Linear in the text."""

@final
class Fingerprints:
    """The fingerprints of many texts, in their order, and `None` for each text of fewer than eight
    words.

    For whoever reads Arrow it is a table with the column `fingerprint`.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """What `batches` has, as a stream of Arrow data in a capsule."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int | None: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[int | None]: ...
    def __iter__(self) -> Iterator[int | None]: ...
    def __len__(self) -> int: ...
    def batches(self, *, signed: bool = False) -> Batches:
        """The column `fingerprint`; it is `int64`, bit for bit, with `signed=True`."""

@final
class Fit:
    """What the comparisons of many pages tell of how rates spread: how well each of 64 priors explains
    them.

    The pages are given as their likelihoods, in any order; one without comparisons says nothing,
    and is to be left out. Takes some microseconds a page, while other threads run.
    """

    def __new__(cls, pages: Iterable[Likelihood] | None = None) -> Self: ...
    @property
    def pages(self) -> int:
        """How many pages there are."""

    def __eq__(self, other: object, /) -> bool: ...
    def prior(self) -> Prior:
        """The priors mixed, each as likely as it explains the pages well.

        Of fewer than 20 pages it is the default one. Takes some microseconds.
        """

    def without(self, page: Likelihood) -> Fit:
        """What it tells without a page that is in it, which is given as its likelihood."""

@final
class Flaw:
    """Damage: a byte of a file is not what it must be."""

    __match_args__: tuple[Literal["file"], Literal["offset"], Literal["what"]]
    def __new__(cls, file: str, offset: int, what: str) -> Self: ...
    @property
    def file(self) -> str:
        """The file, by its path within the store's directory."""

    @property
    def offset(self) -> int:
        """Where in the file."""

    @property
    def what(self) -> str:
        """What is wrong, with expected and found."""

@final
class Forgotten:
    """What `forget` has hidden."""

    __match_args__: tuple[Literal["pages"], Literal["visits"]]
    def __new__(cls, pages: int, visits: int) -> Self: ...
    @property
    def pages(self) -> int:
        """Pages."""

    @property
    def visits(self) -> int:
        """Visits of those pages."""

@final
class GenerationInfo:
    """A state of a store that is published."""

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
        """Its number: each has a larger one than those before."""

    @property
    def store(self) -> int:
        """The number of the store."""

    @property
    def written(self) -> datetime:
        """When it was published, by the clock of whoever did that."""

    @property
    def sequence(self) -> int:
        """The last operation that it has."""

    @property
    def files(self) -> FileCount:
        """The segments and tables that it names."""

    @property
    def epochs(self) -> tuple[EpochInfo, ...]:
        """The store's epochs, by number."""

    @property
    def near_epoch(self) -> int:
        """The epoch that near-duplicates are sought by."""

@final
class Hints:
    """What sitemaps or feeds say of when pages of a store changed: for the keyword `hints` of `due`.

    A page that changed after its last visit is known to be stale, but only with a probability, the
    `trust`. Takes 16 bytes for each change, of which there are at most 100,000,000. It is of use
    with the store that made it.
    """

    def changed_after(self, url: str, last: Time, now: Time) -> datetime | None:
        """When the page first changed after its last visit, to the second; `None` if nobody says so.

        Changes after `now` do not count.
        """

    def worth(self, url: str, weight: float, last: Time, now: Time, otherwise: float) -> float:
        """What a visit to a page of some weight is worth, in days, if without a hint it is worth
        `otherwise`.

        Raises `InvalidOptionError` if the weight is not positive and finite, or `otherwise` is negative
        or infinite.
        """

@final
class HostCensus:
    """What is counted of a host."""

    __match_args__: tuple[Literal["host"], Literal["pages"], Literal["visits"], Literal["verdicts"]]
    def __new__(cls, host: str, pages: int, visits: int, verdicts: VerdictCounts) -> Self: ...
    @property
    def host(self) -> str:
        """The host; of URLs without one their scheme and a colon."""

    @property
    def pages(self) -> int:
        """Its pages."""

    @property
    def visits(self) -> int:
        """Visits to them."""

    @property
    def verdicts(self) -> VerdictCounts:
        """What these found."""

@final
class HostShare:
    """How much of a store a host is."""

    __match_args__: tuple[Literal["host"], Literal["share"]]
    def __new__(cls, host: str, share: float) -> Self: ...
    @property
    def host(self) -> str:
        """The host; of URLs without one their scheme and a colon."""

    @property
    def share(self) -> float:
        """About what share of the pages it has, from 0 to 1."""

@final
class Hosts:
    """What to expect of the pages of a host, learned from many hosts.

    How far hosts differ, and how far the pages of one do, decides what a page tells of others of
    its host. Each host is given as the `Fit` of its pages. A few thousand hosts are enough. Takes
    some 10 microseconds a host, while other threads run.
    """

    def __new__(cls, hosts: Iterable[Fit]) -> Self: ...
    def prior(self, host: Fit) -> Prior:
        """What is to be expected of a page of this host, of which other pages are known.

        An empty `Fit` is a host that is new. Takes some microseconds.
        """

@final
class Incomplete:
    """A generation that is newer than the one that is read, and was passed over: it is not whole yet."""

    __match_args__: tuple[Literal["generation"], Literal["why"]]
    def __new__(cls, generation: int, why: str) -> Self: ...
    @property
    def generation(self) -> int:
        """Its number."""

    @property
    def why(self) -> str:
        """What is missing of it: the file, and how much of that."""

@final
class JoinPlan:
    """Splits a join of fingerprints in several places into tasks that run
    independently.

    Tasks are numbered from 0. It is made of what `View.histogram` counted in each place; `uncounted`
    makes one without. `ranges` is about how many tasks there are to be; none takes more than `most`
    fingerprints, if it can be helped. It can be pickled, and is the same wherever it is made of the
    same.
    """

    def __new__(cls, histograms: Iterable[bytes], ranges: int, most: int) -> Self: ...
    @property
    def fingerprints(self) -> int:
        """How many fingerprints were counted, those that are in several places as often."""

    @property
    def fingerprints_sent(self) -> int:
        """How many of these all tasks receive, each as often as there are tasks that take it: 8 bytes
        each.
        """

    @property
    def k(self) -> int:
        """The distance of the join."""

    def __len__(self) -> int:
        """How many tasks there are."""

    def join(
        self,
        task: int,
        first: Iterable[bytes | bytearray | memoryview],
        second: Iterable[bytes | bytearray | memoryview],
        *,
        memory_bytes: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Stream[Pair]:
        """Finds the pairs of a task among the chunks of `View.partition`: of its first and its second
        piece.

        Chunks may be in any order. Equal fingerprints, which come from several places,
        count once. `memory_bytes` (256 MiB) bounds the memory beside the fingerprints, and
        `threads` is how many run (as many as there are cores). Runs in the background, and waits
        for whoever reads the pairs. It ends when the stream is closed.
        """

    def size(self, task: int) -> int:
        """How many of these a task takes."""

    @staticmethod
    def uncounted(k: int, tasks: int) -> JoinPlan:
        """A join within `k` bits in at most so many tasks, of which each can have all fingerprints: none
        need be counted for that.

        Each looks for the pairs of some of the parts, so there are no more tasks than parts.
        """

@final
class JoinedPair:
    """Two fingerprints near each other of those that were given, by their places."""

    __match_args__: tuple[Literal["left"], Literal["right"], Literal["fingerprints"], Literal["distance"]]
    def __new__(cls, left: int, right: int, fingerprints: tuple[int, int], distance: int) -> Self: ...
    @property
    def left(self) -> int:
        """The place of the one that was given first, counted from 0."""

    @property
    def right(self) -> int:
        """The place of the other one."""

    @property
    def fingerprints(self) -> tuple[int, int]:
        """The two fingerprints, in this order."""

    @property
    def distance(self) -> int:
        """In how many bits the two differ, 0 to 64."""

@final
class JournalView:
    """What the journal holds: the operations that no segment has yet."""

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
        forgotten: int,
    ) -> Self: ...
    @property
    def first_operation(self) -> int:
        """The first operation in it; 0 if it is empty."""

    @property
    def last_operation(self) -> int:
        """The last operation in it; 0 if it is empty."""

    @property
    def operations(self) -> int:
        """How many there are."""

    @property
    def pages(self) -> int:
        """Different pages among them."""

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """When the first and the last visit was; `None` without visits."""

    @property
    def verdicts(self) -> VerdictCounts:
        """What its visits found."""

    @property
    def restated(self) -> int:
        """Contents restated in another epoch."""

    @property
    def weights(self) -> int:
        """Weights that pages were given."""

    @property
    def classes(self) -> int:
        """Classes that pages were given."""

    @property
    def forgotten(self) -> int:
        """Pages and prefixes that were forgotten."""

@final
class KeptFor:
    """For which page another one is dropped."""

    __match_args__: tuple[Literal["url"], Literal["distance"]]
    def __new__(cls, url: str, distance: int) -> Self: ...
    @property
    def url(self) -> str:
        """The page that is kept."""

    @property
    def distance(self) -> int:
        """In how many bits the two differ."""

@final
class LastChange:
    """When a page was last found changed, or back at an earlier version."""

    __match_args__: tuple[Literal["time"], Literal["distance"]]
    def __new__(cls, time: datetime, distance: int | None) -> Self: ...
    @property
    def time(self) -> datetime:
        """The time of the change if that is known, or else of the visit that found it."""

    @property
    def distance(self) -> int | None:
        """The Hamming distance to the version before, if it is known."""

@final
class Learned:
    """What the pages of a store tell of how often pages change: for the keyword `learned` of `due`.

    Whoever asks often may go by what the store told an hour ago. It is of use with the store that
    it was learned from.
    """

    @property
    def pages(self) -> int:
        """How many pages it was learned from: those that were compared, of all, or of a sample of a
        million.
        """

    def __eq__(self, other: object, /) -> bool: ...

@final
class Likelihood:
    """How likely each of 64 rates makes the comparisons of a page, which may be none.

    Each is a `Comparison`, or a pair of one and how many it counts for: several equal ones, or half
    a one that is doubtful. Costs time in proportion to them. Raises `InvalidOptionError` if one
    counts for less than none, or more than a thousand million.
    """

    def __new__(cls, comparisons: Iterable[Comparison | tuple[Comparison, float]] | None = None) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class LoadEpochs:
    """The epochs that a load brings: they begin when the load is done, in the same commit.

    It hands out numbers for the observations of one load, to which it is passed as `epochs`, and
    may be asked while that load takes its observations. If the load fails, they do not begin. A
    name that the store knows already means the store's epoch.
    """

    def __new__(cls) -> Self: ...
    def like(
        self,
        name: str,
        *,
        reserved: int = 0,
        role: _types.EpochRole | None = None,
        bands: _types.EpochBands | None = None,
        begun: int = 0,
        ended: bool = False,
    ) -> int:
        """The number in the load of an epoch of another store, of which this is known.

        How many leading bits of its fingerprints are `reserved` for metadata; its options; how many
        visits that store knew when it began; and whether it has ended there. Its table comes by
        `table`.
        """

    def named(
        self, name: str, *, role: _types.EpochRole | None = None, bands: _types.EpochBands | None = None
    ) -> int:
        """The number in the load of the epoch with this name, of fingerprints that are made elsewhere.

        If the store has none of the name, one begins. Raises `InvalidArgumentError` for a name that is
        empty or has control characters, or was asked for with other options before.
        """

    def of(self, other: View) -> list[int]:
        """The numbers in the load of another store's epochs, in their order.

        They bring their tables; one that has ended there ends here, unless pages here use it.
        """

    def origin(
        self, origin: Origin, *, role: _types.EpochRole | None = None, bands: _types.EpochBands | None = None
    ) -> int:
        """The number in the load of an epoch whose fingerprints simkeep makes.

        If the store has none of its name, one begins. Its table of document frequencies, if it has
        one, is copied into the store.
        """

    def table(self, epoch: int, table: Table) -> None:
        """Brings the table of document frequencies of an epoch of this load.

        It is copied into the store unless that has one. Raises `EpochError` for a number that this
        has not given, `InvalidArgumentError` if the name of the epoch is of another table, or none.
        """

@final
class Loaded:
    """What a load did."""

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
        """Observations that were taken."""

    @property
    def visits(self) -> int:
        """Visits that the store did not have."""

    @property
    def restated(self) -> int:
        """What was restated that the store did not have: second fingerprints of visits are among it."""

    @property
    def weights(self) -> int:
        """Weights that the store did not have, with a visit or without."""

    @property
    def classes(self) -> int:
        """Classes that the store did not have, with a visit or without."""

    @property
    def pages(self) -> int:
        """Pages with such visits, weights or classes, or something restated."""

    @property
    def new_pages(self) -> int:
        """How many of these pages the store did not know before."""

    @property
    def segments(self) -> int:
        """Segments that were made."""

    @property
    def bytes(self) -> int:
        """Bytes of these segments."""

    @property
    def begun(self) -> tuple[EpochInfo, ...]:
        """Epochs that began with it."""

@final
class LoggedOperation:
    """An operation, as it was acknowledged."""

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
        """Its number."""

    @property
    def kind(self) -> OperationKind:
        """What it did."""

    @property
    def url(self) -> str | None:
        """The page; `None` if a prefix was forgotten."""

    @property
    def entry(self) -> VisitEntry | Restated | PropertyEntry | None:
        """The entry that the page got: `VisitEntry`, `Restated` or `PropertyEntry`; `None` if something
        was forgotten.
        """

    @property
    def prefix(self) -> str | None:
        """The prefix that was forgotten."""

    @property
    def pages(self) -> int | None:
        """How many pages were known under the prefix."""

    @property
    def visits(self) -> int | None:
        """How many visits were known of what was forgotten."""

@final
class Loss:
    """Something that a repair could not save."""

    __match_args__: tuple[
        Literal["file"],
        Literal["bytes"],
        Literal["operations"],
        Literal["pages"],
        Literal["after"],
        Literal["before"],
        Literal["why"],
    ]
    def __new__(
        cls,
        file: str,
        bytes: tuple[int, int] | None,
        operations: tuple[int, int | None] | None,
        pages: int | None,
        after: str | None,
        before: str | None,
        why: str,
    ) -> Self: ...
    @property
    def file(self) -> str:
        """The file that had it."""

    @property
    def bytes(self) -> tuple[int, int] | None:
        """From where to where in the file, if that is known. Nothing outside of this range is lost."""

    @property
    def operations(self) -> tuple[int, int | None] | None:
        """The first and the last of the operations that it was among, as far as that is known. If no pages are
        counted, all of them are lost. The last is `None` if nothing says how far they went.
        """

    @property
    def pages(self) -> int | None:
        """How many page records are lost; `None` if a whole file or operations are lost."""

    @property
    def after(self) -> str | None:
        """The page after which the lost pages come in SURT order, if there is one."""

    @property
    def before(self) -> str | None:
        """The page before which the lost pages come in SURT order, if there is one."""

    @property
    def why(self) -> str:
        """Why it is lost, in words."""

@final
class Matches:
    """The answer of a search: a collection of the pages that are near."""

    __match_args__: tuple[Literal["near"], Literal["complete"], Literal["within"]]
    def __new__(cls, near: tuple[Near, ...], complete: bool, within: int | None) -> Self: ...
    @property
    def near(self) -> tuple[Near, ...]:
        """The pages, nearest first, then in SURT order."""

    @property
    def complete(self) -> bool:
        """Whether these are all pages. If not, the limit, the budget, or a crowd of fingerprints
        cut the answer short.
        """

    @property
    def within(self) -> int | None:
        """The distance up to which no page is missing; `None` if pages with the very fingerprint may be
        missing, too.
        """

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Near: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[Near, ...]: ...
    def __iter__(self) -> Iterator[Near]: ...
    def __len__(self) -> int: ...

@final
class Meaning:
    """What a distance between two versions of a page means. As a text: "moderately, some 0.5 to 6 % of
    its words".
    """

    __match_args__: tuple[Literal["distance"], Literal["band"], Literal["changed"], Literal["text"]]
    def __new__(cls, distance: int, band: Band, changed: tuple[float, float], text: str) -> Self: ...
    @property
    def distance(self) -> int:
        """The distance, in bits."""

    @property
    def band(self) -> Band:
        """How much that is."""

    @property
    def changed(self) -> tuple[float, float]:
        """The least and the greatest share of its words that changed, from 0 to 1, in 8 of 10 cases."""

    @property
    def text(self) -> str:
        """For people."""

@final
class Merged:
    """What `merge` did."""

    __match_args__: tuple[Literal["inputs"], Literal["bytes"]]
    def __new__(cls, inputs: int, bytes: int) -> Self: ...
    @property
    def inputs(self) -> int:
        """Segments that went in."""

    @property
    def bytes(self) -> int:
        """Bytes written."""

@final
class Mirror:
    """Two sites of which many paths lead to pages near each other."""

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
        """The site that leads: on most paths it was first seen with what both have. Where it is known of some
        paths that both changed, those decide; where none decide, SURT order does.
        """

    @property
    def follower(self) -> MirrorSite:
        """The other one."""

    @property
    def is_mirror(self) -> bool:
        """Whether the share is as large as was asked for."""

    @property
    def common(self) -> int:
        """How many paths both have."""

    @property
    def near(self) -> int:
        """How many of those lead to pages near each other: by what is in force on one, and what is in force or
        was earlier on the other.
        """

    @property
    def differing(self) -> int:
        """How many paths that both have lead to pages that are not near each other."""

    @property
    def share(self) -> float:
        """What share of the paths that either has are near, from 0 to 1."""

    @property
    def lag(self) -> timedelta | None:
        """By how long the follower lags: the median of how much later it was first seen with what both
        have, over paths on which both were seen to change to that; `None` if there is no such path.
        """

    @property
    def examples(self) -> tuple[MirrorExample, ...]:
        """Up to ten paths that both have, drawn by lot."""

@final
class MirrorExample:
    """The pages of a path that two sites have."""

    __match_args__: tuple[Literal["leader"], Literal["follower"], Literal["distance"]]
    def __new__(cls, leader: str, follower: str, distance: int) -> Self: ...
    @property
    def leader(self) -> str:
        """The page of the site that leads."""

    @property
    def follower(self) -> str:
        """That of the other one."""

    @property
    def distance(self) -> int:
        """In how many bits they differ: of what is in force on one and all versions at hand of the other, the
        nearest.
        """

@final
class MirrorSite:
    """A site: a host, or a folder of one."""

    __match_args__: tuple[Literal["site"], Literal["paths"], Literal["outdated"]]
    def __new__(cls, site: str, paths: int, outdated: int) -> Self: ...
    @property
    def site(self) -> str:
        """The prefix that its pages are under; it ends with `/`."""

    @property
    def paths(self) -> int:
        """How many paths it has."""

    @property
    def outdated(self) -> int:
        """On how many of those that are near it has in force what the other site had earlier."""

@final
class Mirrors:
    """Which sites mirror each other."""

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
        """The pairs: first those that mirror each other, and of those first the ones with most pages near each
        other.
        """

    @property
    def mirrors(self) -> int:
        """How many pairs mirror each other, those included that are beyond the limit."""

    @property
    def partial(self) -> int:
        """How many others have a quarter of the share, so that they are named, too."""

    @property
    def paths(self) -> int:
        """How many paths there are."""

    @property
    def without_fingerprint(self) -> int:
        """How many pages have content, but no fingerprint of the epoch: they are of no path."""

    @property
    def sites(self) -> int:
        """How many sites have as many paths as were asked for."""

    @property
    def compared(self) -> int:
        """How many pairs of them had so much in common in their samples that they were compared."""

    @staticmethod
    def recall(share: float) -> float:
        """How likely it is at least that two large sites are compared.

        That is if of the paths that either has this share leads to the same on both.
        """

@final
class Near:
    """Another page near a fingerprint."""

    __match_args__: tuple[Literal["url"], Literal["distance"], Literal["fingerprint"]]
    def __new__(cls, url: str, distance: int, fingerprint: int) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def distance(self) -> int:
        """The Hamming distance of its fingerprint."""

    @property
    def fingerprint(self) -> int:
        """The page's fingerprint, with reserved bits set to 0."""

@final
class NearDuplicate:
    """A near-duplicate of what a visit saw."""

    __match_args__: tuple[Literal["url"], Literal["distance"], Literal["fingerprint"], Literal["first"]]
    def __new__(cls, url: str, distance: int, fingerprint: int, first: datetime) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def distance(self) -> int:
        """The Hamming distance of its fingerprint."""

    @property
    def fingerprint(self) -> int:
        """The page's fingerprint, with reserved bits set to 0."""

    @property
    def first(self) -> datetime:
        """When the page was first seen with what it has in force."""

@final
class NewPage:
    """What a page that nobody has visited is worth: from `Plan.of_new`."""

    __match_args__: tuple[Literal["value"], Literal["rate"], Literal["weight"], Literal["every"]]
    def __new__(cls, value: float, rate: Rate, weight: float, every: timedelta) -> Self: ...
    @property
    def value(self) -> float:
        """What a visit is worth, as of a page that was not visited for the largest interval: it is compared
        with the value of others.
        """

    @property
    def rate(self) -> Rate:
        """How often it is believed to change, by the pages of its host."""

    @property
    def weight(self) -> float:
        """How much it matters, by its rule."""

    @property
    def every(self) -> timedelta:
        """How often it is going to be visited."""

@final
class Observation:
    """One visit, for `observe_batch` and `load`; its arguments are those of `Store.observe`.

    It is checked when it is made, but for what only a store knows: what a URL may be, and epochs.
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
        weight: float | None = None,
        class_: int | None = None,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def at(self) -> datetime:
        """When the visit was."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @classmethod
    def failed(cls, url: str, at: Time, **keywords: Unpack[_types.Word]) -> Self:
        """A visit that failed."""

    @classmethod
    def gone(cls, url: str, at: Time, **keywords: Unpack[_types.Word]) -> Self:
        """A visit that found the page gone."""

    @classmethod
    def not_modified(cls, url: str, at: Time, **keywords: Unpack[_types.NotModified]) -> Self:
        """A visit to which the server answered that nothing was modified."""

    @classmethod
    def redirect(cls, url: str, at: Time, to: str, **keywords: Unpack[_types.Word]) -> Self:
        """A visit that found a redirect to a target, which may be relative to the page."""

@final
class Operations(Stream[LoggedOperation]):
    """The operations that the journal holds, in the order in which they were acknowledged."""

    @property
    def available(self) -> tuple[int, int] | None:
        """The numbers of the first and the last operation that the journal holds.

        `None` if it is empty. What comes before them was sealed.
        """

@final
class Optimum:
    """How a budget is best spent, from `fixed_intervals`, `random_times` or `few_misses`."""

    __match_args__: tuple[Literal["visits_per_day"], Literal["threshold"], Literal["freshness"]]
    def __new__(cls, visits_per_day: tuple[float, ...], threshold: float, freshness: float) -> Self: ...
    @property
    def visits_per_day(self) -> tuple[float, ...]:
        """The visits a day of each page, in the order given. They add up to the budget."""

    @property
    def threshold(self) -> float:
        """The worth of one more visit a day, Λ: equal for all pages that are visited, in days."""

    @property
    def freshness(self) -> float:
        """The share of the time that a page is fresh, on average over the pages by weight, from 0 to 1."""

@final
class Origin:
    """What makes the fingerprints of an epoch: an extractor, a recipe and a table of document
    frequencies.

    `recipe` is the name of a recipe, long or short. `extractor` is the name of what makes the
    texts, with its version; by default simkeep's own, `simkeep.EXTRACTOR`. `table` is for recipes
    that weigh words by how rare they are.
    """

    def __new__(
        cls, recipe: str | None = None, *, extractor: str | None = None, table: Table | None = None
    ) -> Self: ...
    @property
    def recipe(self) -> str:
        """The name of the recipe."""

    @property
    def extractor(self) -> str | None:
        """The name of the extractor, if there is one."""

    @property
    def name(self) -> str:
        """The name of the epoch: the extractor, the recipe, and the checksum of the table."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @staticmethod
    def is_name(name: str) -> bool:
        """Whether an epoch with this name has fingerprints of one of simkeep's own recipes."""

@final
class Original:
    """The page that comes first of several with nearly the same content; see `Outcome.original`."""

    __match_args__: tuple[Literal["url"], Literal["distance"], Literal["by"]]
    def __new__(cls, url: str, distance: int, by: OriginalBy) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def distance(self) -> int:
        """In how many bits its fingerprint differs."""

    @property
    def by(self) -> OriginalBy:
        """How it is known to be nearly the same."""

@final
class Outcome:
    """The answer to an observation. As a text: "changed by 4 bits: moderately, some 0.5 to 6 % of its
    words; near another page".
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
        copies: tuple[Copy, ...],
        near: tuple[NearDuplicate, ...],
        original: Original | None,
        complete: bool,
        text: str,
    ) -> Self: ...
    @property
    def verdict(self) -> Verdict:
        """What this page is now."""

    @property
    def by(self) -> SameBy | None:
        """How it is known to be the same, if that is the verdict."""

    @property
    def distance(self) -> int | None:
        """In how many bits its fingerprint differs from that of the version before; `None` where
        that is not known, or nothing changed.
        """

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the fingerprints that were compared."""

    @property
    def to(self) -> datetime | None:
        """When the version that the page went back to was last seen, if it was reverted."""

    @property
    def meaning(self) -> Meaning | None:
        """What the distance means, if there is one."""

    @property
    def novel(self) -> bool:
        """Whether the visit saw content that is far from all of the page's last versions: the first of the
        page; or changed by more than what is minor in its epoch, and not near an earlier version. Where
        there is no distance, as to a fingerprint of another epoch, content is far from a version that has
        not its digest. False of a visit that is out of order: of that it is not told.
        """

    @property
    def priority(self) -> float:
        """How much what the visit saw is worth being processed further, beside what others saw. It goes from 0
        to the page's weight, the one in force after the visit:

        | verdict | priority |
        |---|---|
        | `New` | the weight |
        | `Changed` or `Reverted` | the weight times the distance / 32, but not more than the weight |
        | either, by a distance that is not known | the weight |
        | `Same`, `Unseen`, `Gone`, `Failed`, `Known` | 0 |
        | `OutOfOrder` | 0, since what was seen later stands |

        So it is 0 of a page that was gone and is back as it was. Two texts that have nothing to do with
        each other are 32 bits apart on average. That a priority grows with the distance is from S.
        Seshasai, *Efficient near duplicate document detection for specialized corpora*, MIT 2009, 2.6.1.
        """

    @property
    def also(self) -> bool:
        """Whether the fingerprint in another epoch was stored. This can happen for a visit that is known: it
        may come again with a fingerprint that is new.
        """

    @property
    def copies(self) -> tuple[Copy, ...]:
        """Other pages whose version in force has the same digest (and fingerprint, in the same epoch), ordered
        by when they were first seen with it. The first is the original, unless this page had the content
        before that. None of content without a fingerprint.
        """

    @property
    def near(self) -> tuple[NearDuplicate, ...]:
        """Near-duplicates: other pages whose version in force is near, without the copies, by the newest epoch
        that finds near-duplicates in which there are two fingerprints to compare. Nearest first, then in
        SURT order.
        """

    @property
    def original(self) -> Original | None:
        """Of `copies` and `near` the page that ranks before this one and before all others, by `Options.rule`:
        as a rule that which was first seen with its content. `None` if this page comes first, or there is
        no other.

        It is what an indexer keeps in favour of this page, at once; and with `priority`, it says what need
        not be processed at all. A page may yield to one that yields to a third which is not near this one;
        clusters would not let it, as only a page that leads is yielded to.
        """

    @property
    def complete(self) -> bool:
        """Whether `copies` and `near` name everything, so that no other can be the original. If not, they were
        cut short, for one of the reasons that `Matches.complete` lists.
        """

    @property
    def text(self) -> str:
        """For people."""

@final
class Outcomes:
    """The answers to many observations: a sequence of `Outcome`s, in the order of the observations.

    For whoever reads Arrow it is a table with a row for each of them: `verdict`, `distance`, `to`,
    `novel`, `priority` and `complete`.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """What `batches` has, as a stream of Arrow data in a capsule."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[Outcome]: ...
    def __iter__(self) -> Iterator[Outcome]: ...
    def __len__(self) -> int: ...
    def batches(self) -> Batches:
        """A row for each observation: `verdict`, `distance`, `to`, `novel`, `priority` and `complete`."""

    def copies(self) -> Batches:
        """A row for each copy: `observation`, counted from 0, `url` and `first`."""

    def near(self, *, signed: bool = False) -> Batches:
        """A row for each near-duplicate: `observation`, `url`, `distance`, `fingerprint` and `first`.

        The observation is counted from 0. The fingerprint is `int64`, bit for bit, with
        `signed=True`.
        """

@final
class Overview:
    """What a store is on the whole."""

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
        space: tuple[SpaceOf, ...],
        hosts: tuple[HostShare, ...],
        flaw: Flaw | None,
    ) -> Self: ...
    @property
    def sequence(self) -> int:
        """The number of the last operation."""

    @property
    def pages(self) -> int:
        """Pages that are known."""

    @property
    def in_force(self) -> int:
        """Pages with content that is in force."""

    @property
    def gone(self) -> int:
        """Pages that are gone."""

    @property
    def never(self) -> int:
        """Pages of which no content was ever seen."""

    @property
    def visits(self) -> int:
        """Visits to all pages."""

    @property
    def first(self) -> datetime | None:
        """No visit was earlier: that of the earliest one, unless that was forgotten and merged away; `None`
        without visits.
        """

    @property
    def last(self) -> datetime | None:
        """No visit was later; `None` without visits."""

    @property
    def unsealed_pages(self) -> int:
        """Pages of which something is in the journal, and in no segment yet."""

    @property
    def unsealed(self) -> tuple[int, int] | None:
        """The first and the last operation that the journal holds; `None` if it is empty."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each segment or memtable and each epoch that has them: exact
        if there is one segment and nothing in the journal.
        """

    @property
    def commonest_pages(self) -> int:
        """The most pages that one fingerprint is or was on in one segment."""

    @property
    def epochs(self) -> tuple[EpochOverview, ...]:
        """All epochs, by number."""

    @property
    def segments(self) -> tuple[SegmentOverview, ...]:
        """The live segments, the oldest first."""

    @property
    def space(self) -> tuple[SpaceOf, ...]:
        """Bytes of the segments, by what they are for, the most first."""

    @property
    def hosts(self) -> tuple[HostShare, ...]:
        """The hosts that have more than about one in fifty of the pages, the largest first. They are told from
        64 pages at equal distances in SURT order, and without what is in the journal.
        """

    @property
    def flaw(self) -> Flaw | None:
        """What was found to be damaged among those 64 pages; then there are no hosts."""

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
        changes: Changes,
    ) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def visits(self) -> int:
        """How many visits are known, without restated content."""

    @property
    def first(self) -> datetime:
        """The earliest."""

    @property
    def last(self) -> Visit:
        """The latest visit."""

    @property
    def content(self) -> Content | None:
        """The content in force, with its fingerprint of the newest epoch that tells of changes. `None` if the
        page is gone or no content was ever seen.
        """

    @property
    def contents(self) -> tuple[Content, ...]:
        """The content in force with each of its fingerprints: one for each epoch in which it has one, or is
        known to have none; that of the newest epoch first.
        """

    @property
    def content_seen(self) -> datetime | None:
        """When that content was last seen."""

    @property
    def modified(self) -> datetime | None:
        """When the content last seen was last modified, as the server said with it or after it: what to send
        as `If-Modified-Since`. `None` if no content was ever seen, or the server did not say since.
        """

    @property
    def gone(self) -> bool:
        """Whether the page is gone."""

    @property
    def weight(self) -> float:
        """How important it is: the weight that was given last, or 1."""

    @property
    def class_(self) -> int | None:
        """The class that it is of, if one was given."""

    @property
    def changes(self) -> Changes:
        """What its visits tell about how it changes."""

@final
class PageCluster:
    """The cluster of one page."""

    __match_args__: tuple[Literal["cluster"], Literal["pages"], Literal["complete"]]
    def __new__(cls, cluster: Cluster, pages: tuple[ClusteredPage, ...], complete: bool) -> Self: ...
    @property
    def cluster(self) -> Cluster:
        """The cluster."""

    @property
    def pages(self) -> tuple[ClusteredPage, ...]:
        """Its pages: the leader first, then the others by distance and in SURT order."""

    @property
    def complete(self) -> bool:
        """Whether this is what `clusters` would say. If not, the searches around the page were cut
        short, and it may be led by another page, or have others.
        """

@final
class PagePair:
    """Two pages with fingerprints that are equal or near each other."""

    __match_args__: tuple[Literal["left"], Literal["right"], Literal["distance"]]
    def __new__(cls, left: PairedPage, right: PairedPage, distance: int) -> Self: ...
    @property
    def left(self) -> PairedPage:
        """The page with the smaller fingerprint; of two with the same, the first in SURT order."""

    @property
    def right(self) -> PairedPage:
        """The other one."""

    @property
    def distance(self) -> int:
        """In how many bits their fingerprints differ."""

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
        """The number of the segment; `None` for what is in the journal, and in no segment yet."""

    @property
    def number(self) -> int:
        """The number of the page there, in the order of the segment."""

    @property
    def bytes(self) -> int | None:
        """Bytes of its record; `None` in the journal."""

    @property
    def entries(self) -> int:
        """How many entries stand there: visits, fingerprints in other epochs, weights and classes."""

    @property
    def is_first(self) -> bool:
        """Whether this is all of the page: older segments know nothing of it, or that was forgotten."""

@final
class Pair:
    """Two different fingerprints of pages that are near each other."""

    __match_args__: tuple[Literal["left"], Literal["right"], Literal["distance"]]
    def __new__(cls, left: int, right: int, distance: int) -> Self: ...
    @property
    def left(self) -> int:
        """The smaller one."""

    @property
    def right(self) -> int:
        """The larger one."""

    @property
    def distance(self) -> int:
        """In how many bits they differ: 1 to 64."""

@final
class PairedPage:
    """One page of a pair."""

    __match_args__: tuple[Literal["url"], Literal["fingerprint"]]
    def __new__(cls, url: str, fingerprint: int) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def fingerprint(self) -> int:
        """Its fingerprint, with reserved bits set to 0."""

@final
class Period:
    """What visits found in a period."""

    __match_args__: tuple[Literal["start"], Literal["verdicts"]]
    def __new__(cls, start: datetime, verdicts: VerdictCounts) -> Self: ...
    @property
    def start(self) -> datetime:
        """When it begins."""

    @property
    def verdicts(self) -> VerdictCounts:
        """What its visits found."""

@final
class Plan:
    """How a number of visits a day is spent for ever: the threshold from which on a page is visited.

    As a text, for people: "20 visits a day to 100 pages, each when it is worth 4.321: ...". It goes
    by what was known when it was made: make one anew once a day, say.
    """

    @property
    def freshness(self) -> float:
        """For how much of the time a page is expected to be as it was last seen, from 0 to 1, on average
        over all pages.
        """

    @property
    def pages(self) -> float:
        """How many pages there are; of more than a million this is estimated from a sample of them."""

    @property
    def per_day(self) -> float:
        """The visits a day that were asked for."""

    @property
    def rarely_visited(self) -> float:
        """How many of them are visited less often than once in 360 days."""

    @property
    def threshold(self) -> float:
        """A page is due when a visit to it is worth this. It is infinite if the visits are not enough to
        visit each page as soon as it must be.
        """

    @property
    def visits_per_day(self) -> float:
        """The visits a day that this comes to: more than were asked for if pages must be visited more
        often, and less if no page may be.
        """

    def of_new(self, url: str) -> NewPage:
        """What a page is worth that nobody has visited, by its host and by its rule. Reads nothing."""

@final
class PoissonPages:
    """Pages whose changes are random, at rates that are drawn.

    A seed names them, on every machine. `len` says how many there are. They take 8 bytes for each
    change.
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
    ) -> PoissonPages:
        """Draws pages of hosts, with their changes up to a day: so many hosts of so many `pages` each.

        The rates of hosts are log-normal around the `median`, in changes a day, with the width
        `between`; those of pages around that of their host, with the width `within`. The seed is 1
        by default. Raises `InvalidOptionError` if a number is not positive, or more than 100 million
        changes are to be expected. Ctrl-C leaves it.
        """

    @staticmethod
    def flat(pages: int, *, days: float, seed: int | None = None) -> PoissonPages:
        """Draws so many pages, with their changes up to a day.

        All octaves from a change in 400 days to one every eight hours or so are equally likely. The
        seed is 1 by default. Raises `InvalidOptionError` if there are no pages, or more than 100 million
        changes are to be expected. Ctrl-C leaves it.
        """

@final
class Policy:
    """What decides which page is visited first, by its name.

    There are `"value"` (the default), `"harmonic"`, `"uniform"`, `"fixed:7d"`, `"thesis:3,1.5"`,
    `"nutch:0.4,0.2,0.3"` and `"stormcrawler"`. By `"value"` and `"harmonic"` it is what a visit is
    worth; by `"uniform"` the time since the last one; by all others that time over an interval.
    Parameters that are left out are those above. As a text it is its name with all parameters.
    Raises `InvalidArgumentError` if there is none of that name.
    """

    __match_args__: tuple[Literal["name"]]
    def __new__(cls, name: str | Policy | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """Its name, with all parameters."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def schedule(self, recent: Recent) -> Schedule | None:
        """The interval that a page has.

        `None` by `"value"`, `"harmonic"` and `"uniform"`, which have no intervals of their own.
        """

    def score(self, belief: Belief, recent: Recent, weight: float, days: float) -> float:
        """What puts a page in order: the one with the highest score is visited first.

        By `"value"` and `"harmonic"` it is what a visit is worth, in days, with the weight; by
        `"uniform"` the days since the last visit; by all others those over the interval, 1 when a
        page is due. Raises `InvalidOptionError` if the weight is not positive and finite.
        """

@final
class Preset:
    """A recipe with a short name."""

    __match_args__: tuple[
        Literal["name"],
        Literal["recipe"],
        Literal["what"],
        Literal["near"],
        Literal["bands"],
    ]
    def __new__(cls, name: str, recipe: str, what: str, near: int | None, bands: Bands) -> Self: ...
    @property
    def name(self) -> str:
        """The short name."""

    @property
    def recipe(self) -> str:
        """The recipe's own name."""

    @property
    def what(self) -> str:
        """What it is for."""

    @property
    def near(self) -> int | None:
        """The distance within which fingerprints are advised to count as near: the largest at which 97 % of
        the pairs resemble each other by .8 or more (the Jaccard index of runs of five words), in the
        versions of terms of service that the recipes were measured on. `None` if there is none.
        """

    @property
    def bands(self) -> Bands:
        """Up to which distance the change of a page is minor, and up to which it is moderate."""

@final
class Prior:
    """How likely each of 64 rates is before a page's own visits tell more.

    By default rates spread widely: half of the pages change more often than every two months, one of six
    more often than every eight days, and one of six less often than every 15 months.
    """

    def __new__(cls) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    @staticmethod
    def gamma(shape: float, days: float) -> Prior:
        """The Gamma distribution of a shape whose mean is shape/days.

        That is what is known after so many changes in so many days, if nothing was known before. Raises
        `InvalidOptionError` if the shape is not from 0.01 to a million, or the days are not from a
        millisecond to 4,000,000.
        """

    @staticmethod
    def log_normal(median_per_day: float, width: float) -> Prior:
        """Rates whose logarithms are normal.

        Half of them are above the median, in changes a day, and two of three are within a factor of
        e^width from it. Raises `InvalidOptionError` if the median is not positive and finite, or the
        width is not from 0.1 to 100.
        """

@final
class Progress:
    """How far a call that takes long has come, for other threads to look at, and their way to stop it.

    It is of one call at a time. What is stopped raises `CancelledError`, as a rule within some
    milliseconds.
    """

    def __new__(cls) -> Self: ...
    @property
    def cancelled(self) -> bool:
        """Whether it was told to stop."""

    @property
    def done(self) -> int:
        """How much of this stage is done."""

    @property
    def found(self) -> int:
        """What was found on the way: flaws of a check, pairs of a join."""

    @property
    def fraction(self) -> float | None:
        """The share of this stage that is done, from 0 to 1; `None` where nobody knows."""

    @property
    def of(self) -> int | None:
        """Of how much, about; `None` where nobody knows."""

    @property
    def stage(self) -> Stage:
        """What the call is doing."""

    def cancel(self) -> None:
        """Has the call stop soon."""

@final
class PropertyEntry:
    """A property that a page was given: a weight or a class."""

    __match_args__: tuple[Literal["time"], Literal["weight"], Literal["class_"]]
    def __new__(cls, time: datetime, weight: float | None, class_: int | None) -> Self: ...
    @property
    def time(self) -> datetime:
        """When it was set."""

    @property
    def weight(self) -> float | None:
        """The weight, if it is one."""

    @property
    def class_(self) -> int | None:
        """The class, if it is one."""

@final
class Publication:
    """What was published."""

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
        """Whether it is new. If not, the newest that was there already is this state of the store."""

    @property
    def sequence(self) -> int:
        """The last operation that it has."""

    @property
    def unsealed(self) -> int:
        """How many operations were acknowledged since, and are in no segment yet: none of them is published.
        """

    @property
    def linked(self) -> FileCount:
        """Files that are links: of one file with the store."""

    @property
    def copied(self) -> FileCount:
        """Files that are copies."""

    @property
    def kept(self) -> FileCount:
        """Files that were there already."""

    @property
    def checked(self) -> FileCount:
        """Files that were read and checked: all that are linked or copied, and some that are kept."""

    @property
    def unchecked(self) -> FileCount:
        """Files that are kept and were not read: they were found sound in the last 30 days."""

    @property
    def replaced(self) -> FileCount:
        """Files among the copies that took the place of damaged ones."""

    @property
    def removed(self) -> tuple[int, ...]:
        """Older generations that were removed, by number."""

    @property
    def removed_files(self) -> int:
        """Files that were removed because no generation names them any more."""

    @property
    def older(self) -> tuple[int, ...]:
        """Older generations that are there still, by number. They have what was forgotten since."""

    @property
    def forgotten(self) -> bool | None:
        """Whether anything was forgotten since the oldest of them. `None` if that cannot be told: where a
        merge put its operations and later ones together, and these were not visits alone.
        """

    @property
    def not_linked(self) -> str | None:
        """Why files were copied that were to be linked, as the system said it."""

@final
class PublishedFile:
    """A file that a generation names."""

    __match_args__: tuple[Literal["name"], Literal["bytes"]]
    def __new__(cls, name: str, bytes: int) -> Self: ...
    @property
    def name(self) -> str:
        """Its path within the directory, such as `files/e220a8397b1dcdaf-0000000003-0d640880.seg`. A name is
        for ever of the same bytes.
        """

    @property
    def bytes(self) -> int:
        """How many bytes it has."""

@final
class RankedPage:
    """A page that is clustered, and where it ranks."""

    __match_args__: tuple[Literal["url"], Literal["fingerprint"], Literal["class_"], Literal["rank"]]
    def __new__(cls, url: str, fingerprint: int, class_: int | None, rank: bytes) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def fingerprint(self) -> int:
        """Its fingerprint, with reserved bits set to 0."""

    @property
    def class_(self) -> int | None:
        """The class that it is of now; `None` of a page that has none."""

    @property
    def rank(self) -> bytes:
        """Bytes that are less, one after another, for the page that ranks before others, in whichever store it
        is: what the rules go by, then its SURT key, then its URL.
        """

@final
class Rate:
    """A rate of changes, and how sure it is."""

    __match_args__: tuple[Literal["per_day"], Literal["low"], Literal["high"]]
    def __new__(cls, per_day: float, low: float, high: float) -> Self: ...
    @property
    def per_day(self) -> float:
        """Changes a day: the mean of the belief."""

    @property
    def low(self) -> float:
        """The rate is below this with a probability of 5 %."""

    @property
    def high(self) -> float:
        """The rate is above this with a probability of 5 %."""

@final
class Reader(View):
    """A read-only view of a store, also beside a writer in another process, and without permission to
    write.

    It sees everything that was acknowledged before it was opened or refreshed, and writes nothing to
    the store's directory. Where a store is published it opens the newest generation that is whole;
    `Reader.published` opens one by its number. A reader may be used in
    a forked process, and is pickled as its path, and opened anew. With `plain_reads=True` segments are
    read whole into memory instead of being mapped.
    """

    def __new__(cls, path: str | PathLike[str], *, plain_reads: bool = False) -> Self: ...
    @property
    def path(self) -> Path:
        """Where the store is."""

    @property
    def closed(self) -> bool:
        """Whether it was closed."""

    @property
    def fell_back(self) -> bool:
        """Whether the writer's commits followed one another too fast, so that this is only what was
        sealed.
        """

    @property
    def generation(self) -> int | None:
        """The number of the generation that this is; `None` if it reads a store."""

    @property
    def incomplete(self) -> Incomplete | None:
        """The newest generation in the directory, if it is not whole and an older one is read.

        It is being carried there still, or a file of it was cut. `None` if it reads a store.
        """

    @property
    def written(self) -> datetime | None:
        """When this was the newest state, if a writer was at work then; of a generation, when it was
        published.

        `None` if there was no writer.
        """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def behind(self) -> int:
        """How many operations have been acknowledged by now that this reader does not see.

        Costs one small read.
        """

    def close(self) -> None:
        """Lets go of the files. May be called twice."""

    @staticmethod
    def published(
        path: str | PathLike[str], generation: int | None = None, *, plain_reads: bool = False
    ) -> Reader:
        """Opens a generation that is published in a directory: the one of a number, or the newest.

        Takes no lock, and needs nothing but the files that the generation names. `refresh` moves on to
        the newest generation if no number was given, and else to nothing.
        """

    def refresh(self) -> bool:
        """Moves on to the newest state, and says whether anything changed."""

    def snapshot(self) -> Snapshot:
        """What is seen now, which does not change when the reader is refreshed."""

    def stats(self) -> Stats:
        """Sizes of what is seen. Reads no table."""

@final
class Recent:
    """The last 64 comparisons of a page in their order, for policies that go by it."""

    def __new__(cls, comparisons: Iterable[Comparison] | None = None) -> Self: ...
    @property
    def changes(self) -> tuple[bool, ...]:
        """Whether each comparison found a change, the oldest first."""

    @property
    def quiet_days(self) -> float:
        """The days from the last known change to the last visit; from the first visit, if there was none."""

    def __eq__(self, other: object, /) -> bool: ...

@final
class Repaired:
    """What a repair saved and lost."""

    __match_args__: tuple[
        Literal["whole"],
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
        whole: bool,
        pages: int,
        visits: int,
        lost: tuple[Loss, ...],
        lost_pages: int,
        lost_visits: int,
        damaged_frames: int,
        withheld_pages: int,
        ambiguities: tuple[str, ...],
        unnamed_epochs: tuple[str, ...],
        flaws: tuple[Flaw, ...],
        more_flaws: int,
    ) -> Self: ...
    @property
    def whole(self) -> bool:
        """Whether everything was saved, and nothing that was forgotten."""

    @property
    def pages(self) -> int:
        """Pages of the new store."""

    @property
    def visits(self) -> int:
        """Visits of the new store."""

    @property
    def lost(self) -> tuple[Loss, ...]:
        """What is lost, file by file."""

    @property
    def lost_pages(self) -> int:
        """Lost page records, as far as they could be counted."""

    @property
    def lost_visits(self) -> int:
        """Lost visits, as far as they could be counted."""

    @property
    def damaged_frames(self) -> int:
        """Frames of the journal that are there, and do not have their checksums. What they had is among the
        lost operations.
        """

    @property
    def withheld_pages(self) -> int:
        """Pages of which something was left out, because a lost operation may have forgotten it."""

    @property
    def ambiguities(self) -> tuple[str, ...]:
        """Why there may be pages that were forgotten: the lost operations that may have done it. Only with
        `keep_forgotten`.
        """

    @property
    def unnamed_epochs(self) -> tuple[str, ...]:
        """Epochs whose names could not be read, by the names that they have now."""

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        """The first flaws, whether or not they lost anything."""

    @property
    def more_flaws(self) -> int:
        """How many more flaws there are."""

@final
class Replay:
    """Pages of a store with their histories, for `simkeep.recrawl.crawl`.

    Each version is in force from the visit that found it until the visit that found the next one.
    `len` says how many pages there are.
    """

    @property
    def first(self) -> datetime:
        """The time of the first visit to any of those, which is day 0; the start of 1970 if there are none.
        """

    @property
    def last(self) -> datetime:
        """The time of the last visit to any of those."""

    @property
    def of(self) -> int:
        """How many pages there are that have had content, of which these are a part."""

    def __len__(self) -> int: ...

@final
class Restated:
    """What another epoch makes of content that an earlier visit saw."""

    __match_args__: tuple[Literal["time"], Literal["fingerprint"], Literal["digest"], Literal["epoch"]]
    def __new__(cls, time: datetime, fingerprint: int | None, digest: bytes | None, epoch: int) -> Self: ...
    @property
    def time(self) -> datetime:
        """When that content was seen."""

    @property
    def fingerprint(self) -> int | None:
        """Its fingerprint; `None` if it has none."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the content."""

    @property
    def epoch(self) -> int:
        """The epoch of the fingerprint."""

@final
class SampledPage:
    """A page that was drawn."""

    __match_args__: tuple[Literal["url"], Literal["fingerprint"]]
    def __new__(cls, url: str, fingerprint: int) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def fingerprint(self) -> int:
        """The fingerprint of its content, with reserved bits set to 0."""

@final
class Schedule:
    """An interval as a rule has it, and when it wants the next visit."""

    __match_args__: tuple[Literal["interval_days"], Literal["next_days"]]
    def __new__(cls, interval_days: float, next_days: float) -> Self: ...
    @property
    def interval_days(self) -> float:
        """The interval, in days, from which the next comparison goes on."""

    @property
    def next_days(self) -> float:
        """The days from the last visit to the next one. Only of `nutch` it is less than the interval."""

@final
class SectionView:
    """A section of a segment."""

    __match_args__: tuple[
        Literal["kind"],
        Literal["part"],
        Literal["epoch"],
        Literal["space"],
        Literal["offset"],
        Literal["bytes"],
        Literal["blocks"],
    ]
    def __new__(
        cls, kind: str, part: int, epoch: int | None, space: Space, offset: int, bytes: int, blocks: int
    ) -> Self: ...
    @property
    def kind(self) -> str:
        """What it holds, as the format names it."""

    @property
    def part(self) -> int:
        """Its number among those of one kind and epoch, such as which rotation it belongs to."""

    @property
    def epoch(self) -> int | None:
        """The number of the epoch, of a section of fingerprint tables."""

    @property
    def space(self) -> Space:
        """What its bytes are for."""

    @property
    def offset(self) -> int:
        """Where it begins in the file, in bytes."""

    @property
    def bytes(self) -> int:
        """Its length in bytes."""

    @property
    def blocks(self) -> int:
        """The blocks of 4 KiB that have a checksum each."""

@final
class SegmentOverview:
    """A segment, by its numbers."""

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
        """Its number."""

    @property
    def level(self) -> int:
        """How many merges deep: 0 for one that was sealed."""

    @property
    def first_operation(self) -> int:
        """The first operation in it."""

    @property
    def last_operation(self) -> int:
        """The last operation in it."""

    @property
    def pages(self) -> int:
        """Records of pages."""

    @property
    def visits(self) -> int:
        """Visits in them."""

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """No visit in it is earlier than the first time or later than the last; `None` without visits."""

    @property
    def written(self) -> datetime:
        """When it was written."""

    @property
    def bytes(self) -> int:
        """Bytes of the file."""

    @property
    def shape(self) -> str | None:
        """What finds its fingerprints, those of the epoch of which it has most: column, rotations or cells;
        `None` if it has none.
        """

    @property
    def superseded(self) -> float:
        """About what share of its records is of pages that newer segments have a record of, too, or that were
        forgotten, from 0 to 1. A merge makes one of the two, or none.
        """

@final
class SegmentStats:
    """Sizes of one segment."""

    __match_args__: tuple[
        Literal["id"],
        Literal["pages"],
        Literal["visits"],
        Literal["fingerprints"],
        Literal["bytes"],
    ]
    def __new__(cls, id: int, pages: int, visits: int, fingerprints: int, bytes: int) -> Self: ...
    @property
    def id(self) -> int:
        """Its number."""

    @property
    def pages(self) -> int:
        """Page records."""

    @property
    def visits(self) -> int:
        """Visits."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each epoch."""

    @property
    def bytes(self) -> int:
        """Bytes of the file."""

@final
class SegmentView:
    """A segment, by what its file says of itself."""

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
        """Its number, which its file is named after."""

    @property
    def bytes(self) -> int:
        """Bytes of the file."""

    @property
    def level(self) -> int:
        """How many merges deep: 0 for one that was sealed, one more than its inputs for a merged one."""

    @property
    def first_operation(self) -> int:
        """The first operation in it."""

    @property
    def last_operation(self) -> int:
        """The last operation in it."""

    @property
    def pages(self) -> int:
        """Records of pages."""

    @property
    def visits(self) -> int:
        """Visits in those records."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints, counted once for each epoch."""

    @property
    def resets(self) -> int:
        """Records that hide everything older of their page."""

    @property
    def page_delta(self) -> int:
        """What it adds to the pages of the store; less than its records, since some go on with older ones."""

    @property
    def visit_delta(self) -> int:
        """What it adds to the visits of the store."""

    @property
    def in_force_delta(self) -> int:
        """What it adds to the pages of the store with content that is in force."""

    @property
    def gone_delta(self) -> int:
        """What it adds to the pages of the store that are gone."""

    @property
    def times(self) -> tuple[datetime, datetime] | None:
        """No visit in it is earlier than the first time or later than the last; `None` without visits."""

    @property
    def longest_list(self) -> int:
        """The most pages that one fingerprint is or was on."""

    @property
    def written(self) -> datetime:
        """When it was written."""

    @property
    def forgotten(self) -> int:
        """How many prefixes were forgotten with it."""

    @property
    def sections(self) -> tuple[SectionView, ...]:
        """The sections, in the order of the file."""

    @property
    def tables(self) -> tuple[TableView, ...]:
        """The fingerprint tables, one for each epoch."""

@final
class Shingles:
    """The set of a text's runs of `words` words, 1 to 8 (5), to see how much two texts have in common.

    A text with fewer words is one run. `len` says how many there are; takes 8 bytes for each, and
    sorts them.
    """

    def __new__(cls, text: str, words: int | None = None) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def common(self, other: Shingles) -> int:
        """How many runs both texts have. Linear in both."""

    def containment(self, other: Shingles) -> float:
        """What share of the runs of this text are in the other, from 0 to 1. Linear in both."""

    def resemblance(self, other: Shingles) -> float:
        """What share of the runs that either text has are in both, from 0 to 1. Linear in both."""

@final
class Snapshot(View):
    """A moment of a store: it does not change, whatever is observed, merged or forgotten later.

    The files that it needs stay until it is gone.
    """

@final
class SpaceOf:
    """How many bytes are for something."""

    __match_args__: tuple[Literal["of"], Literal["bytes"]]
    def __new__(cls, of: Space, bytes: int) -> Self: ...
    @property
    def of(self) -> Space:
        """What they are for."""

    @property
    def bytes(self) -> int:
        """How many."""

@final
class StalePage:
    """A page whose version in force has a fingerprint, but none of the epoch that was asked for."""

    __match_args__: tuple[Literal["url"], Literal["time"], Literal["content"]]
    def __new__(cls, url: str, time: datetime, content: Content) -> Self: ...
    @property
    def url(self) -> str:
        """The page."""

    @property
    def time(self) -> datetime:
        """When that version was last seen: the time to restate."""

    @property
    def content(self) -> Content:
        """Its fingerprint of the newest epoch in which it has one."""

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
        """Pages known."""

    @property
    def visits(self) -> int:
        """Visits known."""

    @property
    def unsealed_visits(self) -> int:
        """Visits that are not yet in a segment."""

    @property
    def segments(self) -> tuple[SegmentStats, ...]:
        """Live segments, oldest first."""

    @property
    def epochs(self) -> tuple[EpochInfo, ...]:
        """Epochs, by number."""

    @property
    def epoch_visits(self) -> int:
        """Visits that have come since the newest epoch in use began."""

    @property
    def epoch_due(self) -> bool:
        """Whether a new epoch is advised."""

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
        """Why the last merge in the background failed, if it did: the disk was full, or a segment is damaged.
        The store tries again.
        """

@final
class Store(View):
    """A store that is open for writing.

    Threads may share it; what they observe at the same time becomes durable together. It belongs to
    the process that opened it: in a forked one every call raises `ForkedError`. Close it, or use it
    in a `with` statement.
    """

    @property
    def closed(self) -> bool:
        """Whether it was closed."""

    @property
    def path(self) -> Path:
        """Where the store is."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _class: type[BaseException] | None = None,
        raised: BaseException | None = None,
        _traceback: TracebackType | None = None,
    ) -> None: ...
    def backup(
        self, path: str | PathLike[str], *, copy: bool = False, progress: Progress | None = None
    ) -> BackedUp:
        """Makes a backup of the store in another directory, or adds to it what is new. Ctrl-C ends it."""

    def begin_epoch(
        self, origin: Origin, *, role: _types.EpochRole | None = None, bands: _types.EpochBands | None = None
    ) -> int:
        """Begins an epoch of fingerprints that simkeep makes, and returns its number.

        From then on it is the newest of its role. Its table of document frequencies is copied into
        the store.
        """

    def close(self) -> None:
        """Makes everything durable, ends the background work and releases the lock. May be called twice."""

    def compact(self, *, progress: Progress | None = None) -> Compacted:
        """Makes the store as small as it can be.

        Costs reading and writing the store, and as much room once more meanwhile. Ctrl-C ends it.
        """

    def copy_from(
        self,
        other: View,
        *,
        memory_bytes: int | None = None,
        segment_pages: int | None = None,
        progress: Progress | None = None,
    ) -> Loaded:
        """Loads everything of another store, with its epochs and their tables. Ctrl-C ends it."""

    @staticmethod
    def create(path: str | PathLike[str], **options: Unpack[_types.Options]) -> Store:
        """Creates a store in a new or empty directory, and opens it.

        Raises `AlreadyExistsError` if there is a store already. Takes the options of `open_or_create`.
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
        origin: Origin | None = None,
        epochs: LoadEpochs | None = None,
        memory_bytes: int | None = None,
        segment_pages: int | None = None,
        progress: Progress | None = None,
        **options: Unpack[_types.Options],
    ) -> tuple[Store, Loaded]:
        """Creates a store from a load, and opens it: it exists with everything loaded, or not at all.

        Takes the arguments of `load`, and those of `create`. `origin` is what makes the
        fingerprints of the texts among the observations, instead of the default recipe; the store
        begins with its epoch. Nothing is created before the first observation arrives. Ctrl-C ends
        it, and leaves nothing but perhaps empty directories.

        Raises `AlreadyExistsError` if there is a store already, and what `load` raises.
        """

    def end_epoch(self, epoch: int, *, left: int | None = 0) -> None:
        """Ends an epoch for good.

        At most `left` pages may be left behind without a fingerprint that is compared; `None` is
        for any number.
        """

    def failed(self, url: str, at: Time, **known: Unpack[_types.Word]) -> Outcome:
        """Reports a visit that failed. The content in force stays in force.

        Keywords: those of `gone`.
        """

    def flush(self) -> None:
        """Makes everything durable. Only with `durability="flush"` there is anything to do."""

    @overload
    def forget(self, url: str, *, prefix: None = None) -> Forgotten:
        """Forgets everything observed so far of a page, or of all pages under a `prefix`; with a host
        or a path also of the pages that would be under it without the user in their URL.

        It is hidden from every answer at once. Its bytes leave the files when merges reach them.
        """

    @overload
    def forget(self, url: None = None, *, prefix: str) -> Forgotten: ...
    def gone(self, url: str, at: Time, **known: Unpack[_types.Word]) -> Outcome:
        """Reports a visit that found the page gone.

        Keywords: `status`, `weight`, `class_`.
        """

    def lease_due(
        self, now: Time, budget: int | None, lease: _types.Seconds, **like: Unpack[_types.Due]
    ) -> list[Decision]:
        """Leases the most valuable due pages: those of `due`, whose keywords it takes.

        Pages that are leased already are left out, and so are pages with zero value. A lease ends
        when its page is observed in any way or released, or when the `lease` is over by the `now`
        of a later call. Threads may call this concurrently. Leases are in memory only: after the
        store is opened again, no page is leased. At most `leases_max` pages are leased.
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
        """Loads an existing corpus: any number of observations in any order, as `observe_batch` takes
        them.

        There are no searches, and memory is bounded. All of them are stored, or none. Some four
        times as fast as `observe_batch` where fingerprints are ready. Readers go on meanwhile.
        `epochs` are those that come with the observations. Ctrl-C ends it.

        Of a table, `url`, `text`, `html` and `at` name the columns of URLs, texts, pages and times,
        where these are not named so; `at` may also be one time for all. Other columns are left alone.

        Raises `LoadRejectedError` with the number of the first observation that the store refuses,
        counted from 1. What the iterable raises, this raises.
        """

    def merge(self, *, progress: Progress | None = None) -> Merged:
        """Merges all segments into one. It happens by itself in time.

        Costs reading and writing the store. Ctrl-C ends it, and leaves the store as it was.
        """

    def not_modified(self, url: str, at: Time, **known: Unpack[_types.NotModified]) -> Outcome:
        """Reports a visit to which the server answered that nothing was modified.

        Keywords: those of `gone`, `digest` and `modified`.
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
        weight: float | None = None,
        class_: int | None = None,
    ) -> Outcome:
        """Reports one visit that saw content, and says what the page is now, and which others are like
        it.

        The content is a `text`; or `html`, as `str` or as `bytes` with the `encoding` that the
        server named, or its Content-Type as it came, several joined by commas; or a `fingerprint`
        made elsewhere, of an `epoch` (by default that which verdicts go by), with that of another
        epoch as `also=(fingerprint, epoch)`. Of fewer than eight words no fingerprint is made. See
        `text_epochs` for stores that take no text.

        `digest` is any 16 bytes that name the exact content; `status` the HTTP status; `modified`
        when the server said that the page was last modified; `weight` and `class_` hold until
        others are given. With a digest alone no search finds the page any more: of what is the same
        as before, give the fingerprint that it had.

        Durable when it returns, unless the store was opened otherwise. Costs some microseconds, and
        a share of a commit: two or three syncs for all calls that wait at the same time.
        """

    def observe_batch(self, observations: _types.Rows) -> Outcomes:
        """Reports many visits, each decided after those before it.

        They are `Observation`s, or dictionaries with the arguments of `observe` as keys, and
        perhaps `seen`; or a table that has `__arrow_c_stream__`, with columns of these names. Other
        columns are left alone; a null fingerprint is content that has none. The visits become
        durable together, and cost much less than single calls. If one of them is invalid, none is
        stored.
        """

    @staticmethod
    def open(path: str | PathLike[str], **options: Unpack[_types.Options]) -> Store:
        """Opens the store in a directory, for writing.

        Costs the time to read the journal, at most a second, whatever the size of the store. Raises
        `NotAStoreError` where there is none, and `LockedError` if somebody else has it open.

        Takes the options of `open_or_create`.
        """

    @staticmethod
    def open_or_create(path: str | PathLike[str], **options: Unpack[_types.Options]) -> Store:
        """Opens the store, or creates it if there is none.

        Options, each with its default in parentheses:

        - `durability`: when an observation is durable. `"each"`, the default: when the call returns.
          `"flush"`: after the next `flush()`. A time: when the call returns, but each commit waits that
          long for other observations.
        - `memtable_observations`: how many observations are held in memory before they are sealed
          (262,144).
        - `memtable_bytes`: how many bytes these take (80 MiB).
        - `seal_after`: when they are sealed at the latest (5 minutes).
        - `merge_fanout`: how many segments of like size are merged into one (8).
        - `background`: whether sealing and merging go on in the background (yes).
        - `epoch`: the name of the epoch that a new store begins with: by default the default recipe,
          of texts that this package extracts from HTML, as the tool has it.
        - `epoch_bands`: which distances are minor changes in that epoch, and which moderate ones.
        - `file_mode`: permissions of the files of a new store (0o600).
        - `epoch_visits`: how many visits after the start of an epoch a new one is advised
          (1,000,000).
        - `near_distance`: the distance within which outcomes name near-duplicates: by default what
          the recipe advises.
        - `clock_tolerance`: how much later than the clock of this machine a visit may be. A later one
          raises `TimeError`, unless the store has such a visit already; `None` for visits of any
          time (`None`).
        - `fingerprint_bytes`: how many bytes tables may take for each fingerprint (48).
        - `near_limit`: the most near-duplicates, and the most copies, that an outcome names (16).
        - `rule`: which of several pages with nearly the same content is the original: a rule such as
          `"https,shortest-url"` (`"first-seen"`).
        - `leases_max`: how many pages may be leased at a time (1,000,000).
        - `near_fingerprints`: how many fingerprints of a crowd are compared (4,096).
        - `background_memory_bytes`: memory that sealing and merging may take together (256 MiB).
        - `reader_grace`: how long replaced files are kept for readers in other processes (10
          seconds).
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
        """Seals everything, and publishes it in a directory as a generation, which a `Reader` opens.

        Takes the keywords of `publish`, and costs what it does. Ctrl-C ends it.
        """

    @overload
    def purge(self, url: str, *, prefix: None = None, progress: Progress | None = None) -> Forgotten:
        """Forgets, and rewrites every file that has bytes of what is forgotten.

        Costs a rewrite of each segment with such pages. Ctrl-C ends it; then the pages may be
        forgotten, with some of their bytes left: purge again.
        """

    @overload
    def purge(self, url: None = None, *, prefix: str, progress: Progress | None = None) -> Forgotten: ...
    def redirect(self, url: str, at: Time, to: str, **known: Unpack[_types.Word]) -> Outcome:
        """Reports a visit that found a redirect to a target, which may be relative to the page.

        A redirect ends what the page held before, and is the same until it leads elsewhere. It is a
        copy of nothing and near nothing.

        Keywords: those of `gone`.
        """

    def register_epoch(
        self, name: str, *, role: _types.EpochRole | None = None, bands: _types.EpochBands | None = None
    ) -> int:
        """Registers an epoch of fingerprints that are made elsewhere, by name, and returns its number.

        A known name costs nothing.
        """

    def release(self, url: str) -> bool:
        """Ends the lease of a page that was not visited, so that it can be leased again.

        Returns whether it had one.
        """

    def restate(
        self,
        url: str,
        at: Time,
        fingerprint: SupportsIndex | None,
        epoch: int,
        *,
        digest: bytes | bytearray | None = None,
    ) -> Stored:
        """Gives the content that a page had at a time a fingerprint in another epoch.

        Neither a visit nor a change of the page.

        The answer is `"stored"`, `"known"`, or `"missing"` if there was no such content.
        """

    def seal(self) -> None:
        """Writes what is in memory as a segment. It happens by itself in time."""

    @overload
    def set_property(self, url: str, at: Time, *, weight: float, class_: None = None) -> Stored:
        """Sets the weight or the class of a page from a time on, without a visit.

        The answer is `"stored"`, `"known"`, or `"missing"` for a page that is not known.
        """

    @overload
    def set_property(self, url: str, at: Time, *, weight: None = None, class_: int) -> Stored: ...
    def snapshot(self) -> Snapshot:
        """A moment of the store, which answers as it is now, whatever comes later."""

    def stats(self) -> Stats:
        """Sizes of the store. Reads no table."""

    def verify(
        self, *, rate: int | None = None, flaws_max: int | None = None, progress: Progress | None = None
    ) -> Verified:
        """Checks the store while it works: reads all of it, and names every flaw.

        `rate` is the most bytes to read per second. Damage is part of the answer, and raises
        nothing. Ctrl-C ends it.
        """

    def wait_idle(self) -> None:
        """Waits until there is nothing to do in the background."""

    def write_batch(
        self, entries: Iterable[tuple[str, Visit | Restated | PropertyEntry | VisitEntry]]
    ) -> list[Outcome | Stored]:
        """Observes, restates and gives in one call: pairs of a URL and an entry, as `observations`
        tells them.

        Each is decided after those before it, and all become durable together, in one commit or a
        few. If one of them is invalid, none is stored. Answers an `Outcome` for each visit, and for
        each of the others whether it was stored.
        """

@disjoint_base
class Stream(Generic[_T_co]):
    """An iterator over what a store holds or finds.

    It keeps the snapshot that it reads until it ends or is closed; a `with` statement closes it.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> CapsuleType:
        """What is left, as a stream of Arrow data in a capsule.

        Whoever asks for a row takes it, and ends the iteration.
        """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> _T_co: ...
    def batches(self, *, signed: bool = False) -> Batches:
        """What is left, as columns for whoever reads Arrow, and ends the iteration.

        Fingerprints are `int64`, bit for bit, with `signed=True`.
        """

    def close(self) -> None:
        """Ends the iteration, and lets go of what it reads. May be called twice."""

    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class Survey:
    """How the pages of a store change, on the whole.

    All figures are of what the visits of each page tell.
    """

    __match_args__: tuple[Literal["pages"], Literal["compared"], Literal["changed"], Literal["deciles"]]
    def __new__(
        cls, pages: float, compared: float, changed: float, deciles: tuple[float, ...] | None
    ) -> Self: ...
    @property
    def pages(self) -> float:
        """How many pages there are. Of more than a million this figure and the others are estimated, from a
        sample of them.
        """

    @property
    def compared(self) -> float:
        """Of how many of them two visits at least were compared, and found a change or half a second without
        one.
        """

    @property
    def changed(self) -> float:
        """How many of these were found changed, or back at an earlier version."""

    @property
    def deciles(self) -> tuple[float, ...] | None:
        """The changes a day that pages are believed to have: a tenth of those that were compared change at
        most as often as the first says, two tenths as the second, and so on. `None` if there are none.
        """

@final
class Table:
    """A frozen table of document frequencies: a file, read as a map. Opening it reads and checks all of it.
    """

    def __new__(cls, path: str | PathLike[str]) -> Self: ...
    @property
    def bytes(self) -> int:
        """The length of the file in bytes."""

    @property
    def documents(self) -> int:
        """How many documents were counted."""

    @property
    def features(self) -> str:
        """What the features are: the first part of the names of recipes that can use it."""

    @property
    def id(self) -> int:
        """The identity of the table: its checksum."""

    @property
    def left_out(self) -> tuple[int, int]:
        """Features of fewer documents than this were left out, and how many there were."""

    @property
    def terms(self) -> int:
        """How many features are in it."""

@final
class TableComparison:
    """How differently two tables weigh the same pages."""

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
        """Features that both have."""

    @property
    def first_only(self) -> int:
        """Features of the first alone."""

    @property
    def second_only(self) -> int:
        """Features of the second alone."""

    @property
    def known(self) -> float:
        """The share of the first table's counts (one feature in one document) whose features the second table
        knows as well, from 0 to 1.
        """

    @property
    def difference(self) -> float:
        """How much the two idf values, ln(1 + N/df), of a feature differ on average, over the counts of the
        first table.
        """

    @property
    def idf(self) -> float:
        """The average idf of a feature in the first table, over the same counts."""

@final
class TableView:
    """The fingerprint tables of an epoch in a segment."""

    __match_args__: tuple[Literal["epoch"], Literal["fingerprints"], Literal["shape"], Literal["bytes"]]
    def __new__(cls, epoch: int, fingerprints: int, shape: str, bytes: int) -> Self: ...
    @property
    def epoch(self) -> int:
        """The number of the epoch."""

    @property
    def fingerprints(self) -> int:
        """Distinct fingerprints."""

    @property
    def shape(self) -> str:
        """What finds those that are near: column, rotations or cells."""

    @property
    def bytes(self) -> int:
        """Bytes of the fingerprints with all that finds them."""

@final
class Trace:
    """All that is known of a page, and where that stands."""

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
        """The page as it is now."""

    @property
    def surt(self) -> str:
        """What it is sorted by, its SURT: such as `com,example)/terms`."""

    @property
    def hash(self) -> int:
        """What it is found by: the hash of its URL, which each store seeds by itself."""

    @property
    def records(self) -> tuple[PageRecord, ...]:
        """Its records, the newest first."""

    @property
    def history(self) -> tuple[VisitEntry | Restated | PropertyEntry, ...]:
        """Its visits, and what each meant."""

@final
class VerdictCounts:
    """What visits found, and how many found it."""

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
        """Visits that saw what was there before."""

    @property
    def changed(self) -> int:
        """Visits that saw other content."""

    @property
    def reverted(self) -> int:
        """Visits that saw content of before."""

    @property
    def gone(self) -> int:
        """Visits that found the page gone."""

    @property
    def failed(self) -> int:
        """Visits that failed."""

    @property
    def other(self) -> int:
        """Visits that tell nothing: they came late, or found a page unmodified of which no content was ever
        seen.
        """

    @property
    def visits(self) -> int:
        """How many visits there are in all."""

@final
class Verified:
    """What a check read and found."""

    __match_args__: tuple[
        Literal["sound"],
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
        sound: bool,
        files: int,
        bytes: int,
        pages: int,
        visits: int,
        catalog: bool,
        flaws: tuple[Flaw, ...],
        more_flaws: int,
    ) -> Self: ...
    @property
    def sound(self) -> bool:
        """Whether nothing was found."""

    @property
    def files(self) -> int:
        """Files."""

    @property
    def bytes(self) -> int:
        """Bytes of these files."""

    @property
    def pages(self) -> int:
        """Pages; not counted if there are flaws."""

    @property
    def visits(self) -> int:
        """Visits; not counted if there are flaws."""

    @property
    def catalog(self) -> bool:
        """Whether the catalog was read, or the generation of a store that is published. It is not if a writer
        in another process has it open.
        """

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        """The first flaws, file by file and block by block."""

    @property
    def more_flaws(self) -> int:
        """How many more flaws there are."""

@final
class Version:
    """Visits to a page that found one thing."""

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
        """What it is."""

    @property
    def number(self) -> int | None:
        """Its number among the versions that have content, from 1 on; `None` without content."""

    @property
    def visit(self) -> Visit:
        """The visit that found it first."""

    @property
    def contents(self) -> tuple[Content, ...]:
        """Its content, with the last fingerprint that it was given in each epoch, the first of all first;
        empty without content.
        """

    @property
    def last(self) -> datetime:
        """When it was last seen before other content was."""

    @property
    def visits(self) -> int:
        """How many visits saw it before other content was seen."""

    @property
    def verdict(self) -> Verdict:
        """What the first of them meant."""

    @property
    def by(self) -> SameBy | None:
        """How it is known to have been the same, if that is the verdict."""

    @property
    def distance(self) -> int | None:
        """In how many bits its fingerprint differs from that of the version before, by the verdict."""

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the fingerprints that were compared."""

    @property
    def to(self) -> datetime | None:
        """When the version that the page went back to was last seen."""

    @property
    def back_to(self) -> int | None:
        """The number of the version whose content came back, if one did."""

    @property
    def differing(self) -> int | None:
        """The bits in which its fingerprint differs from that of the version before, in the epoch that the
        verdict goes by; `None` if there is no such version, or the two cannot be compared.
        """

@disjoint_base
class View:
    """What can be asked of a store: what `Store`, `Reader` and `Snapshot` have in common.

    Each question is answered from a snapshot of the moment, and waits for no writer. A page is found in
    some microseconds, whatever the size of the store.
    """

    @property
    def change_epoch(self) -> int:
        """The number of the epoch that verdicts and their distances go by."""

    @property
    def near_epoch(self) -> int:
        """The number of the epoch that near-duplicates are sought by."""

    @property
    def sequence(self) -> int:
        """The number of the last operation that is seen."""

    def aliases(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.AliasQuery]
    ) -> AliasSites:
        """Finds differences between URLs that make none, site by site.

        Such as with `http` and `https`, with and without `www.`, with a number for each visitor. A
        site is a host with and without `www.`; those come that have a rule to be told of. Of all
        pages that a rule makes one URL, each but the first is a pair with that, which is near if
        their fingerprints are within k bits of each other. A rule holds if it has so many `pairs`,
        and such a `share` of them is near. `normalised` applies the rules of a site.

        Costs a scan of all pages and up to some microseconds for each, in a thread that waits for
        whoever reads and ends when the stream is closed; `memory_bytes` for one site at a time.

        Raises, when it is read, `InvalidOptionError` for a share that is none, and `EpochError` for an
        epoch that has ended or is not known.

        Keywords: `share` (0.9); `pairs` (10); `all=True` also tells of rules that do not hold;
        `examples`, the most of each rule (3); `epoch`; `under`, a prefix; `memory_bytes` for the
        pages of one site (512 MiB).
        """

    def all_fingerprints(
        self, *, progress: Progress | None = None, **like: Unpack[_types.Pairs]
    ) -> Stream[int]:
        """All different fingerprints that pages have, each once, in no particular order.

        Reads all fingerprints on all cores, and waits for whoever reads them. It ends when the
        iterator is closed.

        Takes the keywords `epoch`, `under`, `exclude`, `classes`, `at`, `seen`, `ever` and `threads` of
        `near`.
        """

    def all_pairs(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Pairs]
    ) -> Stream[Pair]:
        """All pairs of different fingerprints of pages within k bits of each other, in no particular
        order.

        A join of all fingerprints, which runs on all cores in 256 MiB, and waits for whoever reads
        the pairs. It ends when the iterator is closed.

        Takes the keywords `epoch`, `under`, `exclude`, `classes`, `at`, `seen`, `ever` and `threads` of
        `near`.
        """

    def as_of(self, url: str, at: Time) -> Visit | None:
        """The visit whose content was in force at a time; `None` if the page was unknown then, or gone."""

    def balls(
        self,
        k: int | None = None,
        *,
        labels: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        progress: Progress | None = None,
        **like: Unpack[_types.Clustering],
    ) -> tuple[Balls, ...]:
        """Counts the pages within each distance of each page, from 0 to k: one `Balls` for each
        distance.

        With `labels` of pages by URL it also counts pairs by whether their labels are equal; of a
        page that is named twice, the last counts. Costs the join of `all_pairs`, so that a crowd
        costs its square; beside the memory 4 bytes for each fingerprint, and the labels. Ctrl-C
        ends it. Raises what `clusters` raises.

        Takes the keywords of `clusters`.
        """

    def candidates(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Clustering]
    ) -> Candidates:
        """The pages that have others within k bits of them: those whose texts are worth comparing.

        Where fingerprints are to propose and texts to decide, take a distance that is wide enough
        for all that is wanted: within 10 bits, fingerprints of the default recipe miss one in fifty
        of the texts with a resemblance of 0.8. Costs what `clusters` does, and a join of pages that
        are alone in their clusters with all others. Ctrl-C ends it. Raises what `clusters` raises.

        Takes the keywords of `clusters`.
        """

    def census(self, *, progress: Progress | None = None) -> Census:
        """Counts what the store has, in one pass over all its pages and visits.

        That is hosts, fingerprints, and what visits found, by when they were. Takes some 64 MiB,
        however many there are. The progress counts pages. Ctrl-C ends it.

        Raises `CorruptError` if what it touches is damaged, `CancelledError` if `progress` was
        cancelled.
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
        """Compares the clusters of two times: which pages are led by others, and why.

        The later time may be now, which is `None`. What was forgotten never was, at neither time.
        Costs `clusters` twice, of which each takes half of the memory. Ctrl-C ends it.

        Raises what `clusters` raises.

        Takes the keywords of `clusters` but `at`.
        """

    def cluster_of(
        self, url: str, k: int | None = None, **like: Unpack[_types.Clustering]
    ) -> PageCluster | None:
        """The cluster of a page, as `clusters` would find it; `None` if the page is not among those
        asked for.

        It is found by searches around the page: as a rule a few, in dense regions thousands. After
        4,096 of them, or 262,144 pages, it looks no further, and is not `complete`. Ctrl-C leaves
        it: the searches end by themselves.

        Raises `UrlError` for what no page can have, and what `clusters` raises.

        Takes the keywords of `clusters`.
        """

    def clusters(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Clustering]
    ) -> Clusters:
        """Puts all pages into clusters, each with a page that leads it, within k bits of all others in
        it.

        `k` is from 0 to 64; by default that within which pages of the epoch are near. Pages are
        taken in the order of `rule`. A page leads if no page that leads is within k bits of it;
        every other belongs to the nearest of the leaders that rank before it, of equally near ones
        to the first. So each page is in one cluster, and no two leaders are within k bits of each
        other. The same pages make the same clusters, in whichever order they came.

        Costs reading all pages once, sorts of some 40 bytes a page, and joins of about three times
        as many fingerprints as there are. Takes `memory_bytes`, and scratch files for what does not
        fit. Other threads run meanwhile. Ctrl-C ends it.

        Raises `EpochError` for an epoch that has ended or is not known, `IoError` if a scratch file
        cannot be written, `CancelledError` if `progress` was cancelled.

        Keywords: `rule`, such as "https,shortest-url" ("first-seen"); `at`, the time of the
        versions (those in force now); `epoch`; `under`, a prefix; `classes`; `memory_bytes` (512
        MiB); `scratch`, a directory for what does not fit.
        """

    def compaction(self) -> Compaction:
        """About what `compact` frees.

        That is what newer segments have again, and the fingerprint tables of epochs that have
        ended. Costs what `overview` does.
        """

    def comparisons(
        self, url: str, *, return_share: float | None = None
    ) -> list[tuple[Comparison, float]] | None:
        """What the visits to a page tell of its rate of changes.

        These are comparisons, each with how many it counts for; `None` for an unknown page. Of
        several intervals of like length it is one of their mean. A return to an earlier version
        counts for `return_share` of a change (0.5). Costs what `latest` does.
        """

    def components(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Clustering]
    ) -> Components:
        """Joins whatever touches: pages within k bits of each other into one component.

        That is what tools do that remove all but one page of each. A chain of small steps joins
        texts that have little in common, which the maximum distance within a component shows:
        `clusters` are what to use.

        Costs the join of `all_pairs`, so that a crowd costs its square, and 16 bytes for each
        fingerprint beside its memory. Ctrl-C ends it. Raises what `clusters` raises.

        Takes the keywords of `clusters`.
        """

    def decide(self, url: str, plan: Plan) -> Decision | None:
        """What is decided about a page by a plan; `None` for an unknown page.

        It is what `due` tells of it with this plan. Costs reading one record, and a search for the
        page that leads it. Raises `UrlError` for what no page can have.
        """

    def diff(self, before: View, under: str | None = None) -> Differences[Difference]:
        """How this store differs from what it was `before`, or from any other store.

        Tells the pages under a prefix, or all, whose version in force is not the same, in SURT
        order. A page is compared as if what is in force here were observed there next. So a page that
        changed and went back does not differ; one that only this has is new, and one that only the
        other has is gone. Epochs are the same if their names are. Reads both once, lazily, with one
        page of each in memory.
        """

    def diff_exact(self, before: View, under: str | None = None) -> Differences[ExactDifference]:
        """Which entries of the pages under a prefix, or all, only one of two stores has.

        Reads both once, lazily.
        """

    def diff_since(self, since: Time, until: Time, under: str | None = None) -> Differences[Difference]:
        """How the pages under a prefix, or all, changed from one time to another, both included.

        As in `diff`, by what was seen until then. Reads all pages once, lazily.
        """

    def due(self, now: Time, budget: int | None, **like: Unpack[_types.Due]) -> Stream[Decision]:
        """The pages of which a visit is worth most at a time, the best first, each with the decision
        on it.

        At most `budget` of them; `None` is for any number. Reads lazily.

        Keywords: `policy`, what puts pages in order ("value"); `under`, a prefix; `per_host`, the
        most of each host; `largest_interval`, after which an unvisited page comes first (365 days);
        `rules` for the pages under prefixes; `hints`, of when pages changed; `plan`, which gives
        each page a date; `learned`, what pages are believed to change like; `memory_bytes`, for the
        pages that are chosen (64 MiB).
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
        """The bytes of a segment, each with its meaning, in the order of the file.

        Of all sections of a name, as `SectionView.kind` has it, or "head", "table" or "trailer"; of
        those with one number `part`, or of one `epoch`; from an `offset` in the file on, with what
        ends behind it. A damaged block is a line that says so, and raises nothing.

        Reads the file once, from that offset on, in a thread that waits for whoever reads the
        lines, and ends when the stream is closed. Raises `ValueError` if there is no segment of
        that number, and `IoError` if its file cannot be opened.
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
        **like: Unpack[_types.Near],
    ) -> Explanation:
        """Explains how a search runs, and what it costs. Costs about three searches.

        Takes the arguments of `near`. Raises `ValueError` for a text or page without a fingerprint.
        """

    def fingerprints(self, epoch: int) -> int:
        """How many distinct fingerprints of an epoch can be searched.

        One counts once for each segment or memtable that has it. Reads no table.
        """

    def hints(self, changes: Iterable[tuple[str, Time]], *, trust: float | None = None) -> Hints:
        """Takes what is said elsewhere, such as in sitemaps, of when pages changed.

        They are pairs of a URL and a time, in any order. `trust` is the probability that it is
        true, from 0 to 1 (0.8). Reads nothing of the store, and takes up to 48 bytes for each
        change while it is made.

        Raises `UrlError` or `TimeError` for what no visit can have, `InvalidOptionError` for a trust
        that is none, `LimitError` above a hundred million changes. What the iterable raises, this
        raises.
        """

    def histogram(
        self,
        k: int,
        *,
        buckets: int | None = None,
        progress: Progress | None = None,
        **like: Unpack[_types.Pairs],
    ) -> bytes:
        """Counts the different fingerprints that pages have, for a join within `k` bits that is
        distributed.

        It is what `JoinPlan` is made of. Fingerprints are counted in so many buckets for each part of
        the join, a power of two: more than there are to be tasks. Reads all fingerprints on all
        cores. Ctrl-C ends it.

        Takes the keywords `epoch`, `under`, `classes`, `at`, `seen` and `ever` of `near`.
        """

    def histories(
        self, under: str | None = None
    ) -> Stream[tuple[str, list[VisitEntry | Restated | PropertyEntry]]]:
        """The history of every page, or of those under a prefix, in SURT order, with its URL. Reads
        lazily.
        """

    def history(self, url: str) -> list[VisitEntry | Restated | PropertyEntry]:
        """All visits of a page in order, each with what it meant after those before it.

        What was restated and given stands among them. Empty for an unknown page.
        """

    def journal(self) -> JournalView:
        """What the journal holds, in numbers: the operations that no segment has yet.

        Costs a look at the page of each operation, and memory for the URLs of its pages. Ctrl-C
        leaves it.
        """

    def latest(self, url: str) -> Page | None:
        """The current state of a page; `None` for an unknown one."""

    def learn(self) -> Learned:
        """What all pages tell of how pages change: what each is believed to change like by its host.

        Reads 28 bytes for each page, or for a million of them where there are more; takes some 50
        ms and 30 MB for a million. On one snapshot, once.
        """

    def meaning(self, distance: int, *, epoch: int | None = None) -> Meaning:
        """What a distance means in an epoch; by default in the one that verdicts go by."""

    def mirrors(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.Mirroring]
    ) -> Mirrors:
        """Finds the sites that mirror each other: hosts, and folders of them, with the same paths.

        A site mirrors another if so many `paths` lead to pages within k bits of each other, and
        they have such a `share` of all that either has. A path is what follows the site in a URL,
        whatever the scheme. What is found was compared path by path; which pairs are compared, a
        sample decides, so one may be missed: `Mirrors.recall` says how likely it is found.

        Costs a scan of all pages, and for each pair that is compared some 100 microseconds and the
        pages of both; `memory_bytes`, and scratch files for what does not fit. Other threads run
        meanwhile. Ctrl-C ends it.

        Raises `InvalidArgumentError` if what is asked makes no sense, `EpochError` for an epoch that has
        ended or is not known, `IoError` if there is no room for scratch files.

        Keywords: `paths`, of how many at least (10); `share`, what share they must be of all that
        either has (0.8); `depth`, how many folders deep a site may lie (2, at most 16); `limit`,
        the most pairs (1,000; `None` for all); `at`, `under`, `epoch`, `classes`; `memory_bytes`
        (128 MiB); `scratch`, a directory for what does not fit.
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

        Exact for every k. Give a fingerprint, a `text`, a page as `html`, or the `url` of a page of the
        store, which is not near itself. Texts and HTML get a fingerprint by the recipe of the epoch
        that is searched. Nothing is near a text of fewer than eight words. Raises
        `InvalidArgumentError` for a text if the fingerprints of the epoch are made elsewhere.

        `k` is the largest distance in bits, 0 to 64; by default that within which the store takes
        pages for near-duplicates. Usually takes some microseconds.

        Keywords: `limit`, the most pages to name (16; `None` for all); `under`, a prefix; `exclude`, a
        URL to leave out; `classes`; `epoch`; one of `at` (versions in force at a time), `seen`
        (versions seen between two times) and `ever=True` (every version); `budget`, how long it may
        take; `fingerprints`, how many of a crowd are compared.
        """

    def near_batch(
        self, fingerprints: _types.Fingerprints, /, k: int | None = None, **like: Unpack[_types.NearMany]
    ) -> Answers:
        """Finds pages near each of many fingerprints, in their order.

        They may come in a buffer of `uint64` or `int64`, such as an array of numpy, in such a
        column of Arrow, or from `fingerprint_batch`; they are copied. Nothing is near a null or
        `None`. Searches run on all cores, side by side, so each costs a half to a quarter of a
        single one. Ctrl-C ends it.

        Takes the keywords of `near`.
        """

    def near_batch_of_pages(
        self,
        pages: Iterable[tuple[SupportsIndex, str]],
        /,
        k: int | None = None,
        **like: Unpack[_types.NearMany],
    ) -> Answers:
        """Finds the pages near each of many pages, which are named with a fingerprint of theirs.

        They are pairs of the two, and each is left out of its own answer. Answers come in their
        order. Costs what `near_batch` does; no page is looked up. Ctrl-C ends it.

        Takes the keywords of `near`.
        """

    def near_distance(self, epoch: int | None = None) -> int:
        """In how many bits fingerprints of near-duplicates differ at most, in an epoch.

        By default in the one that they are sought by.
        """

    def nearest(
        self,
        fingerprint: SupportsIndex | None = None,
        count: int | None = None,
        *,
        text: str | None = None,
        html: _types.Html | None = None,
        url: str | None = None,
        **like: Unpack[_types.Near],
    ) -> Matches:
        """Finds the pages nearest to a fingerprint, a text or a page, however far away they are.

        `count` is how many (16). Costs up to three times as much as a search within the distance of the
        farthest.

        Takes `text`, `html`, `url` and the keywords of `near` but `limit`.
        """

    def observations(
        self,
        under: str | None = None,
        *,
        start: str | None = None,
        end: str | None = None,
        in_force: bool = False,
    ) -> Stream[tuple[str, Visit | Restated | PropertyEntry]]:
        """Every observation of all pages, or of those under a prefix, in SURT order, with its URL.

        With `start` and `end` only of the pages from this URL on, and before that one; with
        `in_force=True` only what is in force. Reads lazily.
        """

    def operations(self, after: int | None = None, *, under: str | None = None) -> Operations:
        """The operations that the journal holds, in the order in which they were acknowledged.

        Those behind the one with the number `after`; a visit with its verdict. With a prefix
        `under`, those of pages under it, and of prefixes that have pages with it in common. What
        was sealed is in no journal any more. A further fingerprint, a weight or a class that came
        with a visit is an operation of its own, after that visit.

        Costs a look at the page for each, in a thread that waits for whoever reads, and ends when
        the stream is closed.
        """

    def origin(self, epoch: int) -> Origin | None:
        """What makes the fingerprints of an epoch; `None` if they are made elsewhere.

        Reads its table of document frequencies, if it has one.
        """

    def origins(self) -> list[tuple[int, Origin]]:
        """What makes the fingerprints of content that is observed now, each with the number of its
        epoch.

        At most two: of the epoch that verdicts go by first, and of the one that near-duplicates are
        sought by; if that is the same, of the newest other that has not ended. Epochs whose
        fingerprints are made elsewhere are left out. Reads and checks their tables of document
        frequencies, if they have some. Raises `EpochError` if the table of the first is not there,
        `CorruptError` if one is damaged.
        """

    def overview(self) -> Overview:
        """What the store is on the whole: its numbers, epochs and segments, what their bytes are for.

        Also about which hosts have many pages. Costs as much for a large store: it reads 64 pages,
        and numbers of what is open already. Damaged pages raise nothing, and are named.
        """

    def pace(self, now: Time, *, under: str | None = None) -> float:
        """Returns how many visits a day there were of late: what a `plan` may go by.

        Counts the visits of the 28 days up to the latest visit, over 28, or over the days since the
        first visit of all if these are fewer, but one at least. Visits after `now` count as if they
        were then. Exact up to 65,536 pages; of more, a sample is read.
        """

    def page_pairs(
        self, k: int | None = None, *, progress: Progress | None = None, **like: Unpack[_types.PagePairs]
    ) -> Stream[PagePair]:
        """Pairs of pages with fingerprints within k bits of each other, in no particular order.

        By default each fingerprint stands for its first page, and pages with equal ones are not
        paired.

        Keywords: `equal=True` pairs pages with the same fingerprint, too; `each`, how many pages of
        each fingerprint are paired with others (1; `None` for all); `epoch`, `under`, `classes`.
        """

    def pairs_with(
        self,
        fingerprints: _types.Fingerprints,
        /,
        k: int | None = None,
        *,
        progress: Progress | None = None,
        **like: Unpack[_types.Pairs],
    ) -> Stream[Pair]:
        """All pairs of one of these fingerprints and a different one of a page within k bits of it.

        They come in no particular order, and once for each of the given that is in it. No page need
        have a given one. Takes fingerprints as `near_batch` does.

        Costs a search for each, on all cores, and waits for whoever reads the pairs. It ends when
        the iterator is closed. As many as there are in all are better joined by `all_pairs`.
        """

    def partition(
        self,
        plan: JoinPlan,
        *,
        chunk_bytes: int | None = None,
        progress: Progress | None = None,
        **like: Unpack[_types.Pairs],
    ) -> Stream[tuple[int, bool, bytes]]:
        """Partitions the different fingerprints that pages have among the tasks of a join of several
        stores.

        Triples of a task's number, whether they are of its second piece, and the fingerprints as
        `bytes`, 8 for each, little-endian. Takes the keywords that `histogram` took.

        Each task gets `chunk_bytes` (4 MiB) at a time, and what is left at the end; that much
        is held for each of them. Reads all fingerprints on all cores, and waits for whoever reads
        them. It ends when the iterator is closed.
        """

    def plan(self, now: Time, per_day: float, **like: Unpack[_types.Due]) -> Plan:
        """Plans how to spend so many visits a day for ever.

        It finds from which worth on a page is visited, and how fresh that keeps the pages. It goes
        by `policy`, `under`, `rules`, `largest_interval` and `learned`; the other keywords of `due`
        do not matter. Passed to `due`, `lease_due` or `decide`, a plan gives decisions dates.

        Reads 28 bytes for each page, or for a million of them where there are more, and takes up to
        a second and 100 MB. Raises `InvalidOptionError` unless `per_day` is positive and finite.
        """

    def ranked(self, **like: Unpack[_types.Clustering]) -> Stream[RankedPage]:
        """The pages that `clusters` takes for the same question, in SURT order, each with where it
        ranks.

        What ranks first is less also than pages of other stores. Reads lazily.

        Takes the keywords of `clusters`.
        """

    def recent(self, url: str) -> Recent | None:
        """The last comparisons of a page in their order, for policies that go by it.

        `None` for an unknown page. Costs what `latest` does.
        """

    def replay(
        self, under: str | None = None, *, pages_max: int | None = None, return_share: float | None = None
    ) -> Replay:
        """The pages that have had content, with their histories, to be crawled again in a simulation.

        By `simkeep.recrawl.crawl`; under a prefix, if one is given. Of more than `pages_max` (1,000,000)
        those are chosen whose URLs have the least hashes. A return to an earlier version counts for
        `return_share` of a change (0.5). Takes the time of a scan with all visits, and some 100
        bytes for each visit of a page that is chosen. Ctrl-C leaves it.
        """

    def scan(
        self, under: str | None = None, *, start: str | None = None, end: str | None = None
    ) -> Stream[Page]:
        """All pages, or those under a prefix, in SURT order, in which all pages of a host are
        neighbours.

        With `start` and `end` only those from this URL on, and before that one. Reads lazily, some
        microseconds a page.
        """

    def segment(self, id: int) -> SegmentView | None:
        """One of the segments by its number, with its sections and fingerprint tables.

        `None` if there is none of that number; `stats` and `overview` have the numbers. Reads
        nothing: all of it is known since the segment was opened.
        """

    def splits(self, ranges: int, *, under: str | None = None) -> list[str]:
        """Splits all pages, or those under a prefix, into ranges of about as many pages each, for
        several readers.

        There are at most `ranges` of them. Returns the URLs at which all but the first begin, for
        `scan` and `observations`. Looks at some 32 pages a range.
        """

    def stale(self, epoch: int, *, after: str | None = None) -> Stream[StalePage]:
        """Pages whose version in force has a fingerprint, but none of this epoch: those to restate.

        If `after` is given, those that come after this URL in SURT order.
        """

    def survey(self) -> Survey:
        """How the pages change, on the whole: how many were found changed, and how often, by tenths of
        them.

        Reads what `learn` reads once more, and no page. Takes up to a second, and 20 MB for a
        million pages.
        """

    def table_file(self, epoch: int) -> str | None:
        """The name of the file in the store's directory that has the table of document frequencies of
        an epoch.

        `None` if it has none, or has ended. Reads nothing.
        """

    def text_epochs(self) -> tuple[int, ...]:
        """The numbers of the epochs in which the text of a page gets a fingerprint, at most two.

        The page comes as HTML or as the text that a reader sees. `InvalidArgumentError` if there is
        none such: it names the epoch of the store, and the one to begin. Reads nothing.
        """

    def trace(self, url: str) -> Trace | None:
        """All that is known of a page, and where that stands; `None` for an unknown page.

        Costs reading the page's record in each segment that has it. Raises `UrlError` for what no
        page can have.
        """

    def warm_up(self, *, progress: Progress | None = None) -> None:
        """Reads the fingerprint tables into memory and checks them, so that searches wait for neither.

        Ctrl-C ends it.
        """

    def without_fingerprint(self, epoch: int, *, classes: Iterable[int | None] | None = None) -> int:
        """How many pages have content in force that no search of an epoch finds. Costs a scan."""

@final
class Visit:
    """One visit to a page: what was seen, and when."""

    __match_args__: tuple[
        Literal["time"],
        Literal["seen"],
        Literal["fingerprint"],
        Literal["digest"],
        Literal["epoch"],
        Literal["status"],
        Literal["modified"],
    ]
    def __new__(
        cls,
        time: datetime,
        seen: Seen,
        fingerprint: int | None,
        digest: bytes | None,
        epoch: int | None,
        status: int | None,
        modified: datetime | None,
    ) -> Self: ...
    @property
    def time(self) -> datetime:
        """When it was."""

    @property
    def seen(self) -> Seen:
        """What was seen."""

    @property
    def fingerprint(self) -> int | None:
        """The fingerprint of the content; `None` if it has none, or there was no content."""

    @property
    def digest(self) -> bytes | None:
        """The digest of the content, 16 bytes; also one that came with the word that it is not
        modified.
        """

    @property
    def epoch(self) -> int | None:
        """The epoch of the fingerprint; `None` if there was no content."""

    @property
    def status(self) -> int | None:
        """The HTTP status, if known."""

    @property
    def modified(self) -> datetime | None:
        """When the page was last modified, as the server said: its `Last-Modified`. It need not be plausible.
        """

@final
class VisitEntry:
    """A visit in a history, with what it meant after those before it."""

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
        """What the page was then."""

    @property
    def by(self) -> SameBy | None:
        """How it is known to have been the same, if that is the verdict."""

    @property
    def distance(self) -> int | None:
        """In how many bits the fingerprint differs from that of the version before."""

    @property
    def distance_epoch(self) -> int | None:
        """The epoch of the fingerprints that were compared."""

    @property
    def to(self) -> datetime | None:
        """When the version that the page went back to was last seen."""

    @property
    def meaning(self) -> Meaning | None:
        """What the distance means, if there is one."""

    @property
    def time(self) -> datetime:
        """When the visit was."""
