"""Pages in several stores. The store with the last visit determines the page."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .joins import matched


def several(pages: DataFrame) -> DataFrame:
    """The pages in several stores: `url`, and `seen`, the stores with their last visits, the latest first."""
    of = F.sort_array(F.collect_list(F.struct("last", "store")), asc=False).alias("seen")
    return pages.groupBy("url").agg(of).where("size(seen) > 1")


def hidden(pages: DataFrame) -> DataFrame:
    """The pages that another store visited later: `store` and `url`.

    If the times are equal, the visit of the store with the greater name counts as later.
    """
    earlier = F.slice("seen", F.lit(2), F.size("seen") - 1)
    return several(pages).select("url", F.inline(earlier)).select("store", "url")


def gone(pages: DataFrame, hidden: DataFrame) -> DataFrame:
    """The fingerprints that only hidden pages have."""
    places = ["url", "store"]
    theirs = pages.join(hidden, places, "left_semi").select("fingerprint").distinct()
    others = matched(pages.join(hidden, places, "left_anti"), theirs, "fingerprint", "left_semi")
    return matched(theirs, others.select("fingerprint"), "fingerprint", "left_anti")


def without(pairs: DataFrame, gone: DataFrame) -> DataFrame:
    """The pairs without the fingerprints `gone`."""
    for side in ("left", "right"):
        pairs = matched(pairs, gone.select(F.col("fingerprint").alias(side)), side, "left_anti")
    return pairs.select("left", "right", "distance")
