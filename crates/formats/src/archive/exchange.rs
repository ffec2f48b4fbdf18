//! Which responses answer a GET.
//!
//! A `request` record names the response that it belongs to, or the response names the request
//! (`WARC-Concurrent-To`; ISO 28500, 5.10), and either may come first. So a response whose request has
//! not come yet is held back while a few more records are cut.
//!
//! Some crawlers give all their records one identifier, or let all name one record. So both records must
//! also be of one URL, and one that names the other comes before one that names a third one with it.

use std::collections::VecDeque;

use crate::chunk::Cut;
use crate::item::Item;
use crate::url::Method;

/// How many records may follow a response that waits for its request, and how many bytes they may have.
/// The records of one exchange are neighbours, unless several crawlers write to one file.
const RECORDS_MAX: usize = 64;
const BYTES_MAX: usize = 4 << 20;

/// How many requests are remembered, and how long an identifier may be. Identifiers are URNs of some 50
/// bytes.
const REQUESTS_MAX: usize = 512;
const ID_BYTES_MAX: usize = 1024;

/// By what a record belongs to an exchange: its URL, its identifier, and those that it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    url: Option<Box<[u8]>>,
    own: Option<Box<[u8]>>,
    concurrent: Vec<Box<[u8]>>,
}

/// How two records of one exchange are linked.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Link {
    /// Both name a third one.
    Shared,
    /// One of them names the other.
    Named,
}

impl Ids {
    pub(super) fn new<'a>(
        url: Option<&[u8]>,
        own: Option<&[u8]>,
        concurrent: impl Iterator<Item = &'a [u8]>,
    ) -> Ids {
        let url = url.and_then(id);
        Ids { url, own: own.and_then(id), concurrent: concurrent.filter_map(id).collect() }
    }

    fn is_empty(&self) -> bool {
        self.own.is_none() && self.concurrent.is_empty()
    }

    /// How the two records are linked, if they belong to one exchange. A record without a URL, or with a
    /// very long one, may be of any.
    fn link(&self, other: &Ids) -> Option<Link> {
        if self.url.as_ref().zip(other.url.as_ref()).is_some_and(|(one, other)| one != other) {
            return None;
        }
        let names = |one: &Ids, other: &Ids| {
            other.own.as_ref().is_some_and(|own| one.concurrent.contains(own))
        };
        if names(self, other) || names(other, self) {
            return Some(Link::Named);
        }
        let is_shared = self.concurrent.iter().any(|id| other.concurrent.contains(id));
        is_shared.then_some(Link::Shared)
    }
}

/// An identifier or a URL without the brackets around it, which some tools leave out.
fn id(bytes: &[u8]) -> Option<Box<[u8]>> {
    let bytes = bytes.trim_ascii();
    let bytes = bytes.strip_prefix(b"<").and_then(|b| b.strip_suffix(b">")).unwrap_or(bytes);
    (1..=ID_BYTES_MAX).contains(&bytes.len()).then(|| bytes.into())
}

/// Cuts in their order; some of them wait to learn the method of their request.
#[derive(Default)]
pub(super) struct Exchanges {
    waiting: VecDeque<Held>,
    /// How many bytes the cuts behind the first one have.
    behind: usize,
    /// The last requests.
    requests: VecDeque<(Ids, Method)>,
    /// Nothing follows.
    has_ended: bool,
}

/// A cut, and the identifiers of a response whose request has not come yet.
struct Held {
    cut: Cut,
    bytes: usize,
    ids: Option<Ids>,
}

impl Exchanges {
    /// Takes a request. The response to it is known from now on.
    pub(super) fn request(&mut self, ids: Ids, method: Method) {
        // Of several the first.
        let linked =
            self.waiting.iter_mut().rev().filter_map(|held| Some((held.link(&ids)?, held)));
        if let Some((_, held)) = linked.max_by_key(|(link, _)| *link) {
            held.settle(method);
        }
        if self.requests.len() == REQUESTS_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back((ids, method));
    }

    /// Takes what was cut next; `ids` are those of a response.
    pub(super) fn push(&mut self, cut: Cut, ids: Option<Ids>) {
        let bytes = cut.bytes();
        let mut held = Held { cut, bytes, ids: ids.filter(|ids| !ids.is_empty()) };
        // Of several the last.
        let linked =
            self.requests.iter().filter_map(|(ids, method)| Some((held.link(ids)?, *method)));
        if let Some((_, method)) = linked.max_by_key(|(link, _)| *link) {
            held.settle(method);
        }
        if !self.waiting.is_empty() {
            self.behind += bytes;
        }
        self.waiting.push_back(held);
    }

    /// Nothing follows: what waits has no request.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// How many cuts are held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.waiting.len()
    }

    /// The first cut, unless it waits and may wait longer; `None` at the end as well.
    pub(super) fn pop(&mut self) -> Option<Cut> {
        let is_full = self.waiting.len() > RECORDS_MAX || self.behind > BYTES_MAX;
        let first = self.waiting.front()?;
        if first.ids.is_some() && !is_full && !self.has_ended {
            return None;
        }
        let first = self.waiting.pop_front()?;
        self.behind -= self.waiting.front().map_or(0, |next| next.bytes);
        Some(first.cut)
    }
}

impl Held {
    fn link(&self, request: &Ids) -> Option<Link> {
        self.ids.as_ref()?.link(request)
    }

    /// Waits no longer.
    fn settle(&mut self, method: Method) {
        self.ids = None;
        if let Some(passed) = method.passed() {
            self.cut = Cut::Clear(Item::Passed(passed));
        }
    }
}
