//! Finds the responses that answer a GET.
//!
//! A `request` record names its response, or the response names the request (`WARC-Concurrent-To`;
//! ISO 28500, 5.10), and either record may come first. So a response without its request is delayed
//! while a few more records are cut.
//!
//! Some crawlers give all their records one identifier, or let all of them name one record. So both
//! records must also have the same URL, and a direct link takes precedence over a link through a
//! third record that both name.

use std::collections::VecDeque;

use crate::chunk::RecordCut;
use crate::item::SourceItem;
use crate::url::RequestMethod;

/// The maximum number of records after a response that waits for its request, and their maximum
/// number of bytes. The records of one exchange are adjacent, unless several crawlers write to one
/// file.
const RECORDS_MAX: usize = 64;
const BYTES_MAX: usize = 4 << 20;

/// The maximum number of remembered requests, and the length of the longest identifier. Identifiers
/// are URNs of some 50 bytes.
const REQUESTS_MAX: usize = 512;
const ID_BYTES_MAX: usize = 1024;

/// The identifiers that link a record to an exchange: its URL, its own identifier, and the
/// identifiers that it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExchangeIds {
    url: Option<Box<[u8]>>,
    own: Option<Box<[u8]>>,
    concurrent: Vec<Box<[u8]>>,
}

/// The kind of link between two records of one exchange.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum IdLink {
    /// Both records name a third record.
    Shared,
    /// One of the two records names the other.
    Named,
}

impl ExchangeIds {
    pub(super) fn new<'a>(
        url: Option<&[u8]>,
        own: Option<&[u8]>,
        concurrent: impl Iterator<Item = &'a [u8]>,
    ) -> ExchangeIds {
        let url = url.and_then(id);
        ExchangeIds { url, own: own.and_then(id), concurrent: concurrent.filter_map(id).collect() }
    }

    fn is_empty(&self) -> bool {
        self.own.is_none() && self.concurrent.is_empty()
    }

    /// Returns how the two records are linked, if they belong to one exchange. A record without a
    /// URL, or with a very long URL, matches any URL.
    fn link(&self, other: &ExchangeIds) -> Option<IdLink> {
        if self.url.as_ref().zip(other.url.as_ref()).is_some_and(|(one, other)| one != other) {
            return None;
        }
        let names = |one: &ExchangeIds, other: &ExchangeIds| {
            other.own.as_ref().is_some_and(|own| one.concurrent.contains(own))
        };
        if names(self, other) || names(other, self) {
            return Some(IdLink::Named);
        }
        let is_shared = self.concurrent.iter().any(|id| other.concurrent.contains(id));
        is_shared.then_some(IdLink::Shared)
    }
}

/// Returns an identifier or a URL without surrounding brackets, which some tools omit.
fn id(bytes: &[u8]) -> Option<Box<[u8]>> {
    let bytes = bytes.trim_ascii();
    let bytes = bytes.strip_prefix(b"<").and_then(|b| b.strip_suffix(b">")).unwrap_or(bytes);
    (1..=ID_BYTES_MAX).contains(&bytes.len()).then(|| bytes.into())
}

/// Cuts in order. Some of them wait for the method of their request.
#[derive(Default)]
pub(super) struct ExchangeMatcher {
    waiting: VecDeque<HeldCut>,
    /// The total bytes of the cuts after the first cut.
    behind: usize,
    /// The last requests.
    requests: VecDeque<(ExchangeIds, RequestMethod)>,
    /// Whether the input has ended.
    has_ended: bool,
}

/// A cut, with the identifiers of a response whose request is still missing.
struct HeldCut {
    cut: RecordCut,
    bytes: usize,
    ids: Option<ExchangeIds>,
}

impl ExchangeMatcher {
    /// Adds a request, which resolves its response.
    pub(super) fn request(&mut self, ids: ExchangeIds, method: RequestMethod) {
        // Of several equally strong links, the first is used.
        let linked =
            self.waiting.iter_mut().rev().filter_map(|held| Some((held.link(&ids)?, held)));
        if let Some((_, held)) = linked.max_by_key(|(link, _)| *link) {
            held.resolve(method);
        }
        if self.requests.len() == REQUESTS_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back((ids, method));
    }

    /// Adds the next cut; `ids` are the identifiers of a response.
    pub(super) fn push(&mut self, cut: RecordCut, ids: Option<ExchangeIds>) {
        let bytes = cut.bytes();
        let mut held = HeldCut { cut, bytes, ids: ids.filter(|ids| !ids.is_empty()) };
        // Of several equally strong links, the last is used.
        let linked =
            self.requests.iter().filter_map(|(ids, method)| Some((held.link(ids)?, *method)));
        if let Some((_, method)) = linked.max_by_key(|(link, _)| *link) {
            held.resolve(method);
        }
        if !self.waiting.is_empty() {
            self.behind += bytes;
        }
        self.waiting.push_back(held);
    }

    /// Ends the input. Responses that still wait have no request.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// Returns the number of waiting cuts.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the first cut. `None` if the first cut must still wait, or at the end.
    pub(super) fn pop(&mut self) -> Option<RecordCut> {
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

impl HeldCut {
    fn link(&self, request: &ExchangeIds) -> Option<IdLink> {
        self.ids.as_ref()?.link(request)
    }

    /// Resolves the response by the method of its request.
    fn resolve(&mut self, method: RequestMethod) {
        self.ids = None;
        if let Some(passed) = method.passed() {
            self.cut = RecordCut::Clear(SourceItem::Passed(passed));
        }
    }
}
