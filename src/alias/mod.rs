//! Alias rules: differences between URLs of a site that make no difference to the page.
//!
//! Many pages have several URLs: with `http` and `https`, with and without `www.`, with a number
//! for each visitor. A crawler that uses the alias rules of a site visits each page once. An
//! [`AliasRule`] maps URLs to URLs. [`AliasQuery::run`] evaluates each rule for each site. It finds
//! the pages known under several URLs that the rule maps to one, and counts the pages with near
//! fingerprints. If nearly all of the pages are near, the rule holds, and [`normalised`] applies
//! it.
//!
//! The query is a scan with tables for one site. This module uses only modules below it; no other
//! module uses this module.

mod address;
mod counting;
mod declared;
mod examples;
mod groups;
mod names;
mod query;
mod rule;
mod site;
mod spelling;
#[cfg(test)]
mod tests;
mod walk;

use std::ops::ControlFlow;

use crate::engine::results::Page;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::{Error, Result};
use crate::page::{Content, Epoch, Prefix, find_epoch, surt};
use crate::progress::{Progress, Stage};
use crate::url::check_url;
use counting::SiteCounter;
use declared::Declaration;
use names::{AliasRuleNumber, HOST, HOST_AND_SCHEME};
use walk::{SiteWalk, WalkedPage};

impl AliasQuery {
    /// Finds alias rules, site by site. A site is a host with and without `www.`. `sink` is called
    /// with each site that has a rule or a [canonical URL](DeclaredUrls::canonicals) to report, in
    /// SURT order; if `sink` breaks, the run ends. The result counts everything that was read before
    /// the end.
    ///
    /// For each [rule](AliasRule), take all pages that it maps to one URL, including the page of
    /// that URL itself. Each page except the first in SURT order is a pair with the first page,
    /// unless the rule removes the same text from both pages. (Pages without `www.` come before
    /// pages with `www.`.) A rule holds for a site if it has enough [pairs](AliasQuery::pairs)
    /// there, and the required [share](AliasQuery::share) of these pairs is near.
    ///
    /// If a rule has too few pairs, pages that differ by two rules count as well, such as
    /// `http://www.example.com/` and `https://example.com/`: neither rule alone maps the first URL
    /// to the second. Such pairs count for both rules if their number and share would suffice for
    /// one rule. They never count for a rule whose own pairs miss the share. For each page, pairs
    /// of five rules are tried, on URLs of up to 2,048 bytes; parameters that usually identify
    /// visitors come first. Each page of a pair may also have one of the two differences, as in
    /// `http://example.com/a` and `https://example.com/a/`. In this case a page is paired with the
    /// first page that another rule maps to the same URL, if no earlier page has that URL. (If more
    /// than four names of parameters and index pages map to a URL, the first four count.)
    ///
    /// A page that redirects to another URL of the site is evidence, too: if a rule explains the
    /// difference of the two URLs, alone or with other rules, the redirect supplies a missing pair.
    /// It does not change the share of compared pairs. A canonical URL that a page declares is only
    /// a claim. It is compared with the content of the known page with exactly this URL, and
    /// reported as agreement or disagreement:
    /// [`AliasSite::declared`] for the site, [`canonicals`](AliasCount::canonicals) and
    /// [`contradicted`](AliasCount::contradicted) for a rule.
    ///
    /// Only pages with current content and a fingerprint in the epoch are compared. Among pages whose
    /// URLs have equal SURT order, such as URLs that differ only in a default port, only the first
    /// page counts.
    ///
    /// The result depends only on the snapshot and the query, not on how pages are stored. A site
    /// that exceeds the memory is sampled by the hash of the URLs that rules make; the hash has a
    /// seed from the store. See [`AliasSite::sampled`].
    ///
    /// The run costs a [scan](Snapshot::scan) of all pages and up to some microseconds for each
    /// page, and a lookup for each page that declares another page as canonical. Sites with rules are
    /// read once more, for examples. The run takes [`memory_bytes`](AliasQuery::memory_bytes) of
    /// memory for one site at a time, about 100 to 250 bytes a page, and at most 32 MiB for names of
    /// parameters, examples and wrong canonical URLs. The progress counts pages.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::alias::{AliasQuery, normalised};
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.snapshot().near_epoch();
    /// for page in 0..20_u64 {
    ///     let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ///     for visitor in ["", "&sid=1", "&sid=2"] {
    ///         let url = format!("https://example.com/?page={page}{visitor}");
    ///         store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
    ///     }
    /// }
    /// let mut found = Vec::new();
    /// AliasQuery::default().run(&store.snapshot(), &Progress::default(), |site| {
    ///     found.push(site);
    ///     ControlFlow::Continue(())
    /// })?;
    /// let [site] = &found[..] else { panic!() };
    /// let [sid] = &site.rules[..] else { panic!() };
    /// assert_eq!((site.site.as_str(), sid.rule.to_string()), ("example.com", "parameter sid".into()));
    /// assert_eq!((sid.pairs, sid.near, sid.visits), (40, 40, 40)); // and `page` makes a difference
    /// let url = normalised("https://example.com/?page=99&sid=7", &[sid.rule.clone()]);
    /// assert_eq!(url, "https://example.com/?page=99");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] for a share that is out of range, [`Error::UnknownEpoch`] or
    /// [`Error::EndedEpoch`], [`Error::Corrupt`] if the data to read is damaged,
    /// [`Error::Cancelled`] if the progress was cancelled. Sites passed to `sink` before an error
    /// are correct.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        mut sink: impl FnMut(AliasSite) -> ControlFlow<()>,
    ) -> Result<AliasTotals> {
        snapshot.poison_on_bug(|| aliases(snapshot, self, progress, &mut sink))
    }
}

