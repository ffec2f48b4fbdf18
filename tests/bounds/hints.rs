//! Sitemaps beyond the allowed size, and hints for very many pages.

use std::io::{self, Read, Write};
use std::time::Instant;

use simkeep::disk::SimDisk;
use simkeep::due::Hints;
use simkeep_formats::{ZstdWindow, hints};
use simkeep_testing::allocator::{lock_measurement, peak_allocated_bytes};
use simkeep_testing::{create, ms, small};

/// A sitemap that is generated while it is read.
struct GeneratedSitemap {
    records: std::ops::Range<u64>,
    ready: Vec<u8>,
    taken: usize,
    ended: bool,
}

const START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

fn sitemap(records: u64) -> GeneratedSitemap {
    GeneratedSitemap { records: 0..records, ready: START.into(), taken: 0, ended: false }
}

impl Read for GeneratedSitemap {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() && !self.ended {
            self.ready.clear();
            self.taken = 0;
            for n in self.records.by_ref().take(1000) {
                writeln!(
                    self.ready,
                    "  <url>\n    <loc>https://host{}.example/section/page-{n}?a=1&amp;b=2</loc>\n    \
                     <lastmod>20{:02}-11-02T08:00:00+00:00</lastmod>\n    \
                     <changefreq>daily</changefreq>\n    <priority>0.8</priority>\n  </url>",
                    n / 1000,
                    n % 100
                )?;
            }
            self.ended = self.ready.is_empty();
            if self.ended {
                self.ready.extend(b"</urlset>\n");
            }
        }
        let count = (&self.ready[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

/// Reads a sitemap of `records` records and returns the peak memory in bytes.
fn read(records: u64) -> usize {
    let since = Instant::now();
    let ((found, first), bytes) = peak_allocated_bytes(|| {
        let hints = hints::read("test", Box::new(sitemap(records)), ZstdWindow::default()).unwrap();
        let mut hints = hints.map(Result::unwrap);
        let first = hints.next().unwrap().url;
        (hints.count() as u64 + 1, first)
    });
    eprintln!("{records} records: {:?}, {} KiB", since.elapsed(), bytes >> 10);
    assert_eq!((found, first.as_str()), (records, "https://host0.example/section/page-0?a=1&b=2"));
    bytes
}

#[test]
fn sitemap_of_any_size_is_read_in_constant_memory() {
    let _alone = lock_measurement();
    let (small, large) = (read(2_000), read(200_000));
    assert!(large < 2 << 20, "{large}");
    assert!(large < small + (64 << 10), "{small} {large}");
}

#[test]
#[ignore = "takes a minute"]
fn sitemap_of_a_gigabyte_is_read_in_constant_memory() {
    let _alone = lock_measurement();
    let mut sitemap = sitemap(6_000_000);
    assert!(io::copy(&mut sitemap, &mut io::sink()).unwrap() > 1 << 30);
    let bytes = read(6_000_000);
    assert!(bytes < 2 << 20, "{bytes}");
}

#[test]
fn hints_take_few_bytes_each_and_duplicates_none() {
    const PAGES: u64 = 1_000_000;
    let _alone = lock_measurement();
    let store = create(&SimDisk::new(), small());
    let url = |n: u64| format!("https://host{}.example/page-{n}", n / 1000);
    let changes = (0..PAGES).map(|n| (url(n), ms(n.cast_signed())));
    let (hints, bytes) = peak_allocated_bytes(|| Hints::of(&store.snapshot(), changes).unwrap());
    eprintln!("{} bytes for a change, while they are sorted", bytes as u64 / PAGES);
    assert!(bytes < 50 * 1_000_000, "{bytes}");
    assert_eq!(hints.changed_after(&url(PAGES - 1), ms(-1), ms(2_000_000)), Some(ms(999_000)));

    let changes = (0..PAGES).map(|n| (url(n % 1000), ms(1)));
    let (_, bytes) = peak_allocated_bytes(|| Hints::of(&store.snapshot(), changes).unwrap());
    assert!(bytes < 200 << 10, "{bytes}");
}
