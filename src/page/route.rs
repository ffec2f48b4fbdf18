//! Routing of pages to the stores of a partitioned crawl.

use std::num::NonZeroU32;

use xxhash_rust::xxh3::xxh3_64;

use super::surt;

/// Returns the store of a page, counted from 0, if a crawl is partitioned among `stores` stores.
///
/// All pages of a host belong to the same store, whatever their scheme and port. The result depends
/// only on the URL and the number of stores, and never changes between versions. If stores are
/// added, each page stays where it was or moves to a new store. Each of n stores has about an n-th
/// of the hosts. All pages of a host are in one store, even if it has very many pages.
///
/// The host is hashed in the form that it has at the start of a SURT key. `format/surt.md` in the
/// repository defines this form, so other programs can compute the same result. The store is chosen
/// by jump consistent hashing: J. Lamping and E. Veach, "A fast, minimal memory, consistent hash
/// algorithm", 2014. Takes about ten nanoseconds for each doubling of the stores, plus the time to
/// read the host.
///
/// ```
/// use std::num::NonZeroU32;
///
/// let stores = NonZeroU32::new(4).unwrap();
/// let of = simkeep::route("https://example.com/a", stores);
/// assert!(of < 4);
/// assert_eq!(simkeep::route("http://EXAMPLE.com:8080/b?c", stores), of);
/// ```
#[must_use]
pub fn route(url: &str, stores: NonZeroU32) -> u32 {
    let mut host = Vec::new();
    surt::host(url, &mut host);
    jump(xxh3_64(surt::host_of(&host)), stores)
}

/// The bucket of a hash among `places` buckets. With one bucket more, the fair share of hashes
/// moves to the new bucket, and all other hashes stay.
#[expect(clippy::cast_possible_truncation, reason = "it is below the number of places")]
fn jump(hash: u64, places: NonZeroU32) -> u32 {
    let (mut state, mut place, mut next) = (hash, 0, 0_u64);
    while next < u64::from(places.get()) {
        place = next;
        state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
        // Divided by a pseudorandom number of 31 bits, between 0 and 1.
        next = ((place + 1) << 31) / ((state >> 33) + 1);
    }
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, stores: u32) -> u32 {
        route(url, NonZeroU32::new(stores).unwrap())
    }

    const GOLDEN: [(&str, [u32; 6]); 7] = [
        ("https://example.com/a", [0, 0, 2, 15, 182, 3_239_040_625]),
        ("HTTP://Www.Example.COM:8080/?q", [0, 1, 1, 7, 437, 2_746_151_059]),
        ("http://127.0.0.1/", [0, 0, 0, 0, 895, 17_873_638]),
        ("https://xn--bcher-kva.example/", [0, 1, 1, 9, 385, 1_323_296_257]),
        ("http://Bücher.example/", [0, 1, 1, 9, 385, 1_323_296_257]),
        ("urn:isbn:0451450523", [0, 0, 0, 5, 496, 3_936_356_999]),
        ("", [0, 0, 2, 2, 436, 1_000_669_109]),
    ];

    /// Other programs rely on these routes, which another program computed from `format/surt.md`.
    #[test]
    fn routes_never_change() {
        for (url, of_stores) in GOLDEN {
            assert_eq!(
                [1, 2, 3, 16, 1000, u32::MAX].map(|stores| of(url, stores)),
                of_stores,
                "{url}"
            );
        }
    }

    #[test]
    fn page_moves_only_to_new_stores_and_evenly() {
        let mut counts = [0; 16];
        for host in 0..20_000 {
            let url = format!("https://h{host}.example/");
            let places: Vec<u32> = (1..=16).map(|stores| of(&url, stores)).collect();
            for (new, places) in (1..).zip(places.windows(2)) {
                assert!(places[1] == places[0] || places[1] == new, "{url}: {places:?}");
            }
            counts[places[15] as usize] += 1;
        }
        assert!(counts.iter().all(|count| (1_100..1_400).contains(count)), "{counts:?}");
    }
}
