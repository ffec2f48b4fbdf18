"""Types of arguments, for type checkers."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from os import PathLike
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

from ._simkeep import Bands, Hints, Learned, Observation, Plan, Policy
from ._words import Role

Time: TypeAlias = datetime | SupportsIndex
"""An aware `datetime`, or whole milliseconds since 1970; an `int` that looks like seconds is refused."""

Seconds: TypeAlias = timedelta | float
"""How long: a `timedelta` or seconds."""


class ArrowStream(Protocol):
    """A table or column of Arrow, in chunks."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


class ArrowArray(Protocol):
    """A table or column of Arrow, in one piece."""

    def __arrow_c_array__(self, requested_schema: Any = None, /) -> Any: ...


Fingerprints: TypeAlias = Iterable[SupportsIndex | None] | ArrowStream | ArrowArray
"""Many fingerprints: `int`s and `None`, a buffer or column of `uint64` or `int64`, such as an array of numpy, or
what `fingerprint_batch` returns."""

Html: TypeAlias = str | bytes | bytearray
"""A page: text, or bytes in the encoding that is named with it."""

EpochRole: TypeAlias = Role | Literal["change", "near", "both"]
"""What an epoch is for."""

EpochBands: TypeAlias = Bands | tuple[int, int]
"""Which distances are minor changes in an epoch, and which moderate ones."""


class Options(TypedDict, total=False):
    """How a store is opened. `help(Store.open_or_create)` describes each option."""

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
    leases_max: int
    near_fingerprints: int
    background_memory_bytes: int
    reader_grace: Seconds


class Near(TypedDict, total=False):
    """Which pages a search is for."""

    epoch: int | None
    """The epoch of the fingerprints: by default the one that near-duplicates are sought by."""
    limit: int | None
    """The most pages to name (16); `None` for all."""
    under: str | None
    """Only pages under this prefix."""
    exclude: str | None
    """All pages but this one."""
    classes: Iterable[int | None] | None
    """Only pages of these classes; `None` among them is for pages that have none."""
    at: Time | None
    """Among the versions that were in force at this time, instead of those in force now."""
    seen: tuple[Time, Time] | None
    """Among the versions that a visit saw between two times, both included."""
    ever: bool
    """Among all versions ever seen."""
    budget: Seconds | None
    """How long the search may go on widening."""
    fingerprints: int
    """How many fingerprints of a crowd to compare (4,096)."""


class NearMany(Near, total=False):
    """Which pages many searches are for."""

    threads: int | None
    """How many threads they may run on: by default as many as the processor has cores."""


class Pairs(TypedDict, total=False):
    """Which pairs of fingerprints are sought."""

    epoch: int | None
    """The epoch of the fingerprints: by default the one that near-duplicates are sought by."""
    under: str | None
    """Only pages under this prefix."""
    exclude: str | None
    """A page that is left out: a fingerprint that only this page has is none."""
    classes: Iterable[int | None] | None
    """Only pages of these classes; `None` among them is for pages that have none."""
    at: Time | None
    """Among the versions that were in force at this time."""
    seen: tuple[Time, Time] | None
    """Among the versions that a visit saw between two times, both included."""
    ever: bool
    """Among all versions ever seen."""
    threads: int | None
    """How many threads may work: by default as many as the processor has cores."""


class PagePairs(TypedDict, total=False):
    """Which pairs of pages are sought."""

    epoch: int | None
    """The epoch of the fingerprints: by default the one that near-duplicates are sought by."""
    under: str | None
    """Only pages under this prefix."""
    classes: Iterable[int | None] | None
    """Only pages of these classes; `None` among them is for pages that have none."""
    equal: bool
    """Whether pages with equal fingerprints are paired, too (no)."""
    each: int | None
    """How many pages of each fingerprint are paired with others (1); `None` for all."""


class ClusteringNow(TypedDict, total=False):
    """Which pages are clustered, and how."""

    epoch: int | None
    """The epoch of the fingerprints: by default the one that near-duplicates are sought by."""
    rule: str | None
    """Which of several pages leads: rules such as `"https,shortest-url"`, the one that decides first at
    the front. There are `"first-seen"` (the default), `"newest"`, `"shortest-url"`, `"https"` and
    `"weight"`."""
    under: str | None
    """Only pages under this prefix."""
    classes: Iterable[int | None] | None
    """Only pages that are of these classes now; `None` among them is for pages that have none."""
    memory_bytes: int | None
    """Memory to take (512 MiB). What does not fit goes to scratch files, some 150 bytes for each
    page."""
    scratch: str | PathLike[str] | None
    """The directory for scratch files: by default the system's for temporary files."""


