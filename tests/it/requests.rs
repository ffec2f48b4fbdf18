//! Compares surveys of requests with a naive fold over random visits.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use simkeep::disk::SimDisk;
use simkeep::inspect::{Bodies, RequestCounts, RequestSurvey};
use simkeep::{Digest, Epoch, Observation, Prefix, Progress, Scope, Snapshot, Store};
use simkeep_testing::depth::up_to;
use simkeep_testing::{choice, create, digest, ms, small};

/// The hosts in SURT order, with their domains.
const HOSTS: [&str; 3] = ["example.com", "docs.example.com", "example.org"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerAnswer {
    Content(Option<Digest>),
    Redirect,
    NotModified,
    Gone,
    Failed,
}

/// A visit of the test.
#[derive(Clone, Debug)]
struct SurveyedVisit {
    url: String,
    host: usize,
    time: i64,
    answer: ServerAnswer,
    bytes: Option<u64>,
    modified: Option<i64>,
    conditional: bool,
}

impl SurveyedVisit {
    fn random(choose: &mut impl FnMut(u64) -> u64, time: i64) -> SurveyedVisit {
        let host = choose(3) as usize;
        let answer = match choose(12) {
            0 => ServerAnswer::Redirect,
            1 | 2 => ServerAnswer::NotModified,
            3 => ServerAnswer::Gone,
            4 => ServerAnswer::Failed,
            5 => ServerAnswer::Content(None),
            _ => ServerAnswer::Content(Some(digest(choose(4) as u8))),
        };
        // Most redirects and "not modified" responses have no body.
        let has_body = matches!(answer, ServerAnswer::Content(_));
        SurveyedVisit {
            url: format!("https://{}/{}", HOSTS[host], choose(3)),
            host,
            time,
            answer,
            bytes: (has_body && choose(3) > 0).then(|| choose(5) * 1000),
            modified: (choose(2) > 0).then(|| time - choose(9) as i64 * 1000),
            conditional: choose(2) > 0,
        }
    }

    fn observation(&self) -> Observation<'_> {
        let (url, time) = (self.url.as_str(), ms(self.time));
        let mut seen = match self.answer {
            ServerAnswer::Content(digest) => {
                // Some contents have no fingerprint.
                let fingerprint = digest.map(|digest| u64::from(digest.0[0])).filter(|n| n % 2 > 0);
                let seen = Observation::content(url, time, fingerprint, Epoch::from_number(0));
                digest.into_iter().fold(seen, Observation::digest)
            }
            ServerAnswer::Redirect => Observation::redirect(url, time, "/to"),
            ServerAnswer::NotModified => Observation::not_modified(url, time),
            ServerAnswer::Gone => Observation::gone(url, time),
            ServerAnswer::Failed => Observation::failed(url, time),
        };
        seen = self.bytes.into_iter().fold(seen, Observation::bytes);
        seen = self.modified.into_iter().fold(seen, |seen, at| seen.modified(ms(at)));
        if self.conditional { seen.conditional() } else { seen }
    }
}

fn add(to: &mut Bodies, bytes: Option<u64>) {
    to.count += 1;
    to.bytes += bytes.unwrap_or(0);
    to.unknown += u64::from(bytes.is_none());
}

/// The digest, length and date of the content that a page has before a visit; none if there is none.
fn before(
    visits: &[SurveyedVisit],
    at: usize,
) -> Option<(Option<Digest>, Option<u64>, Option<i64>)> {
    let earlier = visits.iter().filter(|v| v.url == visits[at].url && v.time < visits[at].time);
    let earlier: Vec<&SurveyedVisit> =
        earlier.filter(|v| v.answer != ServerAnswer::Failed).collect();
    let last = earlier.iter().rposition(|v| v.answer != ServerAnswer::NotModified)?;
    let ServerAnswer::Content(digest) = earlier[last].answer else { return None };
    let is_same = |v: &&&SurveyedVisit| {
        v.answer == ServerAnswer::NotModified
            || (digest.is_some() && v.answer == ServerAnswer::Content(digest))
    };
    // The length may be known from an earlier visit with the same content.
    let same = earlier[..last].iter().rev().take_while(is_same);
    let bytes = std::iter::once(&earlier[last]).chain(same).find_map(|v| v.bytes);
    let modified = earlier[last..].iter().rev().find_map(|v| v.modified);
    Some((digest, bytes, modified))
}

