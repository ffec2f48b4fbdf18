//! Clusters of pages with similar texts, compared with a plain loop.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::collections::BTreeMap;

use simkeep::cluster::{Candidacy, Candidates, Clustering, PageLocation, Ranking, RankingRule};
use simkeep::disk::SimDisk;
use simkeep::fingerprint::BitSketch;
use simkeep::{Digest, Error, Observation, Options, Progress, Store};
use simkeep_testing::clusters::{MemberPage, NaiveClusters, RankCandidate, known};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, ms, small};

/// A page, with the sketch of its text, if it has one.
struct SketchedPage {
    url: String,
    time: i64,
    fingerprint: Option<u64>,
    /// Only for content without a fingerprint.
    digest: Option<Digest>,
    sketch: Option<BitSketch>,
}

/// Random bytes near one of a few centres.
fn near(bytes: usize, centres: u64, flips: u64, choose: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut of_centre = choice(choose(centres));
    let mut all: Vec<u8> = (0..bytes).map(|_| of_centre(256).to_le_bytes()[0]).collect();
    for _ in 0..choose(flips + 1) {
        let bit = choose(8 * bytes as u64) as usize;
        all[bit / 8] ^= 1 << (bit % 8);
    }
    all
}

fn draw(n: u64, choose: &mut impl FnMut(u64) -> u64) -> SketchedPage {
    let (bits, flips) = (near(8, 4, 8, choose), [10, 60, 120][choose(3) as usize]);
    let sketch = near(64, 3, flips, choose).try_into().unwrap();
    let is_bare = choose(8) == 0;
    SketchedPage {
        url: format!("http{}://h{}.example/{n:03}", ["", "s"][choose(2) as usize], choose(5)),
        time: choose(20) as i64,
        fingerprint: (!is_bare).then(|| u64::from_le_bytes(bits.try_into().unwrap())),
        digest: is_bare.then(|| Digest([choose(4) as u8; 16])),
        sketch: (choose(10) > 0 && !is_bare).then(|| BitSketch::from_bytes(sketch)),
    }
}

fn store(pages: &[SketchedPage]) -> Store {
    let store = create(&SimDisk::new(), small());
    let epoch = store.change_epoch();
    for page in pages {
        let seen = Observation::content(&page.url, ms(page.time), page.fingerprint, epoch);
        store.observe(page.digest.map_or(seen, |digest| seen.digest(digest))).unwrap();
    }
    store
}

#[test]
fn random_texts_cluster_like_a_plain_loop() {
    for seed in 0..deep(400) {
        let mut choose = choice(seed);
        let pages: Vec<SketchedPage> = (0..choose(200)).map(|n| draw(n, &mut choose)).collect();
        let store = store(&pages);
        let snapshot = store.snapshot();
        let k = [0, 3, 8, 10, 20, 64][choose(6) as usize];
        let rules = [&[RankingRule::FirstSeen][..], &[RankingRule::Https, RankingRule::Newest]]
            [choose(2) as usize];
        let apart_max = [0, 20, 51, 100, 256][choose(5) as usize];
        let resemblance = 1.0 - f64::from(apart_max) / 256.0;
        let asked = Clustering::within(k).rule(rules.iter().copied().collect::<Ranking>());
        let progress = Progress::default();
        let candidates =
            Candidates::of(&snapshot, &asked.memory_bytes(1 << 20), &progress).unwrap();
        let sketches: BTreeMap<&str, BitSketch> =
            pages.iter().filter_map(|page| Some((&page.url[..], page.sketch?))).collect();
        let mut wanted = 0;
        // In another order than in the store.
        for (url, sketch) in sketches.iter().rev() {
            if let Candidacy::Candidate { location: place, .. } = candidates.candidacy(url).unwrap()
            {
                candidates.add(place, *sketch).unwrap();
            }
        }
        for page in &pages {
            let is_near = |other: &&SketchedPage| {
                let both = other.fingerprint.zip(page.fingerprint);
                let is_within = both.is_some_and(|(one, other)| (one ^ other).count_ones() <= k);
                other.url != page.url && is_within
            };
            let is_wanted = pages.iter().find(is_near).is_some();
            wanted += u32::from(is_wanted);
            let found = candidates.candidacy(&page.url).unwrap();
            let is_found = matches!(found, Candidacy::Candidate { .. });
            assert_eq!(is_found, is_wanted, "seed {seed}: {found:?}");
        }
        assert_eq!(candidates.len(), wanted);
        assert_eq!(candidates.candidacy("http://nobody.example/").unwrap(), Candidacy::Unknown);
        let clusters = candidates.clusters(resemblance, &progress).unwrap();
        let apart = |leader: &RankCandidate, page: &RankCandidate| {
            let distance = leader.distance(page)?;
            if page.fingerprint.is_none() {
                return Some(distance);
            }
            let [one, other] = [leader, page].map(|of| sketches.get(&of.url[..]));
            let apart = one?.distance(other?);
            (distance <= k && apart <= apart_max).then_some(apart)
        };
        let expected =
            NaiveClusters::by(known(&snapshot, store.change_epoch(), None), rules, apart, |page| {
                page.url.clone()
            });
        let listed: Vec<_> = clusters.by_page(1).unwrap().collect::<Result<_, _>>().unwrap();
        let found: Vec<MemberPage> = listed.iter().map(MemberPage::from).collect();
        assert_eq!(found, expected.by_page(), "seed {seed}, k = {k}, {apart_max} bits");
        super::dropped::check(&snapshot, &clusters, &found);
        for page in listed {
            let both = [&page.url, &page.leader].map(|url| sketches.get(&url[..]));
            let expected = match (page.is_leader(), both) {
                (false, [Some(one), Some(other)]) => Some(one.resemblance(other)),
                _ => None,
            };
            assert_eq!(page.resemblance, expected);
            assert!(expected.is_none_or(|of| of >= resemblance));
        }
    }
}

