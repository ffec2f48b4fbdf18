//! An entry of a page's history.

use std::ffi::c_char;

use simkeep::{Digest, HistoryEntry, Property, Seen, Visit};

use crate::abi::{self, plain};
use crate::write::verdict::{self, VerdictCode};
use crate::write::visit::{
    SIMKEEP_HAS_BYTES, SIMKEEP_HAS_CLASS, SIMKEEP_HAS_CONDITIONAL, SIMKEEP_HAS_CONTENT,
    SIMKEEP_HAS_DIGEST, SIMKEEP_HAS_DISTANCE, SIMKEEP_HAS_ETAG, SIMKEEP_HAS_FINGERPRINT,
    SIMKEEP_HAS_MODIFIED, SIMKEEP_HAS_STATUS, SIMKEEP_HAS_TARGET, SIMKEEP_HAS_WEIGHT, seen_code,
};

/// The kind of an entry in a history.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum EntryKind {
    /// A visit.
    Visit = 1,
    /// A fingerprint in another epoch for the content of the previous visit.
    Restated = 2,
    /// A weight or a class that was set, or the entity tag or the target of the content.
    Property = 3,
}

/// An entry of a page's history. `has` consists of `SIMKEEP_HAS_...` for the optional fields that
/// are set; the other optional fields are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Entry {
    /// The time, in milliseconds since 1970.
    pub time_ms: i64,
    /// The kind of entry, a `simkeep_entry_kind`.
    pub kind: i32,
    /// The result of a visit, a `simkeep_seen`.
    pub seen: i32,
    /// The verdict, which takes all earlier visits into account, a `simkeep_verdict`.
    pub verdict: i32,
    /// The optional fields that are set.
    pub has: u32,
    /// The reason why the page is known to be the same, a `simkeep_same_by`.
    pub same_by: i32,
    /// The distance of the content from the previous version, in bits.
    pub distance: u32,
    /// The epoch of `distance`.
    pub distance_epoch: u32,
    /// The meaning of `distance`, a `simkeep_band`.
    pub band: i32,
    /// The time when the version that the page reverted to was last seen; 0 if the page did not
    /// revert.
    pub to_ms: i64,
    /// The fingerprint of the content.
    pub fingerprint: u64,
    /// The epoch of the content.
    pub epoch: u32,
    /// The HTTP status.
    pub status: u32,
    /// The digest of the content.
    pub digest: [u8; 16],
    /// The server's time of the page's last modification.
    pub modified_ms: i64,
    /// The weight that was set.
    pub weight: f64,
    /// The class that was set.
    pub page_class: u32,
    /// Always 0.
    pub reserved: u32,
    /// The number of bytes of the content as transferred.
    pub bytes: u64,
    /// The entity tag of the content, from the header `ETag`. Valid until the history is freed.
    pub etag: *const c_char,
    /// The length of `etag` in bytes.
    pub etag_len: usize,
    /// The URL to which the content points, in UTF-8: the target of a redirect, or the canonical
    /// URL. Valid until the history is freed.
    pub target: *const c_char,
    /// The length of `target` in bytes.
    pub target_len: usize,
}

plain!(Entry, up to has);

impl Entry {
    fn new(time: i64, kind: EntryKind) -> Entry {
        Entry { time_ms: time, kind: kind as i32, ..abi::zeroed() }
    }

    /// Converts a visit, without its verdict.
    pub(crate) fn of_visit(visit: &Visit) -> Entry {
        let mut entry = Entry::new(visit.time.as_ms(), EntryKind::Visit);
        entry.seen = seen_code(&visit.seen) as i32;
        match &visit.seen {
            Seen::Content(content) => {
                entry.content(content.fingerprint, content.digest, content.epoch.number());
            }
            other => entry.digest(other.digest()),
        }
        if let Some(status) = visit.status {
            entry.has |= SIMKEEP_HAS_STATUS;
            entry.status = u32::from(status);
        }
        if let Some(modified) = visit.modified {
            entry.has |= SIMKEEP_HAS_MODIFIED;
            entry.modified_ms = modified.as_ms();
        }
        if let Some(bytes) = visit.bytes {
            entry.has |= SIMKEEP_HAS_BYTES;
            entry.bytes = bytes;
        }
        if visit.conditional {
            entry.has |= SIMKEEP_HAS_CONDITIONAL;
        }
        entry
    }

    /// Converts an entry of a page's history. `text` is the [text](Self::text) of the entry, to
    /// which the result points.
    pub(crate) fn of(entry: &HistoryEntry, text: &[u8]) -> Entry {
        let (at, len) = (text.as_ptr().cast(), text.len());
        match entry {
            HistoryEntry::Visit { visit, verdict, meaning } => {
                let mut entry = Entry::of_visit(visit);
                entry.verdict = VerdictCode::of(Some(verdict)) as i32;
                entry.same_by = verdict::same(verdict) as i32;
                entry.band = verdict::band(meaning.as_ref()) as i32;
                entry.to_ms = verdict::to(verdict);
                if let Some(distance) = verdict.distance() {
                    entry.has |= SIMKEEP_HAS_DISTANCE;
                    entry.distance = distance.bits;
                    entry.distance_epoch = distance.epoch.number();
                }
                entry
            }
            HistoryEntry::Restated(restated) => {
                let mut entry = Entry::new(restated.time.as_ms(), EntryKind::Restated);
                entry.content(restated.fingerprint, restated.digest, restated.epoch.number());
                entry
            }
            HistoryEntry::Property(given) => {
                let mut entry = Entry::new(given.time.as_ms(), EntryKind::Property);
                match &given.property {
                    Property::Weight(weight) => {
                        entry.has |= SIMKEEP_HAS_WEIGHT;
                        entry.weight = weight.to_f64();
                    }
                    Property::Class(class) => {
                        entry.has |= SIMKEEP_HAS_CLASS;
                        entry.page_class = *class;
                    }
                    Property::ETag(_) => {
                        entry.has |= SIMKEEP_HAS_ETAG;
                        (entry.etag, entry.etag_len) = (at, len);
                    }
                    Property::Target(_) => {
                        entry.has |= SIMKEEP_HAS_TARGET;
                        (entry.target, entry.target_len) = (at, len);
                    }
                }
                entry
            }
        }
    }

    /// Returns the text of an entry of the page with this URL: an entity tag, or the URL of a
    /// target. Empty for other entries.
    pub(crate) fn text(url: &str, entry: &HistoryEntry) -> Box<[u8]> {
        let HistoryEntry::Property(given) = entry else { return Box::default() };
        match &given.property {
            Property::ETag(etag) => etag.as_bytes().into(),
            Property::Target(target) => target.resolve(url).unwrap_or_default().into_bytes().into(),
            Property::Weight(_) | Property::Class(_) => Box::default(),
        }
    }

    fn content(&mut self, fingerprint: Option<u64>, digest: Option<Digest>, epoch: u32) {
        self.has |= SIMKEEP_HAS_CONTENT;
        self.epoch = epoch;
        if let Some(fingerprint) = fingerprint {
            self.has |= SIMKEEP_HAS_FINGERPRINT;
            self.fingerprint = fingerprint;
        }
        self.digest(digest);
    }

    fn digest(&mut self, digest: Option<Digest>) {
        if let Some(Digest(bytes)) = digest {
            self.has |= SIMKEEP_HAS_DIGEST;
            self.digest = bytes;
        }
    }
}
