"""Pages that are in several stores, of which one has the last visit."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .joins import matched


def several(pages: DataFrame) -> DataFrame:
    """The pages that are in several stores: `url`, and `seen`, each store with the last visit, the last one first."""
    of = F.sort_array(F.collect_list(F.struct("last", "store")), asc=False).alias("seen")
    return pages.groupBy("url").agg(of).where("size(seen) > 1")


def hidden(pages: DataFrame) -> DataFrame:
    """The pages of a store that another store has seen later: `store` and `url`.

    Of two that were seen last at one time, the one whose store comes last in order is taken for later.
    """
    earlier = F.slice("seen", F.lit(2), F.size("seen") - 1)
    return several(pages).select("url", F.inline(earlier)).select("store", "url")


def gone(pages: DataFrame, hidden: DataFrame) -> DataFrame:
    """The fingerprints that no page has but those that do not count, of pages with their `fingerprint`."""
    places = ["url", "store"]
    theirs = pages.join(hidden, places, "left_semi").select("fingerprint").distinct()
    others = matched(pages.join(hidden, places, "left_anti"), theirs, "fingerprint", "left_semi")
    return matched(theirs, others.select("fingerprint"), "fingerprint", "left_anti")


def without(pairs: DataFrame, gone: DataFrame) -> DataFrame:
    """The pairs in which none of these is."""
    for side in ("left", "right"):
        pairs = matched(pairs, gone.select(F.col("fingerprint").alias(side)), side, "left_anti")
    return pairs.select("left", "right", "distance")
