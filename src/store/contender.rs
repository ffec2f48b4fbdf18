//! A page with nearly the same content as another one, and what it is ranked by among such pages.

use super::first_seen::Since;
use super::lookup::Lookup;
use super::query::Near;
use super::search::Finding;
use super::view::View;
use crate::error::{Error, Result};
use crate::page::{Head, Time, Weight};

/// A page that a search found for an observation.
pub(super) struct Contender {
    pub(super) near: Near,
    pub(super) weight: Weight,
    since: Since,
}

impl Finding for Contender {
    const WANTS_HEAD: bool = true;

    fn of(near: Near, head: Option<&Head>) -> Result<Contender> {
        let head = head.ok_or_else(|| {
            let what = format!("a fingerprint says that {} is known", near.url);
            Error::corrupt("segments", 0, what)
        })?;
        Ok(Contender { near, weight: head.properties.weight(), since: Since::of(head) })
    }

    fn near(&self) -> &Near {
        &self.near
    }
}

impl Contender {
    /// When the page was first seen with what it has in force. Reads its entries unless its head told.
    pub(super) fn since(&self, view: &View) -> Result<Time> {
        self.since.read(|| view.entries(&Lookup::new(&self.near.url, view.seed), u64::MAX))
    }
}
