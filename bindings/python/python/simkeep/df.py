"""Tables of document frequencies: how many documents have a feature.

Recipes that weigh words by how rare they are need one. Count it from your own pages:

    with simkeep.df.Counter("crawl.df", "words-idf") as counter:
        for text in texts:
            counter.add(text)
        table = counter.freeze()
"""

from ._simkeep import Counter, Table, TableComparison, compare, merge

__all__ = ["Counter", "Table", "TableComparison", "compare", "merge"]
