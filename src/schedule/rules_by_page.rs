//! Which rule each page of a component has.

use std::ops::Range;

use super::rules::{Edge, RuleNumber, Rules};
use crate::error::Result;

/// Which rule each page of a component has, by its place in SURT order.
#[derive(Debug, Default)]
pub(super) struct RulesByPage {
    /// From which page on another rule holds than before; in order. At first that for all pages does.
    from: Vec<(u32, RuleNumber)>,
}

impl RulesByPage {
    /// The rules of some pages of a component; `bound` is the first of them whose key is not before one.
    ///
    /// Asks for each edge at most, and for not many more than there are pages: where two edges have one
    /// bound, so have all between them.
    pub(super) fn new(
        rules: &Rules,
        pages: Range<u32>,
        mut bound: impl FnMut(&[u8]) -> Result<u32>,
    ) -> Result<RulesByPage> {
        let mut held = RulesByPage::default();
        let mut bound = |edge: &Edge| bound(rules.key(edge));
        held.find(rules.edges(), pages, &mut bound)?;
        Ok(held)
    }

    /// Finds where edges lie that are among these pages.
    fn find(
        &mut self,
        edges: &[Edge],
        pages: Range<u32>,
        bound: &mut impl FnMut(&Edge) -> Result<u32>,
    ) -> Result<()> {
        if pages.is_empty() {
            if let Some(last) = edges.last() {
                self.hold(pages.start, last.holds());
            }
            return Ok(());
        }
        let (before, others) = edges.split_at(edges.len() / 2);
        let Some((middle, after)) = others.split_first() else { return Ok(()) };
        let at = bound(middle)?.clamp(pages.start, pages.end);
        self.find(before, pages.start..at, bound)?;
        self.hold(at, middle.holds());
        self.find(after, at..pages.end, bound)
    }

    /// Of several edges at one page the last counts.
    fn hold(&mut self, page: u32, rule: RuleNumber) {
        match self.from.last_mut() {
            Some(last) if last.0 == page => last.1 = rule,
            _ => self.from.push((page, rule)),
        }
    }

    /// The rule of a page.
    #[inline]
    pub(super) fn at(&self, page: u32) -> RuleNumber {
        let passed = self.from.partition_point(|(from, _)| *from <= page);
        let last = passed.checked_sub(1).and_then(|last| self.from.get(last));
        last.map_or(RuleNumber::EVERYWHERE, |(_, rule)| *rule)
    }
}
