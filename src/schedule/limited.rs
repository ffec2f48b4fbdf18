//! Plans for hosts with a limit of visits a day: the value at which the pages of a host are due.

use std::collections::HashMap;

use super::decide::DueContext;
use super::due::Due;
use super::host_limits::HostLimit;
use super::page_kinds::{PageKind, PageKinds};
use super::rows::source_of;
use super::score::ScoreCache;
use super::sources::RowSource;
use crate::error::Result;
use crate::order::sort_few_by;
use crate::page::{Prefix, surt};
use crate::recrawl::{TRIED, spend};
use crate::threads;

/// The number of hosts in a work item of a thread.
const TOGETHER: usize = 64;

/// The number of pages that a host needs in a sample. The limit of a host with fewer pages says little
/// about the few of them that are in the sample.
const SAMPLED_MIN: usize = 16;

/// The maximum number of searches for a threshold. After each search, more hosts may have reached
/// their limits, since others left them their visits. After the last search, a few visits may be left.
const SEARCHES_MAX: usize = 32;

/// The maximum number of listed hosts.
const LISTED_MAX: usize = 1 << 16;

/// A host whose limit of visits a day is reached in a plan, from
/// [`Plan::limited`](super::Plan::limited).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LimitedHost {
    /// The name of the host. For URLs without a host, their scheme and a colon.
    pub host: String,
    /// The prefix of the rule with the limit; `None` if the rule is for all pages.
    pub rule: Option<Prefix>,
    /// The visits a day that the rule allows.
    pub visits_per_day: f64,
    /// The value at which pages of the host are due. Infinite if the latest allowed dates of the pages
    /// alone take more visits than the host allows.
    pub price: f64,
    /// What a visit a day more to this host instead of others would gain: the price minus the
    /// [threshold](super::Plan::threshold) of the plan. For the policy `crawl-value`, this is the
    /// sum of the weights of the pages that would be fresh in addition at any time.
    pub gain: f64,
}

/// A page of a host with a limit. Pages are sorted by host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LimitedPage {
    /// The hash of the host.
    host: u64,
    kind: PageKind,
    /// The component and the number of the page in it.
    at: (usize, u32),
}

impl LimitedPage {
    pub(super) fn new(host: &HostLimit, kind: PageKind, at: (usize, u32)) -> LimitedPage {
        LimitedPage { host: host.hash, kind, at }
    }
}

/// The pages of each host with a limit.
#[derive(Debug)]
pub(super) struct LimitedPages(Vec<HostPages>);

/// The pages of a host with a limit.
#[derive(Debug)]
struct HostPages {
    hash: u64,
    per_day: f64,
    /// The limit, in visits to the sampled pages.
    limit: f64,
    kinds: PageKinds,
    /// A page of the host.
    example: LimitedPage,
}

/// A host whose limit is reached, with its price.
struct PricedPages {
    pages: HostPages,
    price: f64,
}

/// The hosts whose limits are reached.
pub(super) struct PricedHosts(Vec<PricedPages>);

impl LimitedPages {
    /// Groups sorted pages by host. Each page represents `of_one` pages.
    pub(super) fn of(pages: &[LimitedPage], due: &Due, of_one: f64) -> LimitedPages {
        let least = if of_one > 1.0 { SAMPLED_MIN } else { 1 };
        let hosts = pages.chunk_by(|a, b| a.host == b.host).filter(|pages| pages.len() >= least);
        let hosts = hosts.filter_map(|pages| {
            let example = *pages.first()?;
            let kinds: Vec<PageKind> = pages.iter().map(|page| page.kind).collect();
            let per_day = due.rules.get(example.kind.rule).visits_per_day?;
            let (hash, limit, kinds) = (example.host, per_day / of_one, PageKinds::of(&kinds));
            Some(HostPages { hash, per_day, limit, kinds, example })
        });
        LimitedPages(hosts.collect())
    }

    /// Finds the threshold at which the pages take `per_day` visits, and the hosts whose limits are
    /// reached at this threshold. `all` are the kinds of all pages, which include the pages of hosts
    /// with a limit.
    pub(super) fn price(
        self,
        asked: &DueContext,
        all: &PageKinds,
        per_day: f64,
        threads: usize,
    ) -> (f64, PricedHosts) {
        let (mut others, mut limited) = (self.0, PricedHosts(Vec::new()));
        let mut threshold = f64::INFINITY;
        for _ in 0..SEARCHES_MAX {
            let visits = |tried: &[f64; TRIED]| {
                let mut visits = all.visits(asked, tried, threads);
                let excess = limited.excess(asked, tried, threads);
                visits.iter_mut().zip(excess).for_each(|(all, excess)| *all -= excess);
                visits
            };
            // If there is no threshold, the maximum intervals alone take more visits than there are, so
            // each page is visited as rarely as allowed.
            threshold = spend(per_day, visits).unwrap_or(f64::INFINITY);
            let is_over = |pages: &HostPages, scores: &mut ScoreCache| {
                let [visits] = pages.kinds.few_visits(asked, &[threshold], scores);
                visits > pages.limit
            };
            let over = for_each_host(&others, threads, is_over);
            let mut over = over.into_iter();
            // A host that is at its limit stays there: the threshold only falls.
            let found = others.extract_if(.., |_| over.next().unwrap_or(false));
            let found = found.map(|pages| PricedPages { pages, price: f64::INFINITY });
            let before = limited.0.len();
            limited.0.extend(found);
            if limited.0.len() == before {
                break;
            }
        }
        limited.find_prices(asked, threshold, threads);
        (threshold, limited)
    }
}