#[test]
fn sketch_counts_for_unread_pages_of_its_digest() {
    let store = create(&SimDisk::new(), Options::default());
    let epoch = store.change_epoch();
    for (url, time, bits, digest) in
        [("a", 1, 7, 1), ("b", 2, 7, 1), ("c", 3, 6, 2), ("x", 1, !7, 3), ("y", 2, !7, 4)]
    {
        let seen = Observation::content(url, ms(time), bits, epoch).digest(Digest([digest; 16]));
        store.observe(seen).unwrap();
    }
    let progress = Progress::default();
    let leaders = |read: &[(&str, u8)]| {
        let candidates =
            Candidates::of(&store.snapshot(), &Clustering::within(3), &progress).unwrap();
        for (url, byte) in read {
            let Candidacy::Candidate { location, .. } = candidates.candidacy(url).unwrap() else {
                panic!("{url} is none");
            };
            candidates.add(location, BitSketch::from_bytes([*byte; 64])).unwrap();
        }
        let uncompared = candidates.uncompared().unwrap();
        let clusters = candidates.clusters(0.9, &progress).unwrap();
        let pages = clusters.by_page(1).unwrap().map(|page| page.unwrap().leader.to_string());
        (pages.collect::<String>(), uncompared)
    };
    assert_eq!(leaders(&[]), ("abcxy".to_owned(), 0));
    // `a` has the text of `b`, and `x` has another text than `y`.
    assert_eq!(leaders(&[("b", 5), ("c", 5), ("y", 5)]), ("aaaxy".to_owned(), 1));
    assert_eq!(leaders(&[("c", 5)]), ("abcxy".to_owned(), 1));
    // `a` was read, and has no text to compare.
    assert_eq!(leaders(&[("a", 0), ("b", 5), ("c", 5)]), ("abbxy".to_owned(), 0));
    assert_eq!(leaders(&[("a", 0), ("a", 5), ("b", 5)]), ("aacxy".to_owned(), 0));
}

#[test]
fn candidate_names_the_text_it_needs() {
    let store = create(&SimDisk::new(), Options::default());
    let epoch = store.change_epoch();
    let digests = [1, 2].map(|n| Digest([n; 16]));
    for (url, time, digest) in [("a", 1, 0), ("b", 1, 0), ("b", 2, 1)] {
        let seen = Observation::content(url, ms(time), 7, epoch).digest(digests[digest]);
        store.observe(seen).unwrap();
    }
    let progress = Progress::default();
    let candidates = Candidates::of(&store.snapshot(), &Clustering::within(3), &progress).unwrap();
    let places = [("a", digests[0]), ("b", digests[1])].map(|(url, expected)| {
        let Candidacy::Candidate { digest, location: place } = candidates.candidacy(url).unwrap()
        else {
            panic!("{url} is none");
        };
        assert_eq!(digest, Some(expected));
        place
    });
    // It is unknown which of two texts of a page is in force, in whatever order they come.
    let sketches = [1, 2].map(|n| BitSketch::from_bytes([n; 64]));
    for (page, sketch) in [(0, 0), (1, 0), (1, 1), (0, 0)] {
        candidates.add(places[page], sketches[sketch]).unwrap();
    }
    let refused = candidates.add(PageLocation::from_bits(u64::MAX), BitSketch::default());
    assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
    assert!(candidates.candidacy("no\u{7f}url").is_err());
    assert_eq!(candidates.clusters(0.0, &progress).unwrap().len(), 2);
    for share in [-0.1, 1.1, f64::NAN] {
        let candidates =
            Candidates::of(&store.snapshot(), &Clustering::within(3), &progress).unwrap();
        let refused = candidates.clusters(share, &progress);
        assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
    }
}
