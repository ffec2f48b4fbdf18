//! Clusters, computed in the slowest way: each page is compared with all leaders before it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use simkeep::cluster::{ClusteredPage, RankingRule};
use simkeep::{Content, Digest, Entry, Epoch, Seen, Snapshot, Visit, Weight};

use super::fold::{class, since};
use super::pages::SurtPosition;
use crate::ms;

/// A page with a version in force.
#[derive(Clone, Debug)]
pub struct RankCandidate {
    pub url: String,
    /// `None` for content that has a digest instead.
    pub fingerprint: Option<u64>,
    pub digest: Option<Digest>,
    /// The time when its version in force was first seen, in milliseconds since 1970.
    pub since: i64,
    pub weight: Weight,
    /// The class that was set last, even if after the requested time.
    pub class: Option<u32>,
    /// The URL to which its version in force points.
    pub target: Option<String>,
}

impl RankCandidate {
    /// The distance of two contents in bits, if it is known.
    pub fn distance(&self, other: &RankCandidate) -> Option<u32> {
        match (self.fingerprint, other.fingerprint) {
            (Some(one), Some(other)) => Some((one ^ other).count_ones()),
            (None, None) => (self.digest == other.digest).then_some(0),
            _ => None,
        }
    }

    /// The digest of content without a fingerprint.
    fn only_digest(&self) -> Option<Digest> {
        self.digest.filter(|_| self.fingerprint.is_none())
    }
}

/// The pages of a view with a version in force, now or at a time, in an epoch.
pub fn known(view: &Snapshot, epoch: Epoch, at: Option<i64>) -> Vec<RankCandidate> {
    let mut pages: BTreeMap<Arc<str>, Vec<Entry>> = BTreeMap::new();
    for item in view.observations(None) {
        let (url, entry) = item.unwrap();
        pages.entry(url).or_default().push(entry);
    }
    let known = |(url, entries): (&Arc<str>, &Vec<Entry>)| {
        let until = entries.iter().filter(|entry| at.is_none_or(|at| entry.time() <= ms(at)));
        let until: Vec<Entry> = until.cloned().collect();
        known_of(url, &until, epoch).map(|known| RankCandidate { class: class(entries), ..known })
    };
    pages.iter().filter_map(known).collect()
}

/// The state of a page with these entries, without its class.
fn known_of(url: &str, entries: &[Entry], epoch: Epoch) -> Option<RankCandidate> {
    let visits: Vec<&Visit> = entries.iter().filter_map(Entry::visit).collect();
    let settled = visits.iter().filter(|visit| visit.seen != Seen::Failed).max()?;
    let last = visits.iter().filter(|visit| visit.seen.content().is_some()).max()?;
    if settled.seen == Seen::Gone {
        return None;
    }
    let of_last = |entry: &&Entry| {
        entry.content().is_some()
            && (entry.time(), entry.digest()) == (last.time, last.seen.digest())
    };
    let mut in_force: BTreeMap<Epoch, (bool, Option<u64>, Content)> = BTreeMap::new();
    for entry in entries.iter().filter(of_last) {
        let content = entry.content().unwrap();
        let new = (entry.is_restated(), content.fingerprint, content);
        let known = in_force.entry(content.epoch).or_insert(new);
        if (known.0, known.1) < (new.0, new.1) {
            *known = new;
        }
    }
    let contents: Vec<Content> = in_force.values().map(|(_, _, content)| *content).collect();
    let fingerprint = in_force.get(&epoch).and_then(|(_, _, content)| content.compared());
    let digest = contents.first()?.digest;
    // A page with a fingerprint of another epoch only is stale.
    let is_stale = !in_force.contains_key(&epoch)
        && contents.iter().any(|content| content.fingerprint.is_some());
    let is_by_digest = digest.is_some_and(|digest| !digest.is_redirect()) && !is_stale;
    if fingerprint.is_none() && !is_by_digest {
        return None;
    }
    let since = since(entries, &contents)?;
    let weighed = entries.iter().filter(|entry| entry.weight().is_some());
    let weight = weighed.max().and_then(Entry::weight).unwrap_or_default();
    let targets = entries.iter().filter(|entry| entry.target().is_some());
    let target = targets.max().filter(|target| target.time() >= last.time);
    let target = target.and_then(|target| target.target()?.resolve(url));
    let url = url.to_owned();
    Some(RankCandidate { url, fingerprint, digest, since, weight, class: None, target })
}

/// A page in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberPage {
    pub url: String,
    pub fingerprint: Option<u64>,
    pub class: Option<u32>,
    pub leader: String,
    pub leader_class: Option<u32>,
    pub distance: u32,
    pub pages: u64,
}

