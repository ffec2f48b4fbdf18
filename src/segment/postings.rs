//! The postings of fingerprints. A fingerprint has one word: a posting, or the location of a list
//! if several pages have the fingerprint.
//!
//! A posting is the ordinal of a page, and whether the fingerprint is in force on the page as of
//! the segment's end. Lists are in order of ordinals, and so in SURT order. In a list, the tags of
//! the digests in force follow the postings. The tags are sorted, so that copies are found without
//! scanning the list.

use std::ops::Range;

use super::build::{SegmentBuilder, Spill};
use super::column::SectionColumn;
use crate::bug::{self, OrBug};
use crate::error::{Error, Result};
use crate::layout::{PAGES_MAX, SectionKind, SectionTag, le_u32};
use crate::page::Digest;
use crate::search::Column;

/// The flag that the word refers to a list.
pub(super) const LIST: u32 = 1 << 31;
/// The flag that the fingerprint is in force on the page.
const IN_FORCE: u32 = 1 << 30;

const _: () = assert!(PAGES_MAX == IN_FORCE as u64, "page ordinals leave room for the two bits");

/// The number of words in a list before its postings: the number of postings and the number of
/// tags.
const LIST_HEAD: u64 = 2;

/// A page that has a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    pub(crate) page: u32,
    pub(crate) in_force: bool,
}

impl Posting {
    fn word(self) -> u32 {
        self.page | if self.in_force { IN_FORCE } else { 0 }
    }

    pub(super) fn parse(word: u32) -> Posting {
        Posting { page: word & (IN_FORCE - 1), in_force: word & IN_FORCE != 0 }
    }
}

/// The postings of an epoch, by the ordinals of fingerprints.
pub(super) struct PostingsRef<'a> {
    pub(super) words: &'a SectionColumn,
    pub(super) lists: &'a SectionColumn,
    /// The number of pages in the segment.
    pub(super) pages: u64,
}

/// The location of a fingerprint's postings.
enum PostingsLocation {
    /// A single posting.
    Single(Posting),
    /// The range of the postings and the range of the tags, in words of the lists.
    List(Range<u64>, Range<u64>),
}

impl<'a> PostingsRef<'a> {
    fn parse(&self, ordinal: u32, word: u32) -> Result<Posting> {
        let posting = Posting::parse(word);
        if u64::from(posting.page) < self.pages {
            return Ok(posting);
        }
        let what = "a fingerprint refers to a page that the segment does not have";
        Err(self.words.damaged(u64::from(ordinal) * 4, what))
    }

    fn place(&self, ordinal: u32) -> Result<PostingsLocation> {
        let word = self.words.u32_at(ordinal.into())?;
        if word & LIST == 0 {
            return self.parse(ordinal, word).map(PostingsLocation::Single);
        }
        let at = u64::from(word & !LIST);
        // The numbers are not verified yet. An offset of 31 bits and two counts of 32 bits cannot
        // overflow, and words beyond the section cannot be read.
        let (count, tags) = (self.lists.u32_at(at)?, self.lists.u32_at(at + 1)?);
        let postings = at + LIST_HEAD..at + LIST_HEAD + u64::from(count);
        let tags = postings.end..postings.end + u64::from(tags) * 2;
        Ok(PostingsLocation::List(postings, tags))
    }

    /// Returns the only posting of a fingerprint; `None` if several pages have it.
    pub(super) fn single(&self, ordinal: u32) -> Result<Option<Posting>> {
        let word = self.words.u32_at(ordinal.into())?;
        if word & LIST == 0 { self.parse(ordinal, word).map(Some) } else { Ok(None) }
    }