class Clustering(ClusteringNow, total=False):
    """Which pages are clustered, and how, and as of when."""

    at: Time | None
    """The versions that were in force at this time, instead of those in force now."""


class Mirroring(TypedDict, total=False):
    """Which sites are said to mirror each other."""

    paths: int
    """Of how many paths at least the pages must be near each other (10); two at least."""
    share: float
    """What share those must be of the paths that either site has (0.8): above 0 and at most 1."""
    depth: int
    """How many folders deep a site may lie (2): 0 for hosts only, at most 16."""
    at: Time | None
    """What was in force at this time, instead of now."""
    under: str | None
    """Only pages under this prefix."""
    epoch: int | None
    """The epoch of the fingerprints: by default the one that near-duplicates are sought by."""
    limit: int | None
    """The most pairs to name (1,000), the largest first; `None` for all."""
    classes: Iterable[int | None] | None
    """Only pages that are of these classes now; `None` among them is for pages that have none."""
    memory_bytes: int
    """Memory for sorting (128 MiB). What does not fit goes to scratch files."""
    scratch: str | PathLike[str] | None
    """The directory for scratch files: by default the system's for temporary files."""


class AliasQuery(TypedDict, total=False):
    """Which differences between URLs are sought."""

    epoch: int | None
    """The epoch of the fingerprints: by default the one that near-duplicates are sought by."""
    under: str | None
    """Only pages under this prefix."""
    share: float
    """A rule holds for a site if at least this share of its pairs is near (0.9)."""
    pairs: int
    """A rule holds for a site if it has this many pairs there at least (10)."""
    all: bool
    """Whether to include rules that do not hold but have pairs (no)."""
    examples: int
    """The most examples of near pairs, and of pairs that are not near, for each rule (3)."""
    memory_bytes: int
    """Memory for the pages of one site (512 MiB); a larger site is sampled."""


class Rule(TypedDict, total=False):
    """How pages under a prefix are to be visited, or all pages that have no other rule."""

    under: str | None
    """The prefix; `None` for all pages."""
    min: Seconds | None
    """A page is not visited before this time after its last visit."""
    max: Seconds | None
    """A page without a visit for longer than this comes before others, the most overdue first."""
    weight: float
    """A factor of the weight that a page has (1)."""
    per_host: int | None
    """The most pages of one host to visit at once, among the pages of this rule."""
    policy: str | Policy | None
    """What puts the pages in order."""


class Due(TypedDict, total=False):
    """Which pages to visit next."""

    policy: str | Policy
    """What puts pages in order, such as `"harmonic"` or `"fixed:7d"`: `recrawl.Policy` has all (`"value"`)."""
    under: str | None
    """Only pages under this prefix."""
    per_host: int | None
    """The most pages of one host; `None` for no limit."""
    largest_interval: Seconds
    """A page that was not visited for this long comes first (365 days)."""
    rules: Iterable[Rule]
    """What is wanted for the pages under prefixes. The rule with the longest one decides."""
    hints: Hints | None
    """What is said of when pages changed."""
    plan: Plan | None
    """Gives decisions dates, and what was learned for it. Not together with `learned`."""
    learned: Learned | None
    """What pages are believed to change like before one looks at their own visits: by default what is
    learned from all pages."""
    memory_bytes: int
    """Memory for the pages that are chosen (64 MiB). If they take more, the store is read more than once."""


class Word(TypedDict, total=False):
    """What is known of a visit that saw no content."""

    status: int | None
    """The HTTP status."""
    weight: float | None
    """The weight of the page from then on."""
    class_: int | None
    """The class of the page from then on."""


class NotModified(Word, total=False):
    """What is known of a visit to which the server answered that nothing was modified."""

    digest: bytes | None
    """The digest that came with the answer."""
    modified: Time | None
    """When the page was last modified, as the server said."""


class _Visit(TypedDict):
    url: str
    at: Time


class Row(_Visit, total=False):
    """One visit as a dictionary: the arguments of `Store.observe`."""

    seen: Literal["content", "redirect", "not-modified", "gone", "failed"]
    """What was seen, if not content."""
    to: str | None
    """Where a redirect leads; it may be relative to the page."""
    text: str | None
    html: str | bytes | bytearray | None
    encoding: str | None
    fingerprint: SupportsIndex | None
    epoch: int | None
    also: tuple[SupportsIndex | None, int] | None
    digest: bytes | bytearray | None
    status: int | None
    modified: Time | None
    weight: float | None
    class_: int | None


Rows: TypeAlias = Iterable[Observation | Row] | ArrowStream | ArrowArray
"""Many visits."""
