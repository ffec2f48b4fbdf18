//! What a page is, by what its visits found.

use super::Head;

/// What a page is, by what its visits found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageState {
    /// No visit of it is known.
    Unknown,
    /// No content was ever seen.
    Unseen,
    /// It has a content that is in force.
    InForce,
    /// It was gone when last heard of.
    Gone,
}

impl PageState {
    /// That of a page with this head.
    pub(crate) fn of(head: Option<&Head>) -> PageState {
        match head {
            None => PageState::Unknown,
            Some(head) if head.gone() => PageState::Gone,
            Some(head) if head.contents.is_empty() => PageState::Unseen,
            Some(_) => PageState::InForce,
        }
    }
}
