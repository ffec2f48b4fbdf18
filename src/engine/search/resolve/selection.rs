//! The selection of pages, among the pages that have or had a fingerprint.

use std::ops::ControlFlow;

use super::HitResolver;
use crate::bug::OrBug;
use crate::engine::lookup::Lookup;
use crate::engine::search::query::Versions;
use crate::error::Result;
use crate::page::{Content, PageHead};
use crate::search::Candidate;

impl<F> HitResolver<'_, '_, F> {
    /// Whether a page is in one of the selected classes now. `own` is the page's head in the
    /// component of the hit, which is the newest component of the page if the hit is in force.
    pub(crate) fn is_of_class(&self, url: &str, own: Option<&PageHead>) -> Result<bool> {
        let Some(classes) = self.wanted.classes else { return Ok(true) };
        let newest;
        // A hit in force is in the newest component that has the page, so the head of this
        // component has the class.
        let head = if self.wanted.versions == Versions::InForce {
            own
        } else {
            newest = self.view.locate_page(&Lookup::new(url, self.view.seed), self.sequence)?.head;
            newest.as_ref()
        };
        let head = head.or_bug("each found page has a head")?;
        Ok(classes.contains(head.properties.class()))
    }

    /// Whether a page had the fingerprint at the selected time, in a search of past versions.
    pub(crate) fn was_seen(&self, lookup: &Lookup<'_>, candidate: &Candidate) -> Result<bool> {
        let is_wanted = |content: &Content| self.wanted.matches(content, candidate);
        match self.wanted.versions {
            // For these versions the posting itself is the proof, so no history is read.
            Versions::InForce | Versions::Ever => Ok(true),
            Versions::At(time) => {
                let version = self.view.version_at(lookup, self.sequence, time)?;
                Ok(version.is_some_and(|version| version.contents.iter().any(is_wanted)))
            }
            Versions::Seen(from, until) => {
                let mut seen = false;
                self.view.each_part(lookup, self.sequence, |page| {
                    let entries = page.entries()?;
                    let mut within =
                        entries.iter().filter(|entry| (from..=until).contains(&entry.time()));
                    // Parts come newest first. The first part that has the fingerprint in the range
                    // ends the search.
                    seen = within.any(|entry| entry.content().as_ref().is_some_and(is_wanted));
                    Ok(if seen { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
                })?;
                Ok(seen)
            }
        }
    }
}
