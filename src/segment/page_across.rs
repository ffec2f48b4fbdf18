//! A page across components: what each of them has of it, and how far back that counts.

use std::ops::ControlFlow;

/// What one component has of a page.
pub(crate) trait PartOfPage {
    /// If it has a record of the page, whether nothing older counts beside that.
    fn record_ends(&self) -> Option<bool>;

    /// Whether one of its tombstones covers the page, which has this SURT key.
    fn buries<'k>(&self, key: impl FnOnce() -> &'k [u8]) -> bool;
}

/// Passes on what components have of a page, newest first, back to where it was forgotten: the four
/// steps of "A page across components" in `format/README.md`. `take` breaks when it has enough. The
/// key is asked for only if there are tombstones.
///
/// Returns the component that ended this; `None` if still older ones would count.
pub(crate) fn page_across<'k, P: PartOfPage, E>(
    key: impl Fn() -> &'k [u8],
    newest_first: impl IntoIterator<Item = Result<P, E>>,
    mut take: impl FnMut(&P) -> Result<ControlFlow<()>, E>,
) -> Result<Option<P>, E> {
    for part in newest_first {
        let part = part?;
        // The record comes before the tombstones: those hide older components only, never what their own
        // component has.
        if let Some(ends) = part.record_ends()
            && (take(&part)?.is_break() || ends)
        {
            return Ok(Some(part));
        }
        if part.buries(&key) {
            return Ok(Some(part));
        }
    }
    Ok(None)
}
