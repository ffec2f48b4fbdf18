"""Several stores, queried as one."""

import os
from collections.abc import Sequence
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from . import clusters, overlap, pairs
from .cache import Cache
from .checks import check_count, check_k, check_workers, parallel, warn_of_chance
from .leaders import ROUNDS_MAX, kept
from .near import near
from .pinned import Pinned, pinned
from .places import Places
from .costs import Plan, plan
from .sound import sound
from .source import Source, options


class Stores:
    """Published stores of one crawl, queried together.

    `paths` are directories that `simkeep publish` made, patterns of such directories, or URIs. All workers must see the
    directories under the same names; each machine fetches the files of URIs once. The paths are resolved when the
    object is created: each query uses the same `generation`, even if a newer generation is published later.
    Fingerprints belong to the epoch for near-duplicates, or to the epoch with the name `epoch`.

    With `overlapping="newest"`, a page in several stores is included only from the store that visited it last;
    otherwise it is included from each store. `near` supports up to 200,000 such pages. With `on_error="skip"`, damaged
    or absent stores are left out: all files are read and checked once, when the object is created, and `missing` has
    the stores that are left out, with the reasons. Results then have a column `missing` with their names.

    Results are `DataFrame`s of Spark, and are computed when their rows are requested. Fingerprints in results are
    `long`, bit for bit. A repeated task returns the same result.
    """

    def __init__(
        self,
        spark: SparkSession,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        generation: int | Literal["latest"] = "latest",
        *,
        epoch: str | None = None,
        tasks: int | None = None,
        overlapping: Literal["all", "newest"] = "all",
        on_error: Literal["fail", "skip"] = "fail",
    ) -> None:
        if tasks is not None:
            check_count("tasks", tasks)
        if overlapping not in ("all", "newest"):
            raise ValueError(f'overlapping must be "all" or "newest", not {overlapping!r}')
        if on_error not in ("fail", "skip"):
            raise ValueError(f'on_error must be "fail" or "skip", not {on_error!r}')
        self._missing: dict[str, str] | None = {} if on_error == "skip" else None
        stores = pinned(paths, generation, epoch, self._missing, Cache.of_session(spark))
        check_workers(spark)
        spark.dataSource.register(Source)
        self._places = Places(spark, tuple(stores), tasks or parallel(spark))
        if self._missing is not None:
            self._places = sound(self._places, self._missing)
        self._hidden: DataFrame | None = None
        if overlapping == "newest" and len(self._places.pinned) > 1:
            # The table is not checkpointed: if an executor is lost, its part is computed again, with the same result.
            self._hidden = overlap.hidden(self._table("pages", None, ["url", "store", "last"], None)).persist()

    @property
    def pinned(self) -> tuple[Pinned, ...]:
        """The stores, each with the generation and the epoch that queries use."""
        return self._places.pinned

    @property
    def missing(self) -> dict[str, str]:
        """With `on_error="skip"`, the stores that are left out, by name, each with its error."""
        return dict(self._missing or {})

    def plan(
        self,
        question: Literal["near", "pairs", "clusters"],
        k: int = 3,
        *,
        queries: int | None = None,
        new: int | None = None,
        ranges: int | None = None,
    ) -> Plan:
        """Estimates the cost of a query, before any task runs: `"near"`, `"pairs"` or `"clusters"`.

        `queries` is the number of fingerprints for `near`, and `new` is the number for `pairs(new=…)`. The printed plan
        has the method and its reason, the tasks, the bytes read and exchanged, the seconds of a core, and the number of
        pairs by chance. `simkeep.spark.plan` estimates the cost for stores that do not exist yet.
        """
        counts = [store.fingerprints for store in self.pinned]
        return plan(question, counts, k, queries=queries, new=new, tasks=self._places.tasks, ranges=ranges)

    def near(self, queries: Any, k: int = 3, limit: int | None = 16) -> DataFrame:
        """The pages near each of many fingerprints, over all stores.

        `queries` are fingerprints: an array, a column of Arrow, an iterable of `int`s, or the only column of a
        `DataFrame`. Equal fingerprints are searched once. The columns are `query`, `store`, `url`, `distance`,
        `fingerprint` and `complete`. Each query has up to `limit` pages (`None`: all), the nearest first, then in SURT
        order; `complete` is true if these are all near pages. Rows come in no particular order. A query without near
        pages has no rows.

        A task searches a store, or some small stores, for up to 4 million queries, in some tenths of a microsecond for
        each query. Queries are sent to all machines, 8 bytes each, so a hundred million queries at a time are
        practical. With a limit, the found pages are exchanged once more, packed.

        If the pages of a query are not complete, the choice among equally far pages is not determined.
        """
        check_k(k)
        if limit is not None:
            check_count("limit", limit)
        return self._with_missing(near(self._places, queries, k, limit, self._hidden))

    def pairs(
        self, k: int = 3, *, new: Any = None, limit: int | None = None, ranges: int | None = None
    ) -> DataFrame:
        """All pairs of different fingerprints of pages within `k` bits of each other, over all stores.

        The columns are `left`, `right` and `distance`. Each pair comes once, the smaller fingerprint, as an unsigned
        number, first. `near` with distance 0 finds the pages of a fingerprint.

        A first job, which runs at once, counts the fingerprints of all stores, so that they can be distributed evenly
        into about `ranges` tasks. By default there are as many tasks as run at a time, of 64 MiB each. Then each
        fingerprint is moved `k + 1` times, 8 bytes each time, packed, and joined. Few fingerprints are not counted but
        moved to every task, unless `ranges` is set.

        `new` has fingerprints in the form that `near` takes. With `new`, the result has only the pairs of a new
        fingerprint and a fingerprint of a page: each new fingerprint is searched in all stores. The search costs less
        than the join if there are fewer new fingerprints than about the number in a store; `plan` compares the costs.
        The new fingerprints need not belong to a page.

        With a `limit`, each fingerprint is in at most that many pairs. A pair is kept if it is among the first pairs of
        both fingerprints, in order of distance, and then of the other fingerprint as an unsigned number. An additional
        column, `complete`, is true if all pairs of both fingerprints are in the result. The kept pairs are exchanged
        twice.

        Warns if more than one fingerprint in a hundred has a neighbour by chance. In this case, use a smaller `k`.
        """
        check_k(k)
        if limit is not None:
            check_count("limit", limit)
        if ranges is not None:
            check_count("ranges", ranges)
        warn_of_chance(self._places.fingerprints, k)
        if new is not None:
            if ranges is not None:
                what = "pairs of new fingerprints are found by searches, not by a join"
                raise ValueError(f"ranges and new exclude each other: {what}")
            if self._hidden is not None:
                raise ValueError('new cannot be used with overlapping="newest"')
            found = pairs.searched(self._places, new, k)
        else:
            # Hidden pages must not replace other pages within the limit.
            at_once = None if self._hidden is not None else limit
            found = pairs.joined(self._places, k, ranges, at_once)
            if self._hidden is not None:
                gone = overlap.gone(clusters.ranked(self._places, "first-seen", None), self._hidden)
                found = overlap.without(found, kept(gone))
        return self._with_missing(found if limit is None else pairs.cut(found, limit))

    def clusters(self, k: int = 3, rule: str = "first-seen", *, rounds_max: int = ROUNDS_MAX) -> DataFrame:
        """All pages with fingerprints, each with the leader of its cluster of pages with nearly the same content.

        The result equals the result of `simkeep cluster` for a single store with all pages, without the pages that have
        no fingerprint, for which `copies` finds equal contents: no two leaders are within `k` bits of each other, and
        each other page belongs to the nearest of the leaders that rank before it, by a `rule`, for example
        `"https,shortest-url"`. The columns are `url`, `store`, `fingerprint`, `leader` (its URL) and `distance`.

        Finds all pairs, and processes them in rounds, which run at once and are checkpointed. Raises
        `simkeep.LimitError` if pairs are undecided after `rounds_max` rounds. Scans all pages twice. Moves the URL of
        each page, and several times the URL and the rank of each fingerprint's first page, in blobs.
        """
        check_k(k)
        check_count("rounds_max", rounds_max)
        warn_of_chance(self._places.fingerprints, k)
        return self._with_missing(clusters.clusters(self._places, k, rule, self._hidden, rounds_max))

    def pages(
        self,
        under: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        filters: Sequence[tuple[str, str, Any]] | None = None,
    ) -> DataFrame:
        """All pages of all stores, or the pages under a prefix, in their current state.

        The columns are `store`, `host` and the columns of `View.scan`, or only the named `columns`. Other columns are
        not read, so name only the required columns.

        `filters` are comparisons that must all be true, each with a column, an operator and a value: `=`, `!=`, `<`,
        `<=`, `>`, `>=`, `in`, `not in` and, for text, `starts with`. Rows for which a comparison is false or null are
        not passed to Spark. Filters of `url` and `host` by `=`, `in` and `starts with` reduce the rows that are read,
        for example `("url", "starts with", "https://example.com/docs/")`.

        A task reads a range of a store's pages. The ranges have about equally many pages.
        """
        return self._counted("pages", under, columns, filters)

    def visits(
        self,
        under: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        filters: Sequence[tuple[str, str, Any]] | None = None,
    ) -> DataFrame:
        """All visits of all pages, or of the pages under a prefix, including restatements and properties.

        The columns are `store`, `host` and the columns of `View.observations`, or only the named `columns`. `filters`
        have the form that `pages` explains. A task reads a range of a store's pages. The ranges have about equally many
        pages.
        """
        return self._counted("visits", under, columns, filters)

    def copies(self, under: str | None = None) -> DataFrame:
        """The pages whose content another page also has, byte for byte: `digest`, `url`, `store` and `pages`.

        Pages that are gone are excluded; `pages` is the number of pages with this content.
        """
        pages = self.pages(under, columns=["digest", "url", "store", "gone"])
        there = pages.where("digest is not null and not gone").drop("gone")
        several = there.groupBy("digest").agg(F.countDistinct("url").alias("pages")).where("pages > 1")
        return there.join(several, "digest")

    def overlaps(self) -> DataFrame:
        """The pages in several stores: `url`, and `stores`, the names of the stores. Includes hidden pages."""
        pages = self._table("pages", None, ["url", "store", "last"], None)
        return self._with_missing(overlap.several(pages).select("url", F.sort_array("seen.store").alias("stores")))

    def _counted(
        self,
        table: str,
        under: str | None,
        columns: Sequence[str] | None,
        filters: Sequence[tuple[str, str, Any]] | None,
    ) -> DataFrame:
        """A table without hidden pages."""
        if self._hidden is None:
            return self._with_missing(self._table(table, under, columns, filters))
        # The anti-join needs these columns, even if the caller does not.
        needed = None if columns is None else [*columns, *(of for of in ("url", "store") if of not in columns)]
        rows = self._table(table, under, needed, filters)
        rows = rows.join(self._hidden, ["url", "store"], "left_anti")
        return self._with_missing(rows.select(*(columns if columns is not None else rows.columns)))

    def _table(
        self,
        table: str,
        under: str | None,
        columns: Sequence[str] | None,
        filters: Sequence[tuple[str, str, Any]] | None,
    ) -> DataFrame:
        self._places.check(lambda reader: reader.scan(under).close())
        of = options(table, self.pinned, under=under, columns=columns, filters=filters, tasks=self._places.tasks)
        return self._places.spark.read.format(Source.name()).options(**of).load()

    def _with_missing(self, answer: DataFrame) -> DataFrame:
        """Adds a column with the names of missing stores, if stores may be missing."""
        if self._missing is None:
            return answer
        names = F.array(*(F.lit(name) for name in sorted(self._missing))).cast("array<string>")
        return answer.withColumn("missing", names)
