//! Counts of dropped pages by reason, distance and host, and of pages kept only because of their
//! class.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::Recipe;
use simkeep_formats::escape;

use super::lines::{DropReason, DroppedDuplicate};
use crate::output::host::host;
use crate::output::words::{count, many};

/// The maximum number of hosts to list.
const NAMED: usize = 10;

/// The counts so far. Pages come in SURT order, so the pages of a host are contiguous.
pub(super) struct DedupSummary {
    /// The number of dropped pages for each reason, in the order of [`DropReason::ALL`].
    reasons: [u64; DropReason::ALL.len()],
    distances: Vec<u64>,
    /// The current host.
    host: HostDropCount,
    /// The hosts with the most dropped pages among those before it, most first.
    hosts: Vec<HostDropCount>,
    /// Dropped pages that are near a page of their own host.
    near_on_host: u64,
    /// Pages that are kept only because of their class.
    other_class: u64,
}

/// The minimum number of pages near others of their host that suggests a template.
const TEMPLATED_MIN: u64 = 20;

#[derive(Clone, Default)]
struct HostDropCount {
    name: String,
    dropped: u64,
}

/// Counts of dropped pages.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DedupTotals {
    by_reason: DropReasonCounts,
    /// The number of dropped pages by their distance to the kept page: 0, 1, 2 and so on up to k
    /// bits.
    by_distance: Vec<u64>,
    /// Pages that are dropped because they are near a page of their own host. Pages that share a
    /// template may be near each other without having much else in common.
    near_on_host: u64,
    /// The hosts with the most dropped pages, most first.
    hosts: Vec<HostDrops>,
    /// Pages that are kept only because their leaders have other classes.
    other_class: u64,
}

/// The number of dropped pages by reason.
#[derive(Serialize, JsonSchema)]
struct DropReasonCounts {
    same_digest: u64,
    same_fingerprint: u64,
    near: u64,
}

/// A host with dropped pages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HostOfDropped")]
struct HostDrops {
    host: String,
    /// The number of its dropped pages.
    dropped: u64,
}

impl DedupSummary {
    pub(super) fn new(k: u32) -> DedupSummary {
        let distances = vec![0; k as usize + 1];
        let (reasons, host, hosts) = ([0; _], HostDropCount::default(), Vec::new());
        DedupSummary { reasons, distances, host, hosts, near_on_host: 0, other_class: 0 }
    }

    /// Counts a page that is kept only because of its class.
    pub(super) fn keep(&mut self) {
        self.other_class += 1;
    }

    /// Adds a dropped page. Pages come in SURT order.
    pub(super) fn add(&mut self, of: &DroppedDuplicate<'_>) {
        let [digest, fingerprint, near] = &mut self.reasons;
        *match of.reason {
            DropReason::SameDigest => digest,
            DropReason::SameFingerprint => fingerprint,
            DropReason::Near => near,
        } += 1;
        let at = of.distance as usize;
        self.distances.iter_mut().skip(at).take(1).for_each(|pages| *pages += 1);
        let name = host_of(of.url);
        let is_on_host = matches!(of.reason, DropReason::Near) && name == host_of(of.kept);
        self.near_on_host += u64::from(is_on_host && !name.is_empty());
        if self.host.name != name {
            self.ended();
            self.host.name = name;
        }
        self.host.dropped += 1;
    }

    /// Whether most pages that are dropped as near are near a page of their own host, as if the
    /// pages of a site shared a template.
    fn looks_templated(&self) -> bool {
        let [_, _, near] = self.reasons;
        self.near_on_host >= TEMPLATED_MIN && self.near_on_host.saturating_mul(4) >= near * 3
    }

    /// The advice if pages seem to share a template, and the fingerprints of the epoch count the
    /// words of a template like any others.
    pub(super) fn advice(&self, epoch: &str) -> Option<String> {
        let plain = Recipe::DEFAULT.name();
        let is_plain = epoch.split(' ').any(|part| part == plain);
        (is_plain && self.looks_templated()).then(|| {
            format!(
                "{} near a page of the same host; pages that share a template may have little \
                 else in common; check a sample with --sample 5, compare texts with --filter \
                 FILES --to FOLDER --resemblance 0.8, or make fingerprints with the recipe near",
                many(self.near_on_host, "page is", "pages are"),
            )
        })
    }

    /// Ends the current host.
    fn ended(&mut self) {
        let ended = std::mem::take(&mut self.host);
        if ended.dropped == 0 {
            return;
        }
        // A name may occur twice: spelled as it is and in punycode, with another host between them.
        match self.hosts.iter_mut().find(|host| host.name == ended.name) {
            Some(known) => known.dropped += ended.dropped,
            None => self.hosts.push(ended),
        }
        self.hosts.sort_by_key(|host| Reverse(host.dropped));
        self.hosts.truncate(NAMED);
    }

