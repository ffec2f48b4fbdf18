"""Tables of document frequencies: the number of documents with each feature.

Recipes that weigh words by rarity need a table. Count the frequencies in your own pages:

    with simkeep.df.Counter("crawl.df", "words-idf") as counter:
        for text in texts:
            counter.add(text)
        table = counter.freeze()
"""

from ._simkeep import Counter, Table, TableComparison, compare, merge

__all__ = ["Counter", "Table", "TableComparison", "compare", "merge"]
