"""The stores of a crawl that has outgrown one machine, queried together by Spark.

    from simkeep.spark import Stores
    stores = Stores(spark, ["/crawl/w*/"])           # what `simkeep publish` has made of each store
    stores.near(queries, k=3)                        # pages near fingerprints, over all stores
    stores.pairs(k=3)                                # all pairs of fingerprints, each once

Results equal the results of a single store with all pages. `docs/spark.md` of the project explains when one machine is
still better, and the cost of a query. Needs PySpark 4, and this package on all workers.
"""

from .pinned import Pinned
from .costs import Plan, plan
from .source import Source
from .stores import Stores

__all__ = ["Pinned", "Plan", "Source", "Stores", "plan"]
