//! The numbers by which the operations of one journal table name its pages, where some are lost.
//!
//! Pages are counted from 0 as they come to a table. A lost operation may have brought a page, so the
//! numbers of those behind it are known within bounds only: each lost operation moves them by 0 or 1.
//! An operation that names a page raises the lower bound, since no operation names a page that is yet
//! to come. Where the bounds meet, the numbers are known for certain; elsewhere no page is named by
//! them. So nothing is ever entered under another page.

/// Pages that came without a loss between them.
#[derive(Debug)]
struct Stretch {
    /// How many pages were saved before.
    first: u64,
    /// How many pages were lost before, at least and at most; without `most` nothing bounds it.
    least: u64,
    most: Option<u64>,
}

/// The numbers of one table: first its operations are counted, then they are resolved.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Those that have ended, in order.
    earlier: Vec<Stretch>,
    last: Stretch,
    /// Pages that were saved so far.
    saved: u64,
}

impl Numbers {
    /// Starts with a table that has brought at most `most` pages before what is saved of it.
    pub(super) fn after(most: Option<u64>) -> Numbers {
        Numbers { earlier: Vec::new(), last: Stretch { first: 0, least: 0, most }, saved: 0 }
    }

    /// Notes that a number of operations is lost here.
    pub(super) fn lose(&mut self, operations: u64) {
        if operations == 0 {
            return;
        }
        let Stretch { least, most, .. } = self.last;
        let most = most.and_then(|most| most.checked_add(operations));
        let next = Stretch { first: self.saved, least, most };
        self.earlier.push(std::mem::replace(&mut self.last, next));
    }

    /// An operation brings a page.
    pub(super) fn add(&mut self) {
        self.saved += 1;
    }

    /// An operation names the page of a number.
    pub(super) fn name(&mut self, number: u64) {
        let last = &mut self.last;
        let lost = number.saturating_add(1).saturating_sub(self.saved);
        last.least = last.least.max(lost);
        // No table has this: what names a page that cannot be there says nothing of the others.
        if last.most.is_some_and(|most| most < last.least) {
            last.most = None;
        }
    }

    /// Ends the counting. A stretch before which all lost operations brought a page says the same of
    /// those before it.
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

    /// Which of the saved pages has a number, from 0; `None` if it is lost, or that is unknown.
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
    fn bounds_that_meet_make_numbers_exact() {
        let mut numbers = Numbers::after(Some(0));
        (0..3).for_each(|_| numbers.add());
        numbers.lose(2);
        (0..2).for_each(|_| numbers.add());
        let unknown = |numbers: &Numbers| (0..8).filter_map(|n| numbers.resolve(n)).count();
        assert_eq!(unknown(&numbers), 3);
        // The last page of all: both operations brought one.
        numbers.name(6);
        numbers.finish();
        let resolved: Vec<_> = (0..8).map(|n| numbers.resolve(n)).collect();
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(Some);
        assert_eq!(resolved, [a, b, c, None, None, d, e, None]);
    }

    /// An operation: brings a page, or names one of those that are there; and whether it is lost.
    fn operations() -> impl Strategy<Value = Vec<(Option<u16>, bool)>> {
        let operation = prop_oneof![3 => Just(None), 2 => any::<u16>().prop_map(Some)];
        prop::collection::vec((operation, prop::bool::weighted(0.2)), 0..40)
    }

    proptest! {
        #[test]
        fn no_number_leads_to_another_page(operations in operations(), knows_start in any::<bool>()) {
            let mut numbers = Numbers::after(if knows_start { Some(0) } else { None });
            // Of each page whether it is saved, and as which one.
            let mut pages: Vec<Option<u64>> = Vec::new();
            let mut lost = 0;
            for (named, is_lost) in &operations {
                let named = named.map(|n| u64::from(n) % pages.len().max(1) as u64);
                let named = named.filter(|_| !pages.is_empty());
                if *is_lost {
                    lost += 1;
                } else {
                    numbers.lose(std::mem::take(&mut lost));
                }
                match (named, is_lost) {
                    (None, true) => pages.push(None),
                    (None, false) => {
                        pages.push(Some(pages.iter().flatten().count() as u64));
                        numbers.add();
                    }
                    (Some(_), true) => {}
                    (Some(n), false) => numbers.name(n),
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
