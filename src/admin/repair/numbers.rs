//! Page numbers in the operations of one journal table with lost operations.
//!
//! Pages are numbered from 0 in order of their first operation in a table. A lost operation may
//! have introduced a page. So the numbers after a lost operation are known only within bounds: each
//! lost operation moves them by 0 or 1. An operation that refers to a page raises the lower bound,
//! because the operation cannot refer to a later page. If the bounds meet, the numbers are certain;
//! otherwise they are not used. So no data is ever assigned to a wrong page.

/// A sequence of pages without lost operations between them.
#[derive(Debug)]
struct Stretch {
    /// The number of recovered pages before the stretch.
    first: u64,
    /// The least and the greatest number of lost pages before the stretch; `most` is `None` without
    /// a bound.
    least: u64,
    most: Option<u64>,
}

/// The page numbers of one table. The table's operations are counted first, and then numbers are
/// resolved.
#[derive(Debug)]
pub(super) struct PageNumbers {
    /// The completed stretches, in order.
    earlier: Vec<Stretch>,
    last: Stretch,
    /// The number of recovered pages so far.
    saved: u64,
}

impl PageNumbers {
    /// Starts with a table that has introduced at most `most` pages before its recovered part.
    pub(super) fn with_bound(most: Option<u64>) -> PageNumbers {
        PageNumbers { earlier: Vec::new(), last: Stretch { first: 0, least: 0, most }, saved: 0 }
    }

    /// Records a number of lost operations.
    pub(super) fn add_lost(&mut self, operations: u64) {
        if operations == 0 {
            return;
        }
        let Stretch { least, most, .. } = self.last;
        let most = most.and_then(|most| most.checked_add(operations));
        let next = Stretch { first: self.saved, least, most };
        self.earlier.push(std::mem::replace(&mut self.last, next));
    }

    /// Records that an operation introduces a page.
    pub(super) fn add(&mut self) {
        self.saved += 1;
    }

    /// Records that an operation refers to the page with a number.
    pub(super) fn add_reference(&mut self, number: u64) {
        let last = &mut self.last;
        let lost = number.saturating_add(1).saturating_sub(self.saved);
        last.least = last.least.max(lost);
        // A reference to an impossible page proves nothing about other references.
        if last.most.is_some_and(|most| most < last.least) {
            last.most = None;
        }
    }

    /// Ends counting. If all lost operations before a stretch introduced a page, then all lost
    /// operations before earlier stretches introduced a page as well.
    pub(super) fn finish(&mut self) {
        let mut is_exact = false;
        for stretch in self.earlier.iter_mut().chain([&mut self.last]).rev() {
            is_exact &= stretch.most.is_some();
            if let Some(most) = stretch.most.filter(|most| is_exact || *most == stretch.least) {
                stretch.least = most;
                is_exact = true;
            }
        }
    }

    /// The index of the recovered page with a number, from 0; `None` if the page is lost or
    /// unknown.
    pub(super) fn resolve(&self, number: u64) -> Option<u64> {
        let mut end = self.saved;
        for stretch in self.earlier.iter().chain([&self.last]).rev() {
            let pages = stretch.first..std::mem::replace(&mut end, stretch.first);
            let is_exact = stretch.most == Some(stretch.least);
            let saved =
                number.checked_sub(stretch.least).filter(|at| is_exact && pages.contains(at));
            if saved.is_some() {
                return saved;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn matching_bounds_make_numbers_exact() {
        let mut numbers = PageNumbers::with_bound(Some(0));
        (0..3).for_each(|_| numbers.add());
        numbers.add_lost(2);
        (0..2).for_each(|_| numbers.add());
        let unknown = |numbers: &PageNumbers| (0..8).filter_map(|n| numbers.resolve(n)).count();
        assert_eq!(unknown(&numbers), 3);
        // The reference is to the last page of all: both lost operations introduced a page.
        numbers.add_reference(6);
        numbers.finish();
        let resolved: Vec<_> = (0..8).map(|n| numbers.resolve(n)).collect();
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(Some);
        assert_eq!(resolved, [a, b, c, None, None, d, e, None]);
    }

    /// Operations with a flag for whether the operation is lost. `None` introduces a page; `Some`
    /// refers to an existing page.
    fn operations() -> impl Strategy<Value = Vec<(Option<u16>, bool)>> {
        let operation = prop_oneof![3 => Just(None), 2 => any::<u16>().prop_map(Some)];
        prop::collection::vec((operation, prop::bool::weighted(0.2)), 0..40)
    }

    proptest! {
        #[test]
        fn no_number_resolves_to_another_page(operations in operations(), knows_start in any::<bool>()) {
            let mut numbers = PageNumbers::with_bound(if knows_start { Some(0) } else { None });
            // For each page, its index among the recovered pages; `None` if it is lost.
            let mut pages: Vec<Option<u64>> = Vec::new();
            let mut lost = 0;
            for (named, is_lost) in &operations {
                let named = named.map(|n| u64::from(n) % pages.len().max(1) as u64);
                let named = named.filter(|_| !pages.is_empty());
                if *is_lost {
                    lost += 1;
                } else {
                    numbers.add_lost(std::mem::take(&mut lost));
                }
                match (named, is_lost) {
                    (None, true) => pages.push(None),
                    (None, false) => {
                        pages.push(Some(pages.iter().flatten().count() as u64));
                        numbers.add();
                    }
                    (Some(_), true) => {}
                    (Some(n), false) => numbers.add_reference(n),
                }
            }
            numbers.finish();
            let is_whole = knows_start && operations.iter().all(|(_, is_lost)| !is_lost);
            for (n, page) in (0..).zip(&pages) {
                let resolved = numbers.resolve(n);
                prop_assert!(resolved.is_none() || resolved == *page, "{} is {:?}", n, resolved);
                prop_assert!(!is_whole || resolved == *page);
            }
        }
    }
}
