//! The sites of a snapshot, one after another, in one scan.
//!
//! In SURT order the pages of a host are contiguous, and the pages of `www.example.com` come after
//! all subdomains of `example.com` that sort before `www`. So if pages of other hosts lie between,
//! a second scan reads the `www.` pages ahead, and the first scan skips these pages later.

use super::address::UrlParts;
use super::rule::{takes_www, without_www};
use crate::bug::{OrBug, ensure};
use crate::engine::results::Page;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::Prefix;
use crate::page::surt::{self, END, LABEL};
use crate::progress::Progress;
use crate::query::scan::Scan;

/// The last bytes of the key of a host that begins with `www.`.
const WWW: &[u8] = &[LABEL, b'w', b'w', b'w'];

/// The hosts of a site: without and with `www.`, or one of the two.
#[derive(Debug)]
pub(super) struct SiteHosts {
    /// The keys of the hosts, as in the keys of their pages.
    keys: Vec<Vec<u8>>,
    /// The key of the host without `www.`.
    pub(super) site: Vec<u8>,
}

/// A page with its key.
#[derive(Debug)]
pub(super) struct WalkedPage {
    pub(super) page: Page,
    /// The SURT key of the page.
    pub(super) key: Vec<u8>,
}

/// An iterator over all sites under a prefix.
pub(super) struct SiteWalk<'s> {
    snapshot: &'s Snapshot,
    under: Option<&'s Prefix>,
    progress: &'s Progress,
    scan: Scan,
    /// The next page.
    next: Option<WalkedPage>,
    /// The hosts whose `www.` host was read ahead. Each is a subdomain of the one before it, so
    /// there are at most as many as a host has labels.
    ahead: Vec<Vec<u8>>,
}

impl WalkedPage {
    fn of(page: Page) -> WalkedPage {
        WalkedPage { key: surt::key_of(&page.url), page }
    }

    fn host(&self) -> &[u8] {
        surt::host_of(&self.key)
    }
}