impl From<&ClusteredPage> for MemberPage {
    fn from(page: &ClusteredPage) -> MemberPage {
        MemberPage {
            url: page.url.to_string(),
            fingerprint: page.fingerprint,
            class: page.class,
            leader: page.leader.to_string(),
            leader_class: page.leader_class,
            distance: page.distance,
            pages: page.pages,
        }
    }
}

/// Pages in clusters, in order of rank; pages without a fingerprint last, by digest.
pub struct NaiveClusters(Vec<MemberPage>);

impl NaiveClusters {
    /// Clusters pages by their fingerprints.
    pub fn of(pages: Vec<RankCandidate>, k: u32, rules: &[RankingRule]) -> NaiveClusters {
        let apart = |leader: &RankCandidate, page: &RankCandidate| {
            leader.distance(page).filter(|distance| *distance <= k)
        };
        // Pages with equal fingerprints are in the cluster of the first of them.
        let declared: BTreeSet<String> = pages
            .iter()
            .flat_map(|page| {
                let of_other = |other: &&RankCandidate| Some(&other.url) == page.target.as_ref();
                let other = pages.iter().find(of_other);
                other.filter(|other| apart(other, page).is_some()).map(|other| other.url.clone())
            })
            .collect();
        NaiveClusters::ranked((pages, &declared), rules, apart, |page| {
            (page.fingerprint, page.only_digest())
        })
    }

    /// Clusters pages. `apart` returns the distance of a page to a leader if the page is near.
    /// Pages with equal keys by `alike` are in the cluster of the first of them.
    pub fn by<A: Ord>(
        pages: Vec<RankCandidate>,
        rules: &[RankingRule],
        apart: impl Fn(&RankCandidate, &RankCandidate) -> Option<u32>,
        alike: impl Fn(&RankCandidate) -> A,
    ) -> NaiveClusters {
        NaiveClusters::ranked((pages, &BTreeSet::new()), rules, apart, alike)
    }

    /// Clusters pages, of which some are declared as canonical by near pages.
    fn ranked<A: Ord>(
        (mut pages, declared): (Vec<RankCandidate>, &BTreeSet<String>),
        rules: &[RankingRule],
        apart: impl Fn(&RankCandidate, &RankCandidate) -> Option<u32>,
        alike: impl Fn(&RankCandidate) -> A,
    ) -> NaiveClusters {
        let key = |page: &RankCandidate, rule: RankingRule| match rule {
            RankingRule::FirstSeen => page.since,
            RankingRule::Newest => -page.since,
            RankingRule::ShortestUrl => page.url.len() as i64,
            RankingRule::Https => i64::from(!page.url.to_ascii_lowercase().starts_with("https:")),
            RankingRule::Weight => -i64::from(page.weight.get().to_bits()),
            RankingRule::Canonical => i64::from(!declared.contains(&page.url)),
            other => panic!("{other:?} is a rule that this does not know"),
        };
        pages.sort_by_cached_key(|page| {
            let keys: Vec<i64> = rules.iter().map(|rule| key(page, *rule)).collect();
            (page.only_digest(), keys, SurtPosition::of(&page.url))
        });
        let mut leaders: Vec<&RankCandidate> = Vec::new();
        let mut found = Vec::new();
        let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
        let mut of_alike: BTreeMap<A, &RankCandidate> = BTreeMap::new();
        for page in &pages {
            // Of equally near leaders, the first one counts.
            let near = leaders.iter().filter_map(|leader| Some((apart(leader, page)?, *leader)));
            let nearest = near.min_by_key(|(apart, _)| *apart).map(|(_, leader)| leader);
            let leader = *of_alike.entry(alike(page)).or_insert_with(|| {
                nearest.unwrap_or_else(|| {
                    leaders.push(page);
                    page
                })
            });
            *sizes.entry(&leader.url).or_default() += 1;
            found.push(MemberPage {
                url: page.url.clone(),
                fingerprint: page.fingerprint,
                class: page.class,
                leader: leader.url.clone(),
                leader_class: leader.class,
                distance: leader.distance(page).unwrap(),
                pages: 0,
            });
        }
        for page in &mut found {
            page.pages = sizes[page.leader.as_str()];
        }
        NaiveClusters(found)
    }

    /// The pages in SURT order.
    pub fn by_page(&self) -> Vec<MemberPage> {
        let mut pages = self.0.clone();
        pages.sort_by_cached_key(|page| SurtPosition::of(&page.url));
        pages
    }

    /// The largest cluster first; in each, the leader, then the others by distance and in SURT
    /// order.
    pub fn by_cluster(&self) -> Vec<MemberPage> {
        let rank = |url: &str| self.0.iter().position(|page| page.url == url).unwrap();
        let mut pages = self.0.clone();
        pages.sort_by_cached_key(|page| {
            let follows = page.url != page.leader;
            let place = SurtPosition::of(&page.url);
            (Reverse(page.pages), rank(&page.leader), follows, page.distance, place)
        });
        pages
    }
}
