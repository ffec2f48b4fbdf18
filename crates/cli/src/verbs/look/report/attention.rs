//! The hosts, pages and URL patterns that somebody should look at.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use simkeep::cluster::{ClusteredPage, Clusters};
use simkeep::due::UrlPattern;
use simkeep::query::Histories;
use simkeep::{History, Seen, Snapshot, Time, Verdict};

use super::facts::LARGEST;
use crate::exit::VerbError;
use crate::output::host::host;
use crate::output::progress::counted;

/// The maximum number of pages to list of one host, so that one dead host does not fill a list.
const OF_HOST: usize = 3;

/// The maximum number of patterns to count of one host. At this number, the smaller half is
/// forgotten. A pattern with many pages comes back and is still listed, with a lower count.
const PATTERNS_MAX: usize = 512;

/// The minimum number of pages of a likely trap.
const TRAP_PAGES_MIN: u64 = 20;

/// The hosts, pages and URL patterns that somebody should look at. Each list is in descending order
/// of its first number.
#[derive(Default)]
pub(super) struct Attention {
    pub(super) failing_hosts: TopList<FailingHost, LARGEST>,
    pub(super) failing_pages: TopList<FailingPage, LARGEST>,
    pub(super) changing_pages: TopList<ChangingPage, LARGEST>,
    pub(super) traps: TopList<PagesOfPattern, LARGEST>,
}

/// A host with pages whose last visit failed.
pub(super) struct FailingHost {
    /// The number of pages whose last visit failed.
    pub(super) failing: u64,
    pub(super) pages: u64,
    pub(super) host: String,
}

/// A page whose last visit failed.
pub(super) struct FailingPage {
    /// The number of visits that failed since the last visit that succeeded.
    pub(super) failures: u64,
    /// The time of the first of these visits.
    pub(super) since: Time,
    /// Whether the page ever had content.
    pub(super) had_content: bool,
    pub(super) url: String,
}

/// A page that changed.
pub(super) struct ChangingPage {
    /// Visits with content that differs from the previous content.
    pub(super) changes: u64,
    /// The visits among these that found an earlier version again.
    pub(super) returns: u64,
    /// Visits that can show a change: those with content after the first.
    pub(super) compared: u64,
    /// The average distance of the changes, in bits; `None` if none has a distance.
    pub(super) bits: Option<f64>,
    pub(super) url: String,
}

/// The pages of one host whose URLs have one pattern.
#[derive(Default)]
pub(super) struct PagesOfPattern {
    /// The host and the pattern; empty until all pages of the host are counted.
    pub(super) pattern: String,
    pub(super) pages: u64,
    /// Pages whose content is nearly that of a page seen earlier.
    pub(super) copies: u64,
    /// Pages that redirect, are gone, or never had content.
    pub(super) without_content: u64,
    /// The URL of one page.
    pub(super) example: String,
}

impl PagesOfPattern {
    /// The number of pages that were not worth a visit.
    pub(super) fn wasted(&self) -> u64 {
        self.copies + self.without_content
    }

    fn is_likely_trap(&self) -> bool {
        self.pages >= TRAP_PAGES_MIN && self.wasted() * 2 > self.pages
    }
}

/// The `N` items with the largest numbers. Items with equal numbers stay in order of arrival.
pub(super) struct TopList<T, const N: usize> {
    items: Vec<(u64, T)>,
}

impl<T, const N: usize> Default for TopList<T, N> {
    fn default() -> TopList<T, N> {
        TopList { items: Vec::new() }
    }
}

impl<T, const N: usize> TopList<T, N> {
    /// Adds an item, which is made only if its number is large enough.
    pub(super) fn add(&mut self, number: u64, item: impl FnOnce() -> T) {
        let at = self.items.partition_point(|(other, _)| *other >= number);
        if at < N {
            self.items.insert(at, (number, item()));
            self.items.truncate(N);
        }
    }

    /// Moves all items of another list to this one.
    fn append<const M: usize>(&mut self, other: &mut TopList<T, M>) {
        for (number, item) in other.items.drain(..) {
            self.add(number, || item);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }
}

impl Attention {
    /// Reads the history of every page once. Memory is bounded: the longest history, and the
    /// patterns of one host.
    pub(super) fn of(
        snapshot: &Snapshot,
        clusters: &Clusters,
        pages: u64,
    ) -> Result<Attention, VerbError> {
        counted("histories read", pages, |done| {
            let mut found = AttentionBuilder::default();
            // Both iterators are in SURT order. Some pages, such as redirects, are in no
            // cluster.
            let mut clustered = clusters.by_page(1)?.peekable();
            for page in Histories::of(snapshot, None) {
                let (url, history) = page?;
                let in_cluster = clustered.next_if(|next| match next {
                    Ok(next) => *next.url == *url,
                    Err(_) => true,
                });
                found.page(&url, &history, in_cluster.transpose()?.as_ref());
                done.fetch_add(1, Ordering::Relaxed);
            }
            // Otherwise pages would count as if they were no near-duplicates.
            if clustered.next().is_some() {
                let bug =
                    "a bug in simkeep: a clustered page is missing among the pages of the store";
                return Err(VerbError::Other(bug.to_owned()));
            }
            Ok(found.finish())
        })
    }
}

/// The lists so far, and the counts of the current host. Pages of one host are contiguous.
#[derive(Default)]
struct AttentionBuilder {
    all: Attention,
    host: String,
    pages: u64,
    failing: u64,
    failing_pages: TopList<FailingPage, OF_HOST>,
    changing_pages: TopList<ChangingPage, OF_HOST>,
    patterns: HashMap<UrlPattern, PagesOfPattern>,
}

impl AttentionBuilder {
    fn page(&mut self, url: &str, history: &History, in_cluster: Option<&ClusteredPage>) {
        let host = host(url);
        if host != self.host {
            self.end_host();
            self.host = host;
        }
        self.pages += 1;
        let visits = VisitCounts::of(history);
        if let Some(since) = visits.failing_since {
            self.failing += 1;
            self.failing_pages.add(visits.failures, || FailingPage {
                failures: visits.failures,
                since,
                had_content: visits.had_content,
                url: url.to_owned(),
            });
        }
        if visits.changes > 0 {
            self.changing_pages.add(visits.changes, || visits.changing_page(url));
        }
        self.pattern(url, &visits, in_cluster);
    }