    /// Returns the pages with a fingerprint in SURT order, beginning with ordinal `first`. From a
    /// list, leaves out the [`copies`](Self::copies) of a digest.
    pub(super) fn from(
        self,
        ordinal: u32,
        first: u32,
        without: Option<Digest>,
    ) -> Result<impl Iterator<Item = Result<Posting>> + 'a> {
        let (mut single, mut words, mut copies) = match self.place(ordinal)? {
            PostingsLocation::Single(posting) => {
                (Some(posting).filter(|p| p.page >= first), 0..0, 0..0)
            }
            PostingsLocation::List(mut words, tags) => {
                // A search that continues after a limit finds its place in the list by a binary
                // search.
                if first > 0 {
                    let is_before = |word| Posting::parse(word).page < first;
                    words.start = self.search(words.clone(), 1, is_before)?;
                }
                let copies = without.map_or(Ok(0..0), |digest| self.tagged(tags, digest));
                (None, words, copies?)
            }
        };
        let mut before: Option<u32> = None;
        Ok(std::iter::from_fn(move || {
            if let Some(single) = single.take() {
                return Some(Ok(single));
            }
            // The iterator ends after an error, because the next call would only return the same
            // error.
            if let Err(e) = self.pass_over(&mut words, &mut copies) {
                words = 0..0;
                return Some(Err(e));
            }
            let at = words.next()?;
            let posting = self.lists.u32_at(at).and_then(|word| {
                let posting = self.parse(ordinal, word)?;
                // `None` is less than any page. Binary searches rely on ascending pages, so a list
                // in another order is damaged.
                if before.replace(posting.page) < Some(posting.page) {
                    return Ok(posting);
                }
                Err(self.lists.damaged(at * 4, "the pages of a list are not in order"))
            });
            if posting.is_err() {
                words = 0..0;
            }
            Some(posting)
        }))
    }

    /// Returns the pages of a list on which the fingerprint is in force with a digest of the same
    /// tag, in SURT order. Returns no pages if the fingerprint has no list. Costs a binary search,
    /// and nothing for other pages.
    pub(super) fn copies(
        self,
        ordinal: u32,
        digest: Digest,
    ) -> Result<Option<impl Iterator<Item = Result<u32>> + 'a>> {
        let PostingsLocation::List(_, tags) = self.place(ordinal)? else { return Ok(None) };
        let copies = self.tagged(tags, digest)?.step_by(2);
        Ok(Some(copies.map(move |at| Ok(self.parse(ordinal, self.lists.u32_at(at)?)?.page))))
    }

    /// Returns the words of a list's tags that equal the tag of a digest, shifted so that every
    /// other word, beginning with the first, is a page.
    fn tagged(&self, tags: Range<u64>, digest: Digest) -> Result<Range<u64>> {
        let tag = digest.tag();
        let start = self.search(tags.clone(), 2, |word| word < tag)?;
        let end = self.search(start..tags.end, 2, |word| word <= tag)?;
        // Shifted by one word, from the tags to their pages.
        Ok(start + 1..end + 1)
    }

    /// Skips the next postings that are copies. Both sequences ascend, and copies are a subset of
    /// the postings, so galloping and binary search find the next posting that is no copy.
    fn pass_over(&self, words: &mut Range<u64>, copies: &mut Range<u64>) -> Result<()> {
        let pages = |at: u64| -> Result<(u32, u32)> {
            let posting = Posting::parse(self.lists.u32_at(words.start + at)?);
            Ok((posting.page, self.lists.u32_at(copies.start + 2 * at)?))
        };
        if words.is_empty() || copies.is_empty() {
            return Ok(());
        }
        let (posting, copy) = pages(0)?;
        // Copies before the first wanted page are skipped once. After that, no copy is less than
        // the posting, so the function recurses only once.
        if copy < posting {
            copies.start = self.search(copies.clone(), 2, |page| page < posting)?;
            return self.pass_over(words, copies);
        }
        if copy > posting {
            return Ok(());
        }
        let is_copy = |at: u64| pages(at).map(|(posting, copy)| posting == copy);
        let count = (words.end - words.start).min((copies.end - copies.start) / 2);
        // A run of copies costs the logarithm of its length. If a million copies were read one by
        // one, each further page of a result would cost a million postings.
        let (mut last, mut step) = (0, 1);
        // Both sequences agree up to the first posting that is no copy, and nowhere after it: after
        // this posting, the copy at the same index is always greater.
        while last + step < count && is_copy(last + step)? {
            last += step;
            step *= 2;
        }
        let mut end = count.min(last + step);
        while last + 1 < end {
            let middle = last.midpoint(end);
            if is_copy(middle)? {
                last = middle;
            } else {
                end = middle;
            }
        }
        words.start += end;
        copies.start += 2 * end;
        Ok(())
    }

    /// Returns the tags of a list, each with its page; `None` if the fingerprint has no list.
    pub(super) fn tags(self, ordinal: u32) -> Result<Option<Vec<(u32, u32)>>> {
        let PostingsLocation::List(_, words) = self.place(ordinal)? else { return Ok(None) };
        let pair = |at| Ok((self.lists.u32_at(at)?, self.lists.u32_at(at + 1)?));
        words.step_by(2).map(pair).collect::<Result<_>>().map(Some)
    }

    /// Returns the first of ascending records for whose first word `before` is false. A record has
    /// `words` words.
    fn search(&self, range: Range<u64>, words: u64, before: impl Fn(u32) -> bool) -> Result<u64> {
        let (mut low, mut high) = (0, (range.end - range.start) / words);
        while low < high {
            let middle = low.midpoint(high);
            if before(self.lists.u32_at(range.start + middle * words)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(range.start + low * words)
    }
}

/// Collects the postings of one epoch during the writing of its fingerprints.
pub(super) struct PostingsWriter {
    epoch: u32,
    words: Spill,
    lists: Spill,
    count: u64,
    list_words: u32,
    longest: u64,
}

impl PostingsWriter {
    pub(super) fn new(builder: &mut SegmentBuilder, epoch: u32) -> PostingsWriter {
        // Both sections come after the fingerprints, which are still being written.
        let (words, lists) = (builder.spill(1), builder.spill(1));
        PostingsWriter { epoch, words, lists, count: 0, list_words: 0, longest: 0 }
    }

    /// Adds the pages of the next fingerprint in order, at least one page. If there are several
    /// pages, calls `tag` for each page on which the fingerprint is in force.
    pub(super) fn push(
        &mut self,
        postings: &[Posting],
        mut tag: impl FnMut(u32) -> Result<Option<u32>>,
    ) -> Result<()> {
        let ascend = !postings.is_empty() && postings.is_sorted_by(|a, b| a.page < b.page);
        bug::ensure(ascend, "the pages of a fingerprint ascend, and there is at least one")?;
        self.count += 1;
        self.longest = self.longest.max(postings.len() as u64);
        let word = if let [single] = postings {
            single.word()
        } else {
            let mut tags = Vec::new();
            // Tags only serve to find copies, and a copy is in force.
            for posting in postings.iter().filter(|p| p.in_force) {
                tags.extend(tag(posting.page)?.map(|tag| (tag, posting.page)));
            }
            tags.sort_unstable();
            let at = self.list_words;
            let words = LIST_HEAD + postings.len() as u64 + 2 * tags.len() as u64;
            let end = u64::from(at) + words;
            // Bit 31 of a word is the flag for a list, so the location of a list has 31 bits.
            self.list_words =
                u32::try_from(end).ok().filter(|end| end & LIST == 0).ok_or_else(too_many)?;
            let length = |n| u32::try_from(n).ok().or_bug("a list is no longer than all lists");
            let head = [length(postings.len())?, length(tags.len())?];
            let tags = tags.into_iter().flat_map(|(tag, page)| [tag, page]);
            for word in head.into_iter().chain(postings.iter().map(|p| p.word())).chain(tags) {
                self.lists.append(&le_u32(word))?;
            }
            at | LIST
        };
        self.words.append(&le_u32(word))
    }

    /// Writes both sections for `fingerprints` fingerprints. Returns the largest number of pages of
    /// one fingerprint.
    pub(super) fn finish(self, builder: &mut SegmentBuilder, fingerprints: u32) -> Result<u64> {
        bug::ensure(self.count == u64::from(fingerprints), "each fingerprint has a posting")?;
        builder.whole(
            SectionTag::table(SectionKind::Postings, 0, self.epoch),
            &self.words.finish()?,
        )?;
        builder
            .whole(SectionTag::table(SectionKind::Lists, 0, self.epoch), &self.lists.finish()?)?;
        Ok(self.longest)
    }
}

/// Returns the error that the posting lists of a segment exceed their limit.
fn too_many() -> Error {
    Error::Limit {
        what: "words of posting lists in a segment",
        max: u64::from(LIST) - 1,
        instead: "seal, load or merge fewer pages at a time",
    }
}