pub use query::AliasQuery;
pub use rule::{AliasRule, normalised};
pub use site::{AliasCount, AliasPair, AliasSite, AliasTotals, DeclaredUrls};
pub use walk::site_of;

fn aliases(
    snapshot: &Snapshot,
    asked: &AliasQuery,
    progress: &Progress,
    sink: &mut dyn FnMut(AliasSite) -> ControlFlow<()>,
) -> Result<AliasTotals> {
    asked.check()?;
    let epoch = asked.epoch.unwrap_or_else(|| snapshot.near_epoch());
    match find_epoch(snapshot.epochs(), epoch) {
        Some(info) if info.ended => return Err(Error::EndedEpoch(info.name.clone())),
        Some(_) => {}
        None => return Err(Error::UnknownEpoch(epoch.number())),
    }
    let k = asked.k.unwrap_or_else(|| snapshot.near_distance(epoch));
    let under = asked.under.as_ref();
    let pages = StoreTotals::of(snapshot)?.pages;
    progress.start(Stage::Counting, under.is_none().then_some(pages))?;
    let mut walk = SiteWalk::new(snapshot, under, progress)?;
    let mut found = AliasTotals::default();
    loop {
        let mut counting = SiteCounter::new(asked, k, snapshot.view().seed);
        let read = walk.site(&mut |walked| {
            let found_of = fingerprint(&walked.page, epoch);
            if let Some(of) = Declaration::of(snapshot, (under, epoch), &walked.page, found_of)? {
                counting.add_declared(&of);
            }
            let Some(found_of) = found_of else {
                found.without_fingerprint += u64::from(!walked.page.contents.is_empty());
                return Ok(());
            };
            counting.add(walked, found_of)?;
            match find_browser_spelling(snapshot, (under, epoch), walked)? {
                Some(first) => counting.add_host(walked, found_of, first),
                None => Ok(()),
            }
        })?;
        let Some(hosts) = read else { break };
        let (mut site, mut examples) = counting.finish(surt::host_name(&hosts.site), asked)?;
        if site.pages == 0 {
            continue;
        }
        found.add(&site);
        if site.rules.is_empty() && site.declared.canonicals == 0 {
            continue;
        }
        if !examples.is_empty() {
            counting.again();
            walk.again(&hosts, &mut |walked| match fingerprint(&walked.page, epoch) {
                Some(fingerprint) => counting.look(walked, fingerprint, &mut examples),
                None => Ok(()),
            })?;
        }
        examples.add_to_site(&mut site)?;
        if sink(site).is_break() {
            return Ok(found);
        }
    }
    progress.finish();
    Ok(found)
}

/// Finds the known page that has the URL of this page with the host as browsers write it, if the
/// two URLs differ in SURT order. If no such page is known, finds the page with the other scheme as
/// well. Returns the rule, and the URL and fingerprint of the page found. That page may belong to
/// another site, so it is looked up: few pages have a host that browsers write differently.
fn find_browser_spelling(
    snapshot: &Snapshot,
    (under, epoch): (Option<&Prefix>, Epoch),
    walked: &WalkedPage,
) -> Result<Option<(AliasRuleNumber, String, u64)>> {
    let Some(changed) = AliasRule::Host.apply(&walked.page.url) else { return Ok(None) };
    if surt::key_of(&changed) == walked.key {
        return Ok(None);
    }
    let is_asked = |url: &str| {
        under.is_none_or(|under| under.contains(&surt::key_of(url))) && check_url(url).is_ok()
    };
    let schemes = [true, false].map(|secure| AliasRule::Scheme { secure });
    let other = schemes.iter().find_map(|scheme| scheme.apply(&changed));
    for (rule, url) in [(HOST, Some(changed)), (HOST_AND_SCHEME, other)] {
        let Some(url) = url.filter(|url| is_asked(url)) else { continue };
        if let Some(other) = snapshot.latest(&url)?.and_then(|page| fingerprint(&page, epoch)) {
            return Ok(Some((rule, url, other)));
        }
    }
    Ok(None)
}

/// The fingerprint by which a page is compared in an epoch.
///
/// Only this function decides which pages are compared. A page without a fingerprint is not
/// compared, and neither is a redirect: its [`Declaration`] is evidence.
fn fingerprint(page: &Page, epoch: Epoch) -> Option<u64> {
    page.contents.iter().find(|content| content.epoch == epoch).and_then(Content::compared)
}