impl PricedHosts {
    /// Returns the number of hosts.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the visits a day that the hosts would take beyond their limits, for each threshold.
    fn excess(&self, asked: &DueContext, tried: &[f64; TRIED], threads: usize) -> [f64; TRIED] {
        let excess = for_each_host(&self.0, threads, |host, scores| {
            let visits = host.pages.kinds.few_visits(asked, tried, scores);
            visits.map(|visits| (visits - host.pages.limit).max(0.0))
        });
        sum(&excess)
    }

    /// Finds the threshold at which the pages of each host take its limit.
    fn find_prices(&mut self, asked: &DueContext, threshold: f64, threads: usize) {
        let prices = for_each_host(&self.0, threads, |host, scores| {
            let scores = std::cell::RefCell::new(scores);
            let visits = |tried: &[f64; TRIED]| {
                host.pages.kinds.few_visits(asked, tried, &mut scores.borrow_mut())
            };
            spend(host.pages.limit, visits).unwrap_or(f64::INFINITY)
        });
        for (host, price) in self.0.iter_mut().zip(prices) {
            host.price = price.max(threshold);
        }
    }

    /// Returns the change of [`PageKinds::outlook`] by the limits, at a threshold.
    pub(super) fn outlook_change(
        &self,
        asked: &DueContext,
        threshold: f64,
        threads: usize,
    ) -> [f64; 4] {
        let changes = for_each_host(&self.0, threads, |host, scores| {
            let kinds = &host.pages.kinds;
            let before = kinds.few_outlook(asked, threshold, 1.0, scores);
            // If the latest allowed dates take more visits than the host allows, all pages wait longer.
            let [visits] = kinds.few_visits(asked, &[host.price], scores);
            let longer = (visits / host.pages.limit).max(1.0);
            let mut after = kinds.few_outlook(asked, host.price, longer, scores);
            after.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
            after
        });
        sum(&changes)
    }

    /// Returns the prices by the hash of the host.
    pub(super) fn by_hash(&self) -> HashMap<u64, f64> {
        self.0.iter().map(|host| (host.pages.hash, host.price)).collect()
    }

    /// Returns the hosts with their names, the host with the largest gain first. Reads a URL of each.
    pub(super) fn hosts(
        mut self,
        asked: &DueContext,
        sources: &[RowSource],
        threshold: f64,
    ) -> Result<Vec<LimitedHost>> {
        // The hash depends on the store, so the name decides between hosts with equal prices below.
        self.0.sort_by(|a, b| b.price.total_cmp(&a.price).then(a.pages.hash.cmp(&b.pages.hash)));
        self.0.truncate(LISTED_MAX);
        let named = self.0.iter().map(|PricedPages { pages, price, .. }| {
            let (component, page) = pages.example.at;
            let key = surt::key_of(&source_of(sources, component)?.url(page)?);
            let rule = asked.due.rules.get(pages.example.kind.rule).under.clone();
            // If both are infinite, no visit is available.
            let gain = if *price > threshold { price - threshold } else { 0.0 };
            let (host, visits_per_day) = (surt::host_name(&key), pages.per_day);
            Ok(LimitedHost { host, rule, visits_per_day, price: *price, gain })
        });
        let mut named: Vec<LimitedHost> = named.collect::<Result<_>>()?;
        let rule = |host: &LimitedHost| {
            host.rule.as_ref().map(Prefix::range).map(|(start, _)| start.to_vec())
        };
        sort_few_by(&mut named, |a, b| {
            b.price
                .total_cmp(&a.price)
                .then_with(|| a.host.cmp(&b.host))
                .then_with(|| rule(a).cmp(&rule(b)))
        });
        Ok(named)
    }
}

/// Computes something for each host, on several threads.
fn for_each_host<H: Sync, T: Send>(
    hosts: &[H],
    threads: usize,
    of: impl Fn(&H, &mut ScoreCache) -> T + Sync,
) -> Vec<T> {
    let own = || ScoreCache::of(TOGETHER as u64);
    let of_some = |scores: &mut ScoreCache, hosts: &[H]| -> Vec<T> {
        hosts.iter().map(|host| of(host, scores)).collect()
    };
    threads::run_jobs(hosts.chunks(TOGETHER), threads, own, of_some).into_iter().flatten().collect()
}

/// Adds numbers in order.
fn sum<const N: usize>(all: &[[f64; N]]) -> [f64; N] {
    all.iter().fold([0.0; N], |mut sums, some| {
        sums.iter_mut().zip(some).for_each(|(sum, one)| *sum += one);
        sums
    })
}
