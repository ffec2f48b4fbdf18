//! The priors of a simulated crawler.

use std::collections::BTreeMap;

use super::decider::Learning;
use crate::recrawl::{Evidence, Fit, HostPriors, Likelihood, Prior, Priors};

/// The priors of pages, learned from all comparisons so far.
pub(super) struct SimulatedPriors {
    learning: Learning,
    priors: Priors,
    hosts: BTreeMap<u32, Fit>,
    /// The priors of hosts, used if hosts are learned.
    by_host: HostPriors,
    /// The prior of all pages, used if hosts are not learned.
    of_all: Prior,
    /// The number of comparisons at which to learn again.
    next: u64,
}

impl SimulatedPriors {
    pub(super) fn new(learning: Learning) -> SimulatedPriors {
        let hosts = BTreeMap::new();
        let (by_host, of_all) = (HostPriors::new(&[]), Prior::default());
        SimulatedPriors { learning, priors: Priors::default(), hosts, by_host, of_all, next: 1 }
    }

    /// Whether it is time to learn again.
    pub(super) fn is_due(&self, comparisons: u64) -> bool {
        self.learning != Learning::Nothing && comparisons >= self.next
    }

    /// Returns the evidence of a page with comparisons.
    pub(super) fn evidence(&self, likelihood: &Likelihood) -> Evidence {
        self.priors.evidence(likelihood)
    }

    /// Learns from the evidence of all pages and their hosts.
    pub(super) fn learn<'e>(
        &mut self,
        comparisons: u64,
        pages: impl Iterator<Item = (u32, &'e Evidence)>,
    ) {
        self.next = comparisons + (comparisons / 8).max(1);
        self.hosts.clear();
        let mut all = Fit::default();
        for (host, evidence) in pages {
            all.add(evidence);
            if self.learning == Learning::Hosts {
                self.hosts.entry(host).or_default().add(evidence);
            }
        }
        self.of_all = all.prior(&self.priors);
        self.by_host = HostPriors::new(self.hosts.values());
    }

    /// Returns the prior of a page of a host, learned without the page's own evidence.
    pub(super) fn prior(&self, host: u32, own: Option<&Evidence>) -> Prior {
        if self.learning != Learning::Hosts {
            return self.of_all.clone();
        }
        let others = match (self.hosts.get(&host), own) {
            (Some(host), Some(own)) => host.without(own),
            (Some(host), None) => host.clone(),
            (None, _) => Fit::default(),
        };
        self.by_host.prior(&others)
    }
}
