//! Adds URLs that were found and that nobody has visited yet.

use std::ffi::c_char;

use simkeep::{Found, Store};

use crate::abi::{self, plain};
use crate::argument;
use crate::call::done;
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};

/// A URL that was found, usually in a link. Set all fields to 0, then set the required fields.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FoundLink {
    /// The URL. Read only during a call.
    pub url: *const c_char,
    /// The length of `url` in bytes.
    pub url_len: usize,
    /// The time at which the URL was found, in milliseconds since 1970. The store keeps whole seconds.
    pub time_ms: i64,
    /// The factor of the value of a first visit: finite and positive; 0 for 1.
    pub weight: f64,
    /// The page with the link; NULL if unknown. A link from a page to itself is not stored. Read only
    /// during a call.
    pub from: *const c_char,
    /// The length of `from` in bytes.
    pub from_len: usize,
}

plain!(FoundLink, up to from_len);

impl FoundLink {
    /// Converts to the crate's found URL.
    fn found<'a>(&self) -> Result<Found<'a>> {
        let url = abi::text(self.url, self.url_len, "url")?;
        let mut found = Found::new(url, argument::time(self.time_ms)?);
        if self.weight != 0.0 {
            found = found.weight(self.weight);
        }
        let from = abi::optional_text(self.from, self.from_len, "from")?;
        Ok(if let Some(page) = from { found.from(page) } else { found })
    }
}

/// Adds URLs that were found, usually in links, and that nobody has visited yet. They wait for a
/// first visit: `simkeep_snapshot_due` and `simkeep_lease_due` return them among the pages, with
/// `SIMKEEP_REASON_FOUND`. The URL of a page, also of a page that is gone, is not brought back by a
/// link. A forgotten URL waits again when it is found again.
///
/// If one element is invalid, no URL is stored, and `simkeep_error_row` is its index. `size` is the
/// `sizeof` of an element. `written` receives the number of elements that were written, and may be
/// NULL; repetitions of recent elements, and links of a page to itself, are not written. The call
/// does not check whether URLs are known. Any thread. Costs a write of some 60 bytes for each
/// written element, and a commit.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_discover(
    store: *mut StoreHandle,
    links: *const FoundLink,
    count: usize,
    size: usize,
    written: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_discover", error, || {
        let number = discover(open(store)?, &abi::structures(links, count, size, "links")?)?;
        if written.is_null() { Ok(()) } else { abi::put(written, number, "written") }
    })
}

/// Adds found URLs, and returns the number of those that were written.
fn discover(store: &Store, links: &[FoundLink]) -> Result<u64> {
    let one = |(row, link): (usize, &FoundLink)| link.found().map_err(|failure| failure.at(row));
    let found = links.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
    match store.discover(&found) {
        Ok(discovered) => Ok(discovered.written),
        Err(error) => {
            let wrong = found.iter().position(|found| found.check().is_err());
            let failure = Failure::from(error);
            Err(if let Some(row) = wrong { failure.at(row) } else { failure })
        }
    }
}
