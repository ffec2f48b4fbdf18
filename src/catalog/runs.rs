//! Assignment of a damaged catalog's operations to journal tables.
//!
//! The operations of a table are one range of numbers, and no other table has any of them. So two
//! operations belong to one table if a page has rows of both operations or leads to both, or if
//! both lie between two operations of one table. Pages refer to their children by checksum, so the
//! tree is known even if the positions of pages are unknown.

use std::collections::{BTreeSet, HashMap};

/// The maximum height of a catalog's tree.
const HEIGHT_MAX: usize = 8;

/// A page: the operations below it, and its first child if the page is a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SubtreeRange {
    least: u64,
    most: u64,
    first: Option<u128>,
}

/// Collects the contents of pages.
#[derive(Default)]
pub(super) struct PageCollector {
    found: HashMap<u128, SubtreeRange>,
    /// The operations of each leaf, including damaged ones.
    ranges: Vec<(u64, u64)>,
    /// For each branch, its own checksum and the checksums of its children, in order.
    branches: Vec<(Option<u128>, Vec<u128>)>,
    /// The roots of tables.
    roots: BTreeSet<u128>,
}

/// Ranges of operations; each range belongs to one table.
#[derive(Debug, Default)]
pub(crate) struct TableRanges {
    /// The ranges in order; they do not overlap.
    ranges: Vec<(u64, u64)>,
    /// Operations that are the first of their table.
    starts: BTreeSet<u64>,
}

impl PageCollector {
    /// Adds a leaf with rows of the operations from `least` to `most`.
    pub(super) fn leaf(&mut self, sum: Option<u128>, least: u64, most: u64) {
        self.ranges.push((least, most));
        if let Some(sum) = sum {
            self.found.insert(sum, SubtreeRange { least, most, first: None });
        }
    }

    pub(super) fn branch(&mut self, sum: Option<u128>, children: Vec<u128>) {
        self.branches.push((sum, children));
    }

    /// Adds the root of a journal table.
    pub(super) fn root(&mut self, sum: u128) {
        self.roots.insert(sum);
    }

    /// The children of branches that are not the last child of their branch.
    pub(super) fn followed(&self) -> impl Iterator<Item = u128> {
        let children = self.branches.iter().filter_map(|(_, all)| all.split_last());
        children.flat_map(|(_, followed)| followed.iter().copied())
    }

    pub(super) fn finish(mut self) -> TableRanges {
        for _ in 0..HEIGHT_MAX {
            let before = self.found.len();
            for (sum, children) in &self.branches {
                let below = || children.iter().filter_map(|child| self.found.get(child));
                let least = below().map(|child| child.least).min();
                let most = below().map(|child| child.most).max();
                if let Some(((sum, least), most)) = sum.zip(least).zip(most) {
                    let first = children.first().copied();
                    self.found.insert(sum, SubtreeRange { least, most, first });
                }
            }
            if self.found.len() == before {
                break;
            }
        }
        let starts = self.roots.iter().filter_map(|root| self.start(*root)).collect();
        self.ranges.extend(self.found.values().map(|found| (found.least, found.most)));
        for (_, children) in &self.branches {
            let below = || children.iter().filter_map(|child| self.found.get(child));
            let least = below().map(|child| child.least).min();
            self.ranges.extend(least.zip(below().map(|child| child.most).max()));
        }
        TableRanges { ranges: merged(self.ranges), starts }
    }

    /// The first operation below a root, if all pages on the way to it were found.
    fn start(&self, root: u128) -> Option<u64> {
        let mut at = self.found.get(&root)?;
        for _ in 0..HEIGHT_MAX {
            match at.first {
                None => return Some(at.least),
                Some(first) => at = self.found.get(&first)?,
            }
        }
        None
    }
}

/// Merges overlapping ranges.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (least, most) in ranges {
        match merged.last_mut() {
            Some((_, end)) if least <= *end => *end = most.max(*end),
            _ => merged.push((least, most)),
        }
    }
    merged
}

impl TableRanges {
    /// Whether frames that begin with the operations `first` and `other` are known to belong to one
    /// table.
    pub(crate) fn share_table(&self, first: u64, other: u64) -> bool {
        let at = self.ranges.partition_point(|(_, most)| *most < first);
        self.ranges.get(at).is_some_and(|(least, most)| *least <= first && other <= *most)
    }

    /// Whether `operation` is known to be the first of its table.
    pub(crate) fn starts_with(&self, operation: u64) -> bool {
        self.starts.contains(&operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_pages_belong_to_one_table() {
        let mut pages = PageCollector::default();
        // The leaf with operations 9 to 12 is damaged, so no branch names its checksum.
        for (sum, range) in [(Some(11), (1, 4)), (Some(12), (5, 8)), (None, (9, 12))] {
            pages.leaf(sum, range.0, range.1);
        }
        for (sum, range) in [(14, (13, 16)), (20, (17, 17)), (21, (18, 30))] {
            pages.leaf(Some(sum), range.0, range.1);
        }
        pages.branch(Some(1), vec![11, 12, 13, 14]);
        pages.branch(Some(2), vec![98, 99]);
        pages.root(1);
        pages.root(20);
        assert_eq!(pages.followed().collect::<Vec<_>>(), [11, 12, 13, 98]);
        let runs = pages.finish();
        assert!(runs.share_table(1, 16) && runs.share_table(4, 9) && runs.share_table(18, 30));
        assert!(
            !runs.share_table(16, 17) && !runs.share_table(17, 18) && !runs.share_table(30, 31)
        );
        assert!(runs.starts_with(1) && runs.starts_with(17) && !runs.starts_with(18));
    }

    #[test]
    fn tall_tree_is_one_table_in_any_page_order() {
        let mut pages = PageCollector::default();
        pages.branch(Some(100), vec![10, 20]);
        pages.branch(Some(10), vec![1, 2]);
        pages.branch(Some(20), vec![3, 4]);
        (0..5).for_each(|leaf| pages.leaf(Some(leaf.into()), leaf, leaf));
        pages.root(100);
        let runs = pages.finish();
        assert!(runs.share_table(1, 4) && !runs.share_table(0, 1));
        assert!(runs.starts_with(1));
    }
}
