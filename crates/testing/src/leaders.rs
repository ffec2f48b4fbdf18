//! The leaders of pages, computed in the slowest way: each page is compared with all others.

use std::collections::BTreeMap;
use std::sync::Arc;

use simkeep::{Content, EpochInfo, Page, Snapshot};

/// The number of nearest pages to compare.
const NEAREST: usize = 16;

/// A page, with its place in SURT order.
struct SurtPage {
    page: Page,
    place: usize,
    /// The time when its content in force was first seen, in milliseconds since 1970.
    since: i64,
}

/// The pages of a view, and their leaders.
pub struct NaiveLeaders {
    pages: Vec<SurtPage>,
    epochs: Vec<EpochInfo>,
    distances: Vec<u32>,
}

impl NaiveLeaders {
    /// Reads the pages of a view.
    pub fn of(view: &Snapshot) -> NaiveLeaders {
        let mut seen: BTreeMap<Arc<str>, Vec<(i64, Content)>> = BTreeMap::new();
        for item in view.observations(None) {
            let (url, entry) = item.unwrap();
            let seen = seen.entry(url).or_default();
            seen.extend(entry.content().map(|content| (entry.time().as_ms(), content)));
        }
        let known = |(place, page): (usize, simkeep::Result<Page>)| {
            let page = page.unwrap();
            let is_it = |content: &Content| {
                page.contents.iter().any(|own| match own.digest {
                    Some(_) => content.digest == own.digest,
                    None => {
                        own.fingerprint.is_some()
                            && (own.epoch, own.compared()) == (content.epoch, content.compared())
                    }
                })
            };
            let seen = seen[page.url.as_str()].iter().filter(|(_, content)| is_it(content));
            // Not before its first visit.
            let since =
                seen.map(|(time, _)| *time).min().map_or(i64::MAX, |t| t.max(page.first.as_ms()));
            SurtPage { page, place, since }
        };
        let pages = view.scan(None).enumerate().map(known).collect();
        let distance = |info: &EpochInfo| view.near_distance(info.epoch);
        let distances = view.epochs().iter().map(distance).collect();
        NaiveLeaders { pages, epochs: view.epochs().to_vec(), distances }
    }

    /// The pages, in SURT order.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter().map(|known| &known.page)
    }

    /// The compared contents of a page, the newest epoch first.
    fn compared<'a>(&self, own: &'a SurtPage) -> Vec<&'a Content> {
        let sought = |content: &&Content| {
            let info = &self.epochs[content.epoch.count() as usize];
            content.fingerprint.is_some() && info.role.finds_near() && !info.ended
        };
        let mut contents: Vec<&Content> = own.page.contents.iter().filter(sought).collect();
        contents.sort_by_key(|content| std::cmp::Reverse(content.epoch));
        contents
    }

    /// The near page that a page declares as canonical, if that page points to no other page.
    fn canonical(&self, own: &SurtPage) -> Option<&SurtPage> {
        let target = own.page.target.as_ref()?;
        let other = self.pages.iter().find(|known| known.page.url == *target)?;
        let contents = self.compared(own);
        let is_near = contents.iter().take(2).any(|content| {
            let unless = contents.first().filter(|newest| newest.epoch != content.epoch);
            self.distance(other, content, unless.copied()).is_some()
        });
        (is_near && other.page.target.is_none()).then_some(other)
    }

    /// The leader of a page, if it has one.
    pub fn leader(&self, url: &str) -> Option<&str> {
        let own = self.pages.iter().find(|known| known.page.url == url).unwrap();
        if let Some(canonical) = self.canonical(own) {
            return Some(&canonical.page.url);
        }
        let contents = self.compared(own);
        let earliest = |some: &[(u32, &SurtPage)]| {
            let some = some.iter().filter(|(_, known)| self.canonical(known).is_none());
            let places = some.map(|(_, known)| (known.since, known.place));
            places.min().map(|(_, place)| &self.pages[place])
        };
        let mut near = Vec::new();
        for content in contents.iter().take(2) {
            let unless = contents.first().filter(|newest| newest.epoch != content.epoch);
            let mut some: Vec<_> = self
                .pages
                .iter()
                .filter(|other| other.place != own.place)
                .filter_map(|other| Some((self.distance(other, content, unless.copied())?, other)))
                .collect();
            some.sort_by_key(|(distance, other)| (*distance, other.place));
            some.truncate(NEAREST + 1);
            let last = some.get(NEAREST).filter(|(distance, _)| *distance == 0);
            if last.is_some_and(|(_, last)| last.place < own.place) {
                return earliest(&some).map(|known| known.page.url.as_str());
            }
            near.extend(some);
        }
        near.sort_by_key(|(distance, other)| (*distance, other.place));
        near.truncate(NEAREST);
        let first = earliest(&near)?;
        let comes_first = (first.since, first.place) < (own.since, own.place);
        comes_first.then_some(first.page.url.as_str())
    }

    /// The distance to the content in force of another page, if that page is near.
    fn distance(&self, other: &SurtPage, from: &Content, unless: Option<&Content>) -> Option<u32> {
        let contents = &other.page.contents;
        let is_newer =
            |content: &Content| unless.is_some_and(|newest| newest.epoch == content.epoch);
        if contents.iter().any(|content| content.fingerprint.is_some() && is_newer(content)) {
            return None;
        }
        let own = contents.iter().find(|content| content.epoch == from.epoch)?.compared()?;
        let bits = (own ^ from.compared()?).count_ones();
        (bits <= self.distances[from.epoch.count() as usize]).then_some(bits)
    }
}