    /// The counts for JSON.
    pub(super) fn answer(mut self) -> DedupTotals {
        self.ended();
        let [same_digest, same_fingerprint, near] = self.reasons;
        let of = |HostDropCount { name, dropped }| HostDrops { host: name, dropped };
        DedupTotals {
            by_reason: DropReasonCounts { same_digest, same_fingerprint, near },
            by_distance: self.distances,
            near_on_host: self.near_on_host,
            hosts: self.hosts.into_iter().map(of).collect(),
            other_class: self.other_class,
        }
    }

    /// The counts for people.
    pub(super) fn lines(mut self) -> Vec<String> {
        self.ended();
        let all: u64 = self.reasons.iter().sum();
        let mut lines = vec![many(all, "page to drop", "pages to drop")];
        let line = |name: &str, number: u64| format!("  {name:<30}{:>13}", count(number));
        for (reason, number) in DropReason::ALL.iter().zip(self.reasons) {
            lines.push(line(reason.key(), number));
        }
        for (distance, number) in (0..).zip(&self.distances) {
            lines.push(line(&many(distance, "bit", "bits"), *number));
        }
        for HostDropCount { name, dropped } in &self.hosts {
            let name = if name.is_empty() {
                "no host".to_owned()
            } else {
                escape::escape_untruncated(name)
            };
            lines.push(line(&name, *dropped));
        }
        if self.other_class > 0 {
            let pages = many(self.other_class, "page", "pages");
            lines.push(format!("{pages} to keep only because the leader has another class"));
        }
        lines
    }
}

/// The host of a page; empty if its name is not a URL.
fn host_of(url: &str) -> String {
    if url.contains(':') { host(url) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::json::Fingerprint;

    #[test]
    fn texts_are_suggested_for_shared_templates() {
        let advised = |epoch: &str, same_host: u64, others: u64| {
            let mut summary = DedupSummary::new(3);
            for n in 0..same_host + others {
                let site = if n < same_host { "a.example" } else { "b.example" };
                let (url, kept) = (format!("https://a.example/{n}"), format!("https://{site}/"));
                let (resemblance, size, fingerprint) = (None, 2, Some(Fingerprint(0)));
                let (reason, distance) = (DropReason::Near, 2);
                let (url, kept) = (&url[..], &kept[..]);
                let of = DroppedDuplicate {
                    url,
                    kept,
                    distance,
                    resemblance,
                    reason,
                    size,
                    fingerprint,
                };
                summary.add(&of);
            }
            summary.advice(epoch)
        };
        let (default, near) = (Recipe::DEFAULT.name(), "html/3 words3-minwise/2");
        let default = format!("html/3 {default}");
        let advice = advised(&default, 30, 10).unwrap();
        assert!(advice.starts_with("30 pages are near a page of the same host"), "{advice}");
        assert!(advice.contains("--resemblance 0.8"), "{advice}");
        assert_eq!(advised(&default, 30, 11), None);
        assert_eq!(advised(&default, 19, 0), None);
        assert_eq!(advised(near, 30, 0), None);
        assert_eq!(advised("external", 30, 0), None);
    }

    #[test]
    fn pages_are_counted_by_reason_distance_and_host() {
        let mut summary = DedupSummary::new(3);
        let mut add = |url: &str, distance, reason| {
            let (kept, resemblance, size, fingerprint) = ("kept", None, 2, Some(Fingerprint(0)));
            let of =
                DroppedDuplicate { url, kept, distance, resemblance, reason, size, fingerprint };
            summary.add(&of);
        };
        for n in 0..20 {
            for page in 0..=n {
                let url = format!("https://{n:02}.example/{page}");
                add(
                    &url,
                    n % 4,
                    if n % 4 == 0 { DropReason::SameDigest } else { DropReason::Near },
                );
            }
        }
        add("doc-1", 0, DropReason::SameFingerprint);
        add("doc-2", 0, DropReason::SameFingerprint);
        let answer = summary.answer();
        let DropReasonCounts { same_digest, same_fingerprint, near } = answer.by_reason;
        assert_eq!((same_digest, same_fingerprint, near), (45, 2, 165));
        assert_eq!(answer.by_distance, [47, 50, 55, 60]);
        let hosts: Vec<_> = answer.hosts.iter().map(|of| (&of.host[..], of.dropped)).collect();
        assert_eq!(hosts.len(), NAMED);
        assert_eq!([hosts[0], hosts[9]], [("19.example", 20), ("10.example", 11)]);
    }
}
