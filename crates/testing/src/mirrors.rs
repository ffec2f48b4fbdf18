//! A web in which some sites mirror each other, and all others only look similar.

use simkeep::load::LoadOptions;
use simkeep::{Content, Epoch, Seen, Store, Visit};

use crate::histories::{VisitTimeline, histories};
use crate::{choice, ms};

const DAY: i64 = 86_400_000;

/// The lag of the mirror that lags, in milliseconds.
pub const LAG: i64 = 30 * DAY;

/// The number of pages of each mirrored site.
pub const PAGES: usize = 200;

/// The number of paths that the first pages of all hosts share.
const COMMON: usize = 25;

/// The mirrored sites, with their mirrors: the share of the site's paths that the mirror has, and
/// its lag in milliseconds.
pub const PLANTED: [(&str, &str, f64, i64); 4] = [
    ("first.example", "behind.example", 1.0, LAG),
    ("second.example", "header.example", 1.0, 3_600_000),
    ("third.example", "part.example", 0.4, DAY),
    ("fourth.example", "host7.example/pub/x", 1.0, DAY),
];

/// Loads a web of `hosts` hosts and about `pages` pages into a store, with fingerprints of this
/// epoch.
///
/// Half of the hosts have the same three parked pages, and all have `/` and `/about` with their own
/// texts. Their other pages are at the same paths on all hosts, or at paths of their own. If
/// histories of real pages are available, four sites have them, each with one mirror.
pub fn load(store: &Store, epoch: Epoch, hosts: usize, pages: usize) {
    let each = pages.saturating_sub(8 * PAGES) / hosts;
    let print = |host: usize, page: usize| choice(((host << 20) + page) as u64)(u64::MAX);
    let others = (0..hosts).flat_map(move |host| {
        let page = move |page: usize| {
            let parked = ["lander", "contact", "imprint"];
            let (path, print) = match page {
                0 => (String::new(), print(host, page)),
                1 => ("about".to_owned(), print(host, page)),
                2..5 if host % 2 == 0 => {
                    (parked[page - 2].to_owned(), print(usize::MAX >> 20, page))
                }
                _ if page < each / 2 => {
                    (format!("p/{}", page % COMMON + page / COMMON * 1000), print(host, page))
                }
                _ => (format!("{host}/{page}.html"), print(host, page)),
            };
            (format!("https://host{host}.example/{path}"), visit(DAY, print, epoch))
        };
        (0..each).map(page)
    });
    let planted = planted().into_iter().map(|(url, time, print)| (url, visit(time, print, epoch)));
    store.load(others.chain(planted).map(Ok), LoadOptions::default()).unwrap();
}

fn visit(time: i64, fingerprint: u64, epoch: Epoch) -> Visit {
    let content = Content { fingerprint: Some(fingerprint), digest: None, epoch };
    Visit::new(ms(time), Seen::Content(content))
}

/// The visits to the mirrored sites and to their mirrors: URLs, times and fingerprints.
fn planted() -> Vec<(String, i64, u64)> {
    let (all, _) = histories(PLANTED.len() * PAGES);
    let now = all.iter().filter_map(|history| history.last()).map(|last| last.0).max().unwrap();
    let mut visits = Vec::new();
    for ((site, mirror, share, lag), pages) in PLANTED.iter().zip(all.chunks(PAGES)) {
        for (number, history) in pages.iter().enumerate() {
            // The first pages are at paths that other hosts have, too.
            let path = match number {
                0 => String::new(),
                1 => "about".to_owned(),
                _ if number < COMMON => format!("p/{number}"),
                _ => format!("docs/{number}.html"),
            };
            let is_mirrored = ((number % 10) as f64) < share * 10.0;
            see(
                &format!("https://{site}/{path}"),
                history,
                now,
                |time, print| (time, print),
                &mut visits,
            );
            if is_mirrored {
                // A different page header changes up to two bits.
                let header = if *mirror == "header.example" { header(number) } else { 0 };
                let seen = |time, print| (time + lag, print ^ header);
                see(&format!("http://{mirror}/{path}"), history, now, seen, &mut visits);
            }
        }
    }
    visits
}

/// One or two bits.
fn header(page: usize) -> u64 {
    let mut choose = choice(page as u64);
    1 << choose(64) | 1 << choose(64)
}

fn see(
    url: &str,
    history: &VisitTimeline,
    now: i64,
    seen: impl Fn(i64, u64) -> (i64, u64),
    visits: &mut Vec<(String, i64, u64)>,
) {
    let all = history.iter().map(|(time, print)| seen(*time, *print));
    visits.extend(
        all.filter(|(time, _)| *time <= now).map(|(time, print)| (url.to_owned(), time, print)),
    );
}
