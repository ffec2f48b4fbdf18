//! A crawl of simulated pages, in steps.

use super::decider::{Decider, Learning};
use super::discovered_page::{DiscoveredPage, max_daily_rise};
use super::learned::SimulatedPriors;
use super::measure::{FreshnessSums, SimulationResult};
use super::page::SimulatedPage;
use super::pick::best;
use super::span::{Budget, Span};
use crate::recrawl::error::{RecrawlError, Result};

/// Crawls pages for some time, and measures the freshness of the pages.
///
/// At each step the crawler visits as many pages as the budget allows, in the order of the decider;
/// pages with equal scores are visited in the order of the list. The crawler uses only the results
/// of its own visits. `stepped` is called after each step.
///
/// Takes 1 to 3 KiB for each page in addition to the page itself. A step takes some 50 ns for each
/// page, and some 10 µs for each visit.
///
/// ```
/// use simkeep::recrawl::Policy;
/// use simkeep::recrawl::simulate::{Budget, ChangeProcess, Decider, Rates, Span, crawl};
/// # fn main() -> simkeep::Result<()> {
/// let pages = Rates::Flat { pages: 100 }.draw(ChangeProcess::Constant, 1, 200.0)?;
/// let (budget, span) = (Budget::per_day(14.0)?, Span::new(0.25, 50.0, 200.0)?);
/// let by = |policy| crawl(&pages, budget, span, Decider::policy(policy), &mut || {});
/// assert!(by(Policy::VALUE)?.freshness > by(Policy::UNIFORM)?.freshness);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`RecrawlError::Value`] if there are no pages, if no page exists before the end, or if the
/// decider needs rates that are not known.
pub fn crawl<P: SimulatedPage>(
    pages: &[P],
    budget: Budget,
    span: Span,
    by: Decider,
    stepped: &mut dyn FnMut(),
) -> Result<SimulationResult> {
    let mut crawl = SimulatedCrawl::new(pages, span, by);
    let mut visits = 0.0;
    for step in 0..span.steps() {
        let day = span.day(step);
        crawl.find(day)?;
        crawl.learn()?;
        visits += budget.of(crawl.found.len()) * span.step_days();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let whole = visits as usize;
        visits -= visits.floor();
        crawl.visit(day, whole, budget.largest_days())?;
        stepped();
    }
    crawl.end()
}

struct SimulatedCrawl<'p, P: SimulatedPage> {
    span: Span,
    by: Decider,
    learned: SimulatedPriors,
    /// The undiscovered pages with their dates of discovery, the next page last.
    hidden: Vec<(f64, usize, &'p P)>,
    /// The discovered pages, in the order of the list.
    found: Vec<DiscoveredPage<'p, P>>,
    comparisons: u64,
    sums: FreshnessSums,
}

impl<'p, P: SimulatedPage> SimulatedCrawl<'p, P> {
    fn new(pages: &'p [P], span: Span, by: Decider) -> Self {
        let learning = match by {
            Decider::Policy(policy, learning) if policy.index().is_some() => learning,
            _ => Learning::Nothing,
        };
        let page = |(number, page): (usize, &'p P)| {
            page.starts().first().map(|first| (*first, number, page))
        };
        let mut hidden: Vec<_> = pages.iter().enumerate().filter_map(page).collect();
        hidden.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let (learned, found) = (SimulatedPriors::new(learning), Vec::new());
        SimulatedCrawl {
            span,
            by,
            learned,
            hidden,
            found,
            comparisons: 0,
            sums: FreshnessSums::default(),
        }
    }

    /// Discovers the pages that exist by `day`.
    fn find(&mut self, day: f64) -> Result<()> {
        while let Some((_, number, page)) = self.hidden.pop_if(|(first, ..)| *first <= day) {
            let found = DiscoveredPage::new(number, page, day, self.by, &self.learned)?;
            let at = self.found.partition_point(|page| page.number < number);
            self.found.insert(at, found);
        }
        Ok(())
    }

    /// Learns the priors again, if there is enough new evidence.
    fn learn(&mut self) -> Result<()> {
        if !self.learned.is_due(self.comparisons) {
            return Ok(());
        }
        self.found.iter_mut().for_each(|page| page.compute_evidence(&self.learned));
        self.learned
            .learn(self.comparisons, self.found.iter().filter_map(DiscoveredPage::evidence));
        self.found.iter_mut().try_for_each(|page| page.update_prior(&self.learned, self.by))
    }

    /// Visits the `count` best pages.
    fn visit(&mut self, day: f64, count: usize, largest_days: f64) -> Result<()> {
        let rise = max_daily_rise(self.by) * self.span.step_days();
        for at in best(&mut self.found, (day, largest_days), count, rise)? {
            let Some(page) = self.found.get_mut(at) else { continue };
            page.measure(day, self.span, &mut self.sums);
            self.comparisons += page.visit(day, self.by)?;
            if day >= self.span.from() {
                self.sums.visit();
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<SimulationResult> {
        for page in &mut self.found {
            page.measure(self.span.to(), self.span, &mut self.sums);
        }
        if self.found.is_empty() {
            return Err(RecrawlError::Value {
                name: "pages",
                takes: "at least one before the end",
            });
        }
        Ok(self.sums.figures(self.span.to() - self.span.from()))
    }
}
