//! What is dropped, by reason, by distance and by host; and how much stays only for its class.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep_archive::escape;

use super::lines::{OfDropped, Reason};
use crate::host::host;
use crate::words::{count, many};

/// Hosts that are named.
const NAMED: usize = 10;

/// What is dropped, summed up. Pages come in SURT order, so those of a host are neighbours.
pub(super) struct Summary {
    /// By their number in [`Reason::ALL`].
    reasons: [u64; Reason::ALL.len()],
    distances: Vec<u64>,
    /// The host that pages come from now.
    host: Host,
    /// Of those before it the ones with the most pages, most first.
    hosts: Vec<Host>,
    /// Pages that stay only for their class.
    other_class: u64,
}

#[derive(Clone, Default)]
struct Host {
    name: String,
    dropped: u64,
}

/// What is dropped, for programs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer {
    by_reason: ByReason,
    /// How many pages differ by so many bits from what is kept for them: 0, 1, 2 and so on up to k.
    by_distance: Vec<u64>,
    /// The hosts of which most pages are dropped, most first.
    hosts: Vec<OfHost>,
    /// Pages that are not dropped, only because the pages that lead them are of other classes.
    other_class: u64,
}

/// Pages by the reason for which they are dropped.
#[derive(Serialize, JsonSchema)]
struct ByReason {
    same_digest: u64,
    same_fingerprint: u64,
    near: u64,
}

/// A host.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HostOfDropped")]
struct OfHost {
    host: String,
    /// How many of its pages are dropped.
    dropped: u64,
}

impl Summary {
    pub(super) fn new(k: u32) -> Summary {
        let distances = vec![0; k as usize + 1];
        let (reasons, host, hosts) = ([0; _], Host::default(), Vec::new());
        Summary { reasons, distances, host, hosts, other_class: 0 }
    }

    /// Counts a page that stays only for its class.
    pub(super) fn keep(&mut self) {
        self.other_class += 1;
    }

    /// Adds a page that is dropped. Pages come in SURT order.
    pub(super) fn add(&mut self, of: &OfDropped<'_>) {
        let [digest, fingerprint, near] = &mut self.reasons;
        *match of.reason {
            Reason::SameDigest => digest,
            Reason::SameFingerprint => fingerprint,
            Reason::Near => near,
        } += 1;
        let at = of.distance as usize;
        self.distances.iter_mut().skip(at).take(1).for_each(|pages| *pages += 1);
        // What is no URL has no host.
        let name = if of.url.contains(':') { host(of.url) } else { String::new() };
        if self.host.name != name {
            self.ended();
            self.host.name = name;
        }
        self.host.dropped += 1;
    }

    /// No more pages come from a host.
    fn ended(&mut self) {
        let ended = std::mem::take(&mut self.host);
        if ended.dropped == 0 {
            return;
        }
        // One name may come twice: as it is, and as punycode with another between them.
        match self.hosts.iter_mut().find(|host| host.name == ended.name) {
            Some(known) => known.dropped += ended.dropped,
            None => self.hosts.push(ended),
        }
        self.hosts.sort_by_key(|host| Reverse(host.dropped));
        self.hosts.truncate(NAMED);
    }

    /// For programs.
    pub(super) fn answer(mut self) -> Answer {
        self.ended();
        let [same_digest, same_fingerprint, near] = self.reasons;
        let of = |Host { name, dropped }| OfHost { host: name, dropped };
        Answer {
            by_reason: ByReason { same_digest, same_fingerprint, near },
            by_distance: self.distances,
            hosts: self.hosts.into_iter().map(of).collect(),
            other_class: self.other_class,
        }
    }

    /// For people.
    pub(super) fn lines(mut self) -> Vec<String> {
        self.ended();
        let all: u64 = self.reasons.iter().sum();
        let mut lines = vec![many(all, "page to drop", "pages to drop")];
        let line = |name: &str, number: u64| format!("  {name:<30}{:>13}", count(number));
        for (reason, number) in Reason::ALL.iter().zip(self.reasons) {
            lines.push(line(reason.key(), number));
        }
        for (distance, number) in (0..).zip(&self.distances) {
            lines.push(line(&many(distance, "bit", "bits"), *number));
        }
        for Host { name, dropped } in &self.hosts {
            let name = if name.is_empty() { "no host".to_owned() } else { escape::whole(name) };
            lines.push(line(&name, *dropped));
        }
        if self.other_class > 0 {
            let pages = many(self.other_class, "page", "pages");
            lines.push(format!("{pages} to keep only because the leader is of another class"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Fingerprint;

    #[test]
    fn pages_are_counted_by_reason_distance_and_host() {
        let mut summary = Summary::new(3);
        let mut add = |url: &str, distance, reason| {
            let (kept, resemblance, size, fingerprint) = ("kept", None, 2, Fingerprint(0));
            let of = OfDropped { url, kept, distance, resemblance, reason, size, fingerprint };
            summary.add(&of);
        };
        for n in 0..20 {
            for page in 0..=n {
                let url = format!("https://{n:02}.example/{page}");
                add(&url, n % 4, if n % 4 == 0 { Reason::SameDigest } else { Reason::Near });
            }
        }
        add("doc-1", 0, Reason::SameFingerprint);
        add("doc-2", 0, Reason::SameFingerprint);
        let answer = summary.answer();
        let ByReason { same_digest, same_fingerprint, near } = answer.by_reason;
        assert_eq!((same_digest, same_fingerprint, near), (45, 2, 165));
        assert_eq!(answer.by_distance, [47, 50, 55, 60]);
        let hosts: Vec<_> = answer.hosts.iter().map(|of| (&of.host[..], of.dropped)).collect();
        assert_eq!(hosts.len(), NAMED);
        assert_eq!([hosts[0], hosts[9]], [("19.example", 20), ("10.example", 11)]);
    }
}