    fn pattern(&mut self, url: &str, visits: &VisitCounts, in_cluster: Option<&ClusteredPage>) {
        if self.patterns.len() >= PATTERNS_MAX {
            let mut sizes: Vec<u64> = self.patterns.values().map(|of| of.pages).collect();
            let (_, median, _) = sizes.select_nth_unstable(PATTERNS_MAX / 2);
            let median = *median;
            self.patterns.retain(|_, of| of.pages > median);
        }
        let of = self.patterns.entry(UrlPattern::of(url)).or_default();
        if of.pages == 0 {
            url.clone_into(&mut of.example);
        }
        of.pages += 1;
        of.copies += u64::from(in_cluster.is_some_and(|page| !page.is_leader()));
        of.without_content += u64::from(!visits.has_content);
    }

    fn end_host(&mut self) {
        let (pages, failing) = (std::mem::take(&mut self.pages), std::mem::take(&mut self.failing));
        let host = std::mem::take(&mut self.host);
        self.all.failing_pages.append(&mut self.failing_pages);
        self.all.changing_pages.append(&mut self.changing_pages);
        let mut traps: Vec<_> =
            self.patterns.drain().filter(|(_, of)| of.is_likely_trap()).collect();
        // A map has no order of its own.
        traps.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (pattern, of) in traps {
            let pattern = format!("{host}{pattern}");
            self.all.traps.add(of.wasted(), || PagesOfPattern { pattern, ..of });
        }
        if failing > 0 {
            self.all.failing_hosts.add(failing, || FailingHost { failing, pages, host });
        }
    }

    fn finish(mut self) -> Attention {
        self.end_host();
        self.all
    }
}

/// The visits of one page.
#[derive(Default)]
struct VisitCounts {
    /// The number of failed visits at the end of the history, and the time of the first of them.
    failures: u64,
    failing_since: Option<Time>,
    had_content: bool,
    /// Whether the last visit that succeeded found the page with content of its own.
    has_content: bool,
    compared: u64,
    changes: u64,
    returns: u64,
    /// The distances of changes: how many there are, and their sum.
    distances: (u64, u64),
}

impl VisitCounts {
    fn of(history: &History) -> VisitCounts {
        let mut counts = VisitCounts::default();
        for (visit, verdict) in history.iter().filter_map(|entry| entry.visit()) {
            match visit.seen {
                Seen::Failed => {
                    counts.failures += 1;
                    counts.failing_since.get_or_insert(visit.time);
                    continue;
                }
                Seen::Content(content) => {
                    counts.had_content = true;
                    counts.has_content = !content.is_redirect();
                }
                Seen::NotModified { .. } => {}
                Seen::Gone => counts.has_content = false,
            }
            (counts.failures, counts.failing_since) = (0, None);
            let is_change = matches!(verdict, Verdict::Changed { .. } | Verdict::Reverted { .. });
            counts.compared += u64::from(is_change || matches!(verdict, Verdict::Same(_)));
            counts.changes += u64::from(is_change);
            counts.returns += u64::from(matches!(verdict, Verdict::Reverted { .. }));
            if let Some(distance) = verdict.distance() {
                counts.distances.0 += 1;
                counts.distances.1 += u64::from(distance.bits);
            }
        }
        counts
    }

    fn changing_page(&self, url: &str) -> ChangingPage {
        let (distances, sum) = self.distances;
        ChangingPage {
            changes: self.changes,
            returns: self.returns,
            compared: self.compared,
            bits: (distances > 0).then(|| sum as f64 / distances as f64),
            url: url.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_list_keeps_the_largest_in_order_of_arrival() {
        let mut list = TopList::<&str, 3>::default();
        for (number, name) in [(2, "a"), (5, "b"), (2, "c"), (1, "d"), (5, "e"), (9, "f")] {
            list.add(number, || name);
        }
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), ["f", "b", "e"]);
        list.add(5, || unreachable!("too late for its number"));
    }

    #[test]
    fn large_pattern_survives_a_host_with_too_many_patterns() {
        let mut builder = AttentionBuilder::default();
        for n in 0..3 * PATTERNS_MAX as u64 {
            let word: String = n.to_string().bytes().map(|digit| char::from(digit + 49)).collect();
            builder.page(&format!("https://a/{word}/"), &History::new(), None);
            builder.page(&format!("https://a/cal/{n}"), &History::new(), None);
            assert!(builder.patterns.len() <= PATTERNS_MAX);
        }
        let found = builder.finish();
        let traps: Vec<_> = found.traps.iter().map(|of| (of.pattern.as_str(), of.pages)).collect();
        assert_eq!(traps, [("a/cal/###", 900), ("a/cal/####", 536), ("a/cal/##", 90)][..]);
    }
}
