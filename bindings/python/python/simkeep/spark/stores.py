"""Several stores, asked as one."""

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
    """Published stores of one crawl, asked all at once.

    `paths` are directories that `simkeep publish` made, or patterns of them, which all workers see under the same
    names, or URIs of such directories, whose files each machine fetches once. They are resolved here and now: each
    question is asked of the same `generation`, whatever is published later. Fingerprints are those of the epoch by
    which near-duplicates are sought, or of the one named `epoch`.

    With `overlapping="newest"` a page that is in several stores counts in the one that visited it last, and not in
    the others; otherwise it counts in each. `near` takes up to 200,000 such pages. With `on_error="skip"` stores that
    are damaged or not there are left out: all files are read once and checked, at once, and `missing` says which are
    left out and why. Answers then have a column `missing` with their names.

    Answers are `DataFrame`s of Spark, and are computed when their rows are asked for. Fingerprints in them are
    `long`, bit for bit. A task that is run again answers the same.
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
            # Not checkpointed: what an executor held that is lost is computed again, and is the same.
            self._hidden = overlap.hidden(self._table("pages", None, ["url", "store", "last"], None)).persist()

    @property
    def pinned(self) -> tuple[Pinned, ...]:
        """The stores, each with the generation and the epoch by which it is asked."""
        return self._places.pinned

    @property
    def missing(self) -> dict[str, str]:
        """The stores that are left out, by name, each with what is wrong with it: with `on_error="skip"`."""
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
        """What a question costs, before anything runs: `"near"`, `"pairs"` or `"clusters"`.

        `queries` says how many there are for `near`, and `new` how many for `pairs(new=…)`. What it prints says
        how the question is answered and why, the tasks, the bytes read and exchanged, seconds of a core, and how
        many pairs there are by chance. `simkeep.spark.plan` does the same for stores that are not there yet.
        """
        counts = [store.fingerprints for store in self.pinned]
        return plan(question, counts, k, queries=queries, new=new, tasks=self._places.tasks, ranges=ranges)

    def near(self, queries: Any, k: int = 3, limit: int | None = 16) -> DataFrame:
        """The pages near each of many fingerprints, over all stores.

        `queries` are fingerprints: an array, a column of Arrow, an iterable of `int`s, or the only column of a
        `DataFrame`. Equal ones are asked once. The columns are `query`, `store`, `url`, `distance`, `fingerprint`
        and `complete`. Of each query there are up to `limit` pages (`None`: all), the nearest first, then in
        SURT order; `complete` says whether these are all. Rows come in no particular order, and there are none
        of a query that nothing is near.

        A task asks a store, or some small ones, for up to 4 million queries, in some tenths of a microsecond for
        each. Queries are sent to all machines, 8 bytes each, so that a hundred million are a good number at a time.
        What is found is exchanged once more, packed, if there is a limit.

        If an answer is not complete, and many pages are equally far, which of those are named is not determined.
        """
        check_k(k)
        if limit is not None:
            check_count("limit", limit)
        return self._with_missing(near(self._places, queries, k, limit, self._hidden))

    def pairs(
        self, k: int = 3, *, new: Any = None, limit: int | None = None, ranges: int | None = None
    ) -> DataFrame:
        """All pairs of different fingerprints of pages within `k` bits of each other, over all stores.

        The columns are `left`, `right` and `distance`; each pair comes once, the smaller fingerprint first, as
        unsigned numbers. The pages that have a fingerprint are `near` it within 0.

        A first job, which runs at once, counts the fingerprints of all stores, so that they can be shared out
        evenly: into about `ranges` tasks, by default of 64 MiB and as many as run at a time. Then each is moved
        `k + 1` times, 8 bytes each, packed, and joined. Few fingerprints are not counted but moved to every task,
        unless `ranges` are asked for.

        With `new`, fingerprints as `near` takes them, only the pairs of one of these and one of a page: each is
        searched for in all stores. That costs less as long as they are fewer than those of a store or so, which
        `plan` tells. No page need have a new one.

        With a `limit`, each fingerprint is in as many pairs at most: a pair stays if it is among the first of both,
        in order of distance, and then of the other fingerprint as an unsigned number. A further column, `complete`,
        says whether all pairs of both are there. What stays is exchanged twice.

        Warns if more than one fingerprint in a hundred has a neighbour by chance. Use a smaller `k` then.
        """
        check_k(k)
        if limit is not None:
            check_count("limit", limit)
        if ranges is not None:
            check_count("ranges", ranges)
        warn_of_chance(self._places.fingerprints, k)
        if new is not None:
            if ranges is not None:
                raise ValueError("ranges: pairs of new fingerprints are searched for, and not joined")
            if self._hidden is not None:
                raise ValueError('new: with overlapping="newest" there are pairs of all fingerprints only')
            found = pairs.searched(self._places, new, k)
        else:
            # What does not count must not take the place of what does.
            at_once = None if self._hidden is not None else limit
            found = pairs.joined(self._places, k, ranges, at_once)
            if self._hidden is not None:
                gone = overlap.gone(clusters.ranked(self._places, "first-seen", None), self._hidden)
                found = overlap.without(found, kept(gone))
        return self._with_missing(found if limit is None else pairs.cut(found, limit))

    def clusters(self, k: int = 3, rule: str = "first-seen", *, rounds_max: int = ROUNDS_MAX) -> DataFrame:
        """All pages with nearly the same content as another one, and all others, each with its leader.

        It is what `simkeep cluster` says of one store that has all pages: no two leaders are within `k` bits of
        each other, and each other page belongs to the nearest of the leaders that rank before it, by a `rule`
        such as `"https,shortest-url"`. The columns are `url`, `store`, `fingerprint`, `leader` (its URL) and
        `distance`.

        Finds all pairs, and goes through them in rounds, which run at once and are checkpointed;
        `simkeep.LimitError` if pairs are undecided after `rounds_max`. It scans all pages twice. Of each page it moves
        the URL, and of each fingerprint the first page's URL and rank some times, in blobs.
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
        """All pages of all stores, or those under a prefix, as they are now.

        The columns are `store`, `host` and those of `View.scan`, or those that are named. Others are not made, so
        it is well to name what is needed.

        `filters` are comparisons that all have to hold, each of a column, an operator and a value: `=`, `!=`, `<`,
        `<=`, `>`, `>=`, `in`, `not in` and, of text, `starts with`. Rows for which one does not hold, or that have
        null there, do not come to Spark. Those of `url` and `host` by `=`, `in` and `starts with` narrow what is
        read, such as `("url", "starts with", "https://example.com/docs/")`.

        A task reads a range of a store's pages, about as many in each.
        """
        return self._counted("pages", under, columns, filters)

    def visits(
        self,
        under: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        filters: Sequence[tuple[str, str, Any]] | None = None,
    ) -> DataFrame:
        """All visits of all pages, or of those under a prefix; what was restated and given stands among them.

        The columns are `store`, `host` and those of `View.observations`, or those that are named. `filters` are as
        those of `pages`. A task reads a range of a store's pages, about as many in each.
        """
        return self._counted("visits", under, columns, filters)

    def copies(self, under: str | None = None) -> DataFrame:
        """The pages whose content another page has as well, byte for byte: `digest`, `url`, `store` and `pages`.

        Pages that are gone do not count; `pages` is how many there are with this content.
        """
        pages = self.pages(under, columns=["digest", "url", "store", "gone"])
        there = pages.where("digest is not null and not gone").drop("gone")
        several = there.groupBy("digest").agg(F.countDistinct("url").alias("pages")).where("pages > 1")
        return there.join(several, "digest")

    def overlaps(self) -> DataFrame:
        """The pages that are in several stores: `url`, and `stores`, their names. Also those that do not count."""
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
