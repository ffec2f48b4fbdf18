//! Reports of found URLs.

use simkeep::Found;

use crate::ms;
use crate::pages::URLS;

/// A link to a page of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub url: &'static str,
    /// The time of the report, in milliseconds.
    pub time: i64,
    /// The weight, which a store keeps exactly.
    pub weight: u8,
}

impl Link {
    /// Returns a link to one of the first `pages` pages.
    pub fn choose(choice: &mut impl FnMut(u64) -> u64, pages: u64, time: i64) -> Link {
        let page = usize::try_from(choice(pages)).unwrap();
        let weight = u8::try_from(1 + choice(3)).unwrap();
        Link { url: URLS[page], time, weight }
    }

    pub fn found(&self) -> Found<'static> {
        Found::new(self.url, ms(self.time)).weight(f64::from(self.weight))
    }
}
