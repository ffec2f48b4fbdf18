//! Comparison of two tables.

use super::table::FrequencyTable;
use crate::fingerprint::Frequencies;

/// The difference between the weights that two tables give to features of the same pages.
///
/// ```
/// # use simkeep::df::{TableComparison, FrequencyCounter};
/// # use simkeep::fingerprint::Recipe;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let mut counter = FrequencyCounter::new(&Recipe::DEFAULT, dir.path().join("crawl.df"), 64 << 20)?;
/// # counter.add("one two three")?;
/// # let table = counter.freeze(1)?;
/// let same = TableComparison::of(&table, &table);
/// assert_eq!((same.known, same.difference, same.first_only), (1.0, 0.0, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableComparison {
    /// The number of features in both tables.
    pub common: u64,
    /// The number of features in the first table only.
    pub first_only: u64,
    /// The number of features in the second table only.
    pub second_only: u64,
    /// The share of the first table's counts (one feature in one document) whose features are in
    /// the second table as well, from 0 to 1.
    pub known: f64,
    /// The mean difference between the two idf values of a feature, ln(1 + N/df), over the counts
    /// of the first table.
    pub difference: f64,
    /// The mean idf of a feature in the first table, over the counts of the first table.
    pub idf: f64,
}

impl TableComparison {
    /// Compares two tables. Reads both tables once.
    ///
    /// To decide whether a table suits other pages, compare fingerprints of those pages under both
    /// tables. This comparison explains why the fingerprints differ.
    ///
    /// ```
    /// use simkeep::df::{FrequencyCounter, TableComparison};
    /// use simkeep::fingerprint::Recipe;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let mut tables = Vec::new();
    /// for (name, text) in [("a.df", "fresh fish and chips"), ("b.df", "fresh bread")] {
    ///     let mut counter = FrequencyCounter::new(&Recipe::words(1), dir.path().join(name), 1 << 20)?;
    ///     counter.add(text)?;
    ///     tables.push(counter.freeze(1)?);
    /// }
    /// let comparison = TableComparison::of(&tables[0], &tables[1]);
    /// assert_eq!((comparison.common, comparison.first_only, comparison.second_only), (1, 3, 1));
    /// assert_eq!(comparison.known, 0.25); // one of four words
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(first: &FrequencyTable, second: &FrequencyTable) -> TableComparison {
        let idf = |table: &FrequencyTable, df: u32| {
            (1.0 + table.documents() as f64 / f64::from(df.max(1))).ln()
        };
        let (mut common, mut first_only) = (0, 0);
        let (mut all, mut known, mut difference, mut sum) = (0.0, 0.0, 0.0, 0.0);
        let mut others = second.iter().peekable();
        for (hash, df) in first.iter() {
            while others.next_if(|other| other.0 < hash).is_some() {}
            let other = others.next_if(|other| other.0 == hash).map(|other| other.1);
            common += u64::from(other.is_some());
            first_only += u64::from(other.is_none());
            let weight = f64::from(df);
            let own = idf(first, df);
            all += weight;
            known += if other.is_some() { weight } else { 0.0 };
            sum += weight * own;
            difference += weight * (own - idf(second, other.unwrap_or(0))).abs();
        }
        let mean = |sum: f64| if all > 0.0 { sum / all } else { 0.0 };
        TableComparison {
            common,
            first_only,
            second_only: second.terms() - common,
            known: mean(known),
            difference: mean(difference),
            idf: mean(sum),
        }
    }
}