impl<'s> SiteWalk<'s> {
    /// Starts before the first site.
    pub(super) fn new(
        snapshot: &'s Snapshot,
        under: Option<&'s Prefix>,
        progress: &'s Progress,
    ) -> Result<SiteWalk<'s>> {
        let scan = snapshot.scan(under);
        let mut walk = SiteWalk { snapshot, under, progress, scan, next: None, ahead: Vec::new() };
        walk.advance()?;
        Ok(walk)
    }

    fn advance(&mut self) -> Result<()> {
        self.next = self.scan.next().transpose()?.map(WalkedPage::of);
        Ok(())
    }

    /// Passes the pages of the next site to `each`; returns `None` after the last site. URLs
    /// without a host, and URLs whose host has an empty label, belong to no site.
    pub(super) fn site(
        &mut self,
        each: &mut impl FnMut(&WalkedPage) -> Result<()>,
    ) -> Result<Option<SiteHosts>> {
        loop {
            let Some(next) = &self.next else {
                ensure(self.ahead.is_empty(), "each host that was read ahead is reached")?;
                return Ok(None);
            };
            let key = next.host().to_vec();
            let host = UrlParts::of(&next.page.url).map(|address| address.host.into_owned());
            let (Some(host), Some(_)) = (host, domain(&key)) else {
                self.progress.pass(self.host(&key, &mut |_| Ok(()))?);
                continue;
            };
            if without_www(&host).is_some() {
                let site = key
                    .strip_suffix(WWW)
                    .or_bug("the key of a host that begins with www. ends with the www label")?;
                let site = site.to_vec();
                if self.ahead.pop_if(|host| *host == site).is_some() {
                    self.host(&key, &mut |_| Ok(()))?;
                    continue;
                }
                self.progress.pass(self.host(&key, each)?);
                return Ok(Some(SiteHosts { keys: vec![key], site }));
            }
            self.progress.pass(self.host(&key, each)?);
            let mut keys = vec![key.clone()];
            if takes_www(&host) {
                let www = [&key, WWW].concat();
                let read = self.host_below(&key, &www, each)?;
                self.progress.pass(read);
                keys.extend((read > 0).then_some(www));
            }
            return Ok(Some(SiteHosts { keys, site: key }));
        }
    }

    /// Passes the pages of the scan's current host to `each`. `key` is the key of that host.
    /// Returns the number of the pages.
    fn host(
        &mut self,
        key: &[u8],
        each: &mut impl FnMut(&WalkedPage) -> Result<()>,
    ) -> Result<u64> {
        let mut count = 0;
        while let Some(next) = self.next.as_ref().filter(|next| next.host() == key) {
            self.progress.check()?;
            each(next)?;
            count += 1;
            self.advance()?;
        }
        Ok(count)
    }

    /// Passes the pages of a `www.` host to `each`, after the other pages of its site, wherever
    /// they are in the scan. Returns the number of the pages.
    fn host_below(
        &mut self,
        site: &[u8],
        www: &[u8],
        each: &mut impl FnMut(&WalkedPage) -> Result<()>,
    ) -> Result<u64> {
        let Some(next) = &self.next else { return Ok(0) };
        if next.host() == www {
            return self.host(www, each);
        }
        let stand_between =
            next.host().starts_with(&[site, &[LABEL]].concat()) && next.host() < www;
        let domain = domain(www).or_bug("a host has labels, with www. and without")?;
        // A prefix longer than the domain contains pages of only one host.
        if !stand_between || self.under.is_some_and(|under| !under.covers(&domain)) {
            return Ok(0);
        }
        let count = pages_of(self.snapshot, &domain, www, self.progress, each)?;
        if count > 0 {
            self.ahead.push(site.to_vec());
        }
        Ok(count)
    }

    /// Passes the pages of a site to `each` once more.
    pub(super) fn again(
        &self,
        hosts: &SiteHosts,
        each: &mut impl FnMut(&WalkedPage) -> Result<()>,
    ) -> Result<()> {
        for key in &hosts.keys {
            let domain = domain(key).or_bug("the hosts of a site have labels")?;
            let within = self.under.filter(|under| !under.covers(&domain)).unwrap_or(&domain);
            pages_of(self.snapshot, within, key, self.progress, each)?;
        }
        Ok(())
    }
}

/// Passes the pages under a prefix to `each`, up to the last page of a host. Returns the number of
/// the pages.
fn pages_of(
    snapshot: &Snapshot,
    under: &Prefix,
    key: &[u8],
    progress: &Progress,
    each: &mut impl FnMut(&WalkedPage) -> Result<()>,
) -> Result<u64> {
    let mut count = 0;
    for page in snapshot.scan(Some(under)) {
        progress.check()?;
        let walked = WalkedPage::of(page?);
        if walked.host() != key {
            break;
        }
        each(&walked)?;
        count += 1;
    }
    Ok(count)
}

/// Returns the site of a URL, as an [`AliasSite`](super::AliasSite) names it: the URL's host in
/// lower case, without `www.`. `None` if the URL has no valid host.
///
/// ```
/// use simkeep::alias::site_of;
/// assert_eq!(site_of("http://WWW.Example.com:8080/a").as_deref(), Some("example.com"));
/// assert_eq!(site_of("https://docs.example.com/").as_deref(), Some("docs.example.com"));
/// assert_eq!(site_of("urn:isbn:1"), None);
/// ```
pub fn site_of(url: &str) -> Option<String> {
    let host = UrlParts::of(url)?.host;
    let mut key = Vec::new();
    surt::host(url, &mut key);
    domain(&key)?;
    let site = if without_www(&host).is_some() { key.strip_suffix(WWW)? } else { &key };
    Some(surt::host_name(site))
}

/// The prefix of a host and its subdomains, whose first pages are the host's; `None` for an invalid
/// host.
fn domain(key: &[u8]) -> Option<Prefix> {
    Prefix::from_bytes(&[key, &[END]].concat())
}
