//! The encoding that a parser finds in a page, at any position.

use std::borrow::Cow;

use encoding_rs::Encoding;
use html5gum::emitters::callback::CallbackEvent;
use memchr::memmem;

use super::meta::Meta;
use super::prescan::{self, PRESCAN_BYTES};
use crate::fingerprint::html::foreign::ForeignContent;
use crate::fingerprint::html::{elements, tokens};

/// Returns the encoding that a page declares in the first `<meta>` element that names an encoding
/// (HTML, 13.2.3.4, "changing the encoding while parsing"). A browser drops the prescanned encoding
/// when its parser meets a `<meta>` that names an encoding, so this function runs before the
/// prescan.
///
/// A page is tokenised as bytes. Only ISO-2022-JP uses the bytes of markup within characters:
/// there, a false tag may hide a late declaration. If a page declares its encoding early, only its
/// start is read. Otherwise the bytes are searched for the last `<meta>`, and the part before it is
/// tokenised if it contains the word "charset".
pub(super) fn encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    if names_charset(start)
        && metas(start).next().is_some()
        && let Some(encoding) = find(start).found
    {
        return Some(encoding);
    }
    let late = bytes.get(..end_of_metas(bytes)?)?;
    if !names_charset(late) {
        return None;
    }
    let finder = find(late);
    // The last apparent `<meta>` may be inside an attribute of a real `<meta>` that ends later.
    let is_cut = finder.found.is_none() && finder.meta.is_some();
    if is_cut { find(bytes).found } else { finder.found }
}

/// Returns the positions of apparent `<meta>` tags; tags with a lower-case name come first. Pages
/// are full of `<` but not of `<m`, so searching for two bytes is much faster than for one.
fn metas(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let small = memmem::find_iter(bytes, b"<m");
    let large = memmem::find_iter(bytes, b"<M");
    small.chain(large).filter(|at| bytes.get(*at..).is_some_and(prescan::is_meta))
}

/// Returns the end of the last apparent `<meta>` tag.
fn end_of_metas(bytes: &[u8]) -> Option<usize> {
    let last = metas(bytes).max()?;
    let tag = bytes.get(last..)?;
    Some(last + prescan::meta_len(tag).unwrap_or(tag.len()))
}

/// Whether a text contains the word "charset". Character references could spell the word, but no
/// page uses them for it.
fn names_charset(bytes: &[u8]) -> bool {
    let name = b"charset";
    let is_here = |at: usize| {
        let word = bytes.get(at..at + name.len());
        word.is_some_and(|word| word.eq_ignore_ascii_case(name))
    };
    memchr::memchr2_iter(b'c', b'C', bytes).any(is_here)
}

/// Finds the first `<meta>` element that names an encoding.
fn find(bytes: &[u8]) -> MetaFinder {
    let mut finder = MetaFinder::default();
    tokens::read(bytes, &mut finder);
    finder
}

#[derive(Default)]
struct MetaFinder {
    name: Vec<u8>,
    /// The `<meta>` tag being read.
    meta: Option<Meta<'static>>,
    foreign: ForeignContent,
    found: Option<&'static Encoding>,
}

impl tokens::TokenSink for MetaFinder {
    fn take(&mut self, event: &CallbackEvent<'_>) {
        match *event {
            CallbackEvent::OpenStartTag { name } => {
                self.name.clear();
                self.name.extend_from_slice(name);
                self.meta = (name == b"meta").then(Meta::default);
            }
            CallbackEvent::AttributeName { name } => {
                self.meta.iter_mut().for_each(|meta| meta.name(name));
            }
            CallbackEvent::AttributeValue { value } => {
                let value = || Cow::Owned(value.to_vec());
                self.meta.iter_mut().for_each(|meta| meta.value(value()));
            }
            CallbackEvent::CloseStartTag { self_closing } => self.open(self_closing),
            CallbackEvent::EndTag { name } => self.foreign.close(name),
            _ => {}
        }
    }

    fn is_foreign(&self) -> bool {
        self.foreign.is_here()
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }
}

impl MetaFinder {
    fn open(&mut self, self_closing: bool) {
        self.foreign.breaks_out(&self.name);
        let foreign = self.foreign.is_here() || matches!(self.name.as_slice(), b"svg" | b"math");
        let empty = elements::is_void(&self.name) || (self_closing && foreign);
        if !empty {
            self.foreign.open(&self.name);
        }
        self.found = self.meta.take().and_then(|meta| meta.parsed());
    }
}
