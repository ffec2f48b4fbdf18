//! Fingerprints of texts and pages.

use std::ffi::c_char;

use simkeep::fingerprint::{ContentType, Document, extract, of_text};
use simkeep::{Epoch, Origin};

use crate::abi;
use crate::call::{found, free, make};
use crate::failure::{Failure, Result};
use crate::open::store::{self, StoreHandle};

/// Computes the fingerprints of an epoch. Threads may use a fingerprinter concurrently. A
/// fingerprinter stays valid when its store is closed or freed.
#[derive(Debug)]
pub struct FingerprinterHandle {
    origin: Origin,
    /// The epoch of a store; `None` for the default recipe without a store.
    epoch: Option<Epoch>,
}

/// Writes the fingerprint of a text by the default recipe to where `fingerprint` points. The
/// fingerprint belongs to the first epoch of a new store. `SIMKEEP_NONE` for a text of fewer than
/// eight words, which is too short to be distinguished. Observe such content without a fingerprint.
/// Any thread. Costs time linear in the text.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fingerprint_text(
    text: *const c_char,
    text_len: usize,
    fingerprint: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_fingerprint_text", error, || {
        abi::check_put(fingerprint, "fingerprint")?;
        let made = of_text(abi::text(text, text_len, "text")?);
        made.map(|made| abi::put(fingerprint, made, "fingerprint")).transpose()
    })
}

/// Creates a fingerprinter with the recipe of an epoch of a store. If `store` is NULL, the recipe
/// is the default recipe, and `epoch` is ignored. `SIMKEEP_INVALID_ARGUMENT` for an epoch of
/// external fingerprints. Free the result with `simkeep_fingerprinter_free`. Any thread. Costs
/// reading the table of the epoch, if the epoch has one.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fingerprinter_new(
    store: *const StoreHandle,
    epoch: u32,
    error: *mut *mut Failure,
) -> Option<Box<FingerprinterHandle>> {
    make("simkeep_fingerprinter_new", error, || {
        if store.is_null() {
            return Ok(FingerprinterHandle { origin: Origin::default(), epoch: None });
        }
        let epoch = Epoch::from_number(epoch);
        let origin = Origin::of(&store::open(store)?.snapshot(), epoch)?;
        let elsewhere =
            "another program makes the fingerprints of this epoch; pass a fingerprint instead";
        let elsewhere = || simkeep::Error::InvalidArgument(elsewhere.to_owned());
        Ok(FingerprinterHandle { origin: origin.ok_or_else(elsewhere)?, epoch: Some(epoch) })
    })
}

impl FingerprinterHandle {
    fn of_page(&self, document: &Document) -> Result<Option<u64>> {
        Ok(self.origin.fingerprinter()?.of_page(document).map_err(simkeep::Error::from)?)
    }
}

/// Returns an HTML page, decoded by the encoding that the server or the page declares.
fn page(
    (html, html_len): (*const c_char, usize),
    (encoding, encoding_len): (*const c_char, usize),
) -> Result<Document> {
    let encoding = abi::optional_text(encoding, encoding_len, "encoding")?;
    abi::check_put(html.cast_mut(), "html")?;
    let html = abi::bytes(html, html_len, "html")?;
    Ok(extract(&ContentType::of_page(encoding).decode(html)))
}

/// Returns the content of an HTML page for an observation: the fingerprint, if the content has a
/// fingerprint, and the epoch.
pub(crate) fn content(
    fingerprinter: *const FingerprinterHandle,
    html: (*const c_char, usize),
    encoding: (*const c_char, usize),
) -> Result<(Option<u64>, Epoch)> {
    let fingerprinter = abi::handle(fingerprinter, "fingerprinter")?;
    let without = "it was made without a store, so it has no epoch";
    let epoch = fingerprinter.epoch.ok_or_else(|| Failure::argument("fingerprinter", without))?;
    Ok((fingerprinter.of_page(&page(html, encoding)?)?, epoch))
}

/// Writes the fingerprint of a text to where `fingerprint` points. `SIMKEEP_NONE` for a text of
/// fewer than eight words, which is too short to be distinguished. Observe such content without a
/// fingerprint. Any thread. Costs time linear in the text.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fingerprinter_text(
    fingerprinter: *const FingerprinterHandle,
    text: *const c_char,
    text_len: usize,
    fingerprint: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_fingerprinter_text", error, || {
        abi::check_put(fingerprint, "fingerprint")?;
        let document = Document::new(abi::text(text, text_len, "text")?);
        let made = abi::handle(fingerprinter, "fingerprinter")?.of_page(&document)?;
        made.map(|made| abi::put(fingerprint, made, "fingerprint")).transpose()
    })
}

/// Writes the fingerprint of the visible text of an HTML page to where `fingerprint` points.
/// `encoding` is the encoding that the server reports: a label, for example `gb18030`, or the value
/// of its `Content-Type`, several values joined by commas. `encoding` may be NULL. The page is
/// decoded as in browsers: by a byte order mark, by `encoding`, by the page's declaration, as UTF-8
/// if it is valid UTF-8, otherwise by a guess. `SIMKEEP_NONE` for a text of fewer than eight words.
/// Any thread. Costs time linear in the page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fingerprinter_html(
    fingerprinter: *const FingerprinterHandle,
    html: *const c_char,
    html_len: usize,
    encoding: *const c_char,
    encoding_len: usize,
    fingerprint: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_fingerprinter_html", error, || {
        abi::check_put(fingerprint, "fingerprint")?;
        let document = page((html, html_len), (encoding, encoding_len))?;
        let made = abi::handle(fingerprinter, "fingerprinter")?.of_page(&document)?;
        made.map(|made| abi::put(fingerprint, made, "fingerprint")).transpose()
    })
}

/// Frees a fingerprinter, after all other calls on it have returned. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fingerprinter_free(fingerprinter: Option<Box<FingerprinterHandle>>) {
    free("simkeep_fingerprinter_free", fingerprinter);
}
