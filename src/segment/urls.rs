//! A list of URLs in a segment: its pages, or the URLs that were found and not visited.

use super::file::{SectionRef, Segment};
use crate::error::Error;
use crate::layout::{SectionKind, SectionTag, UrlList};

/// A list of URLs in a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentUrls<'a> {
    pub(super) segment: &'a Segment,
    list: UrlList,
    count: u64,
}

impl Segment {
    /// Returns a list of URLs.
    #[inline]
    pub(crate) fn urls(&self, list: UrlList) -> SegmentUrls<'_> {
        SegmentUrls { segment: self, list, count: self.numbers().urls(list) }
    }

    /// Returns the pages.
    #[inline]
    pub(crate) fn pages(&self) -> SegmentUrls<'_> {
        self.urls(UrlList::Pages)
    }

    /// Returns the found URLs.
    #[inline]
    pub(crate) fn found(&self) -> SegmentUrls<'_> {
        self.urls(UrlList::Found)
    }
}

impl<'a> SegmentUrls<'a> {
    /// Returns the number of URLs.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    #[inline]
    fn tag(&self, kind: SectionKind) -> SectionTag {
        SectionTag::of_list(kind, self.list)
    }

    /// Returns a section of the list.
    #[inline]
    pub(super) fn section(&self, kind: SectionKind) -> SectionRef<'a> {
        self.segment.section(self.tag(kind))
    }

    /// Returns the error for invalid bytes with a correct checksum.
    pub(super) fn damaged(&self, kind: SectionKind, offset: u64, what: &str) -> Error {
        self.segment.damaged(self.tag(kind), offset, what)
    }
}