/// The counts of each host. The visits are in order of time.
fn naive(visits: &[SurveyedVisit], copies: bool) -> BTreeMap<String, RequestCounts> {
    let mut hosts = BTreeMap::<String, RequestCounts>::new();
    let mut captures = BTreeSet::new();
    for (at, visit) in visits.iter().enumerate() {
        let counts = hosts.entry(HOSTS[visit.host].to_owned()).or_default();
        let before = before(visits, at);
        counts.requests += 1;
        counts.conditional +=
            u64::from(visit.conditional || visit.answer == ServerAnswer::NotModified);
        match visit.answer {
            ServerAnswer::NotModified => {
                add(&mut counts.not_modified, before.and_then(|(_, bytes, _)| bytes));
            }
            ServerAnswer::Content(digest) => {
                let is_new = digest.is_none_or(|digest| captures.insert(digest));
                let same = before.filter(|(before, ..)| digest.is_some() && *before == digest);
                // Equal bodies have equal lengths.
                let bytes = visit.bytes.or(same.and_then(|(_, bytes, _)| bytes));
                add(&mut counts.transferred, bytes);
                match same {
                    Some((_, _, modified)) => {
                        add(&mut counts.unchanged, bytes);
                        counts.conditional_unchanged += u64::from(visit.conditional);
                        let dates = modified.zip(visit.modified);
                        counts.unchanged_dated += u64::from(dates.is_some());
                        counts.unchanged_redated +=
                            u64::from(dates.is_some_and(|(old, new)| new > old));
                    }
                    None if !is_new && copies => add(&mut counts.copies, visit.bytes),
                    None => {}
                }
            }
            ServerAnswer::Redirect | ServerAnswer::Gone | ServerAnswer::Failed => {}
        }
    }
    hosts
}

fn surveyed(snapshot: &Snapshot, survey: &RequestSurvey) -> BTreeMap<String, RequestCounts> {
    let mut hosts = BTreeMap::new();
    let each = |host: simkeep::inspect::HostRequests| {
        assert!(hosts.insert(host.host, host.counts).is_none(), "a host is passed once");
        ControlFlow::Continue(())
    };
    survey.run(snapshot, &Progress::default(), each).unwrap();
    hosts
}

fn check(store: &Store, visits: &[SurveyedVisit]) {
    let snapshot = store.snapshot();
    for copies in [false, true] {
        let survey = RequestSurvey::default().copies(copies);
        let expected = naive(visits, copies);
        assert_eq!(surveyed(&snapshot, &survey), expected);
        let mut totals = RequestCounts::default();
        expected.values().for_each(|counts| totals += *counts);
        assert_eq!(survey.totals(&snapshot, &Progress::default()).unwrap(), totals);
        // A prefix is surveyed as if there were no other pages.
        let under = survey.under(Prefix::parse("example.com").unwrap());
        let within = visits.iter().filter(|v| v.host < 2).cloned().collect::<Vec<_>>();
        assert_eq!(surveyed(&snapshot, &under), naive(&within, copies));
    }
}

#[test]
fn survey_agrees_with_a_naive_fold() {
    for seed in 0..up_to(40_u64).max(4) {
        let mut choose = choice(seed);
        let store = create(&SimDisk::new(), small());
        let mut visits: Vec<SurveyedVisit> = Vec::new();
        for number in 0..90 {
            let visit = SurveyedVisit::random(&mut choose, 1_000_000 + number * 1000);
            store.observe(visit.observation()).unwrap();
            visits.push(visit);
            match choose(30) {
                0 => store.seal().unwrap(),
                1 => drop(store.merge(&Progress::default()).unwrap()),
                _ => {}
            }
        }
        check(&store, &visits);
        // A purge takes the figures of its pages along.
        let purged = choose(3) as usize;
        for page in 0..3 {
            let url = format!("https://{}/{page}", HOSTS[purged]);
            store.purge(Scope::Url(&url), &Progress::default()).unwrap();
        }
        visits.retain(|visit| visit.host != purged);
        check(&store, &visits);
    }
}

#[test]
fn survey_ends_when_its_caller_breaks() {
    let store = create(&SimDisk::new(), small());
    for host in HOSTS {
        let url = format!("https://{host}/");
        store.observe(Observation::failed(&url, ms(1_000))).unwrap();
    }
    for copies in [false, true] {
        let mut hosts = Vec::new();
        let survey = RequestSurvey::default().copies(copies);
        let each = |host: simkeep::inspect::HostRequests| {
            hosts.push(host.host);
            if hosts.len() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        survey.run(&store.snapshot(), &Progress::default(), each).unwrap();
        assert_eq!(hosts, HOSTS[..2]);
    }
}

#[test]
fn lengths_of_any_size_are_added() {
    let store = create(&SimDisk::new(), small());
    for time in [1_000, 2_000] {
        let seen = Observation::content("http://a/", ms(time), 7, Epoch::from_number(0));
        store.observe(seen.bytes(u64::MAX)).unwrap();
    }
    let counts = RequestSurvey::default().totals(&store.snapshot(), &Progress::default()).unwrap();
    assert_eq!((counts.transferred.count, counts.transferred.bytes), (2, u64::MAX));
}

/// An archive's record that repeats an unknown original has the status of a whole response.
#[test]
fn revisit_of_an_unknown_original_is_no_304() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let url = "https://a.example/";
    store.observe(Observation::not_modified(url, ms(1)).status(200)).unwrap();
    store.observe(Observation::not_modified(url, ms(2)).status(304)).unwrap();
    let counts = RequestSurvey::default();
    let counts = counts.totals(&store.snapshot(), &Progress::default()).unwrap();
    assert_eq!((counts.requests, counts.conditional), (2, 1));
    assert_eq!((counts.not_modified.count, counts.unchanged.count), (1, 1));
    assert_eq!((counts.transferred.count, counts.conditional_unchanged), (1, 0));
}
