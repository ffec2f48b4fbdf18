//! Hosts at a limit, whose pages a query passes over without reading them.

use std::collections::BTreeMap;

use super::rules::RuleNumber;
use super::sources::RowSource;
use crate::error::Result;
use crate::page::surt;

/// Hosts whose pages are skipped. A host has one range of pages in each component, so a page is found
/// by its number, and its URL is not read.
#[derive(Debug, Default)]
pub(super) struct SkippedHosts {
    /// The ranges of each component by their start. Empty if no host is skipped.
    components: Vec<BTreeMap<u32, SkippedRange>>,
}

/// The pages of a host in a component.
#[derive(Debug)]
struct SkippedRange {
    end: u32,
    /// The rules whose pages are skipped. Pages of the host under other rules are not.
    rules: Vec<RuleNumber>,
}

impl SkippedHosts {
    /// Skips the pages of a host under a rule. Reads some 40 URLs of each component.
    pub(super) fn add(&mut self, url: &str, rule: RuleNumber, sources: &[RowSource]) -> Result<()> {
        let (mut start, mut end) = (Vec::new(), Vec::new());
        surt::host(url, &mut start);
        end.clone_from(&start);
        start.push(surt::END);
        end.push(surt::END + 1);
        self.components.resize_with(sources.len(), BTreeMap::new);
        for (source, ranges) in sources.iter().zip(&mut self.components) {
            let (from, end) = (source.after(&start, "")?, source.after(&end, "")?);
            if from < end {
                let new = || SkippedRange { end, rules: Vec::new() };
                ranges.entry(from).or_insert_with(new).rules.push(rule);
            }
        }
        Ok(())
    }

    /// Whether a page is skipped, given its rule.
    #[inline]
    pub(super) fn has(&self, component: usize, page: u32, rule: RuleNumber) -> bool {
        let ranges = self.components.get(component);
        // Hosts are disjoint, so only the last range that begins at or before the page can contain it.
        let last = ranges.and_then(|ranges| ranges.range(..=page).next_back());
        last.is_some_and(|(_, range)| page < range.end && range.rules.contains(&rule))
    }
}
