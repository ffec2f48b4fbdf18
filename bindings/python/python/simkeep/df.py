"""Tables of document frequencies: the number of documents with each feature.

Recipes that weigh words by rarity need a table. Count the frequencies in your own pages:

    with simkeep.df.FrequencyCounter("crawl.df", "words-idf") as counter:
        for text in texts:
            counter.add(text)
        table = counter.freeze()
"""

from ._simkeep import FrequencyCounter, FrequencyTable, TableComparison, compare, merge

__all__ = ["FrequencyCounter", "FrequencyTable", "TableComparison", "compare", "merge"]
