//! Unusual URLs, times, epochs and options: accepted if possible, otherwise refused as a whole.

use simkeep::disk::SimDisk;
use simkeep::{
    Epoch, Error, Observation, Prefix, Progress, PropertyUpdate, Query, Role, Scope, Store,
    TimeError, URL_BYTES_MAX, UrlError,
};
use simkeep_testing::compare::check_store;
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{EPOCHS, TIME_MAX, TIME_MIN, create, ms, names, on, open, small, sound};

/// Expects the observation to be refused alone and within a batch; nothing of the batch is stored.
fn expect_refused(observation: Observation<'_>, is_expected: impl Fn(&Error) -> bool) {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let sound = Observation::content(URLS[0], ms(1), 1, Epoch::from_number(0));
    let batch = [sound, observation, Observation::of(URLS[1], sound.visit)];
    for refused in [store.observe(observation).map(drop), store.observe_batch(&batch).map(drop)] {
        match refused {
            Err(error) => assert!(is_expected(&error), "{error}"),
            Ok(()) => panic!("{observation:?} was accepted"),
        }
    }
    check_store(&store, &Model::default());
    // It does not harm later operations.
    store.observe(sound).unwrap();
    store.close().unwrap();
    let mut model = Model::default();
    model.observe(&sound, 3);
    check_store(&open(&disk, small()), &model);
}

#[test]
fn a_url_of_two_megabytes_is_refused() {
    let url = format!("https://example.com/{}", "x".repeat(2 << 20));
    expect_refused(
        Observation::gone(&url, ms(0)),
        |e| matches!(e, Error::Url(UrlError::TooLong { bytes }) if *bytes == url.len()),
    );
    let disk = SimDisk::new();
    let store = create(&disk, small());
    assert!(matches!(store.history(&url), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(store.snapshot().latest(&url), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(store.as_of(&url, ms(0)), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(store.forget(Scope::Url(&url)), Err(Error::Url(UrlError::TooLong { .. }))));
    assert!(matches!(
        store.purge(Scope::Url(&url), &Progress::default()),
        Err(Error::Url(UrlError::TooLong { .. }))
    ));
    assert!(Prefix::parse(&url).is_err());
}

#[test]
fn longest_url_works_in_memory_and_in_a_segment() {
    let url = format!("https://example.com/{}", "x".repeat(URL_BYTES_MAX - 20));
    assert_eq!(url.len(), URL_BYTES_MAX);
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for time in 0..3 {
        store.observe(Observation::content(&url, ms(time), 1, Epoch::from_number(0))).unwrap();
        store.observe(Observation::content(URLS[0], ms(time), 1, Epoch::from_number(0))).unwrap();
        assert_eq!(store.history(&url).unwrap().len(), usize::try_from(time).unwrap() + 1);
        store.seal().unwrap();
    }
    store.merge(&Progress::default()).unwrap();
    sound(&store).unwrap();
    assert_eq!(
        store.snapshot().search(&Query::new(1, 0).epoch(Epoch::from_number(0))).unwrap().near.len(),
        2
    );
    drop(store);
    assert_eq!(open(&disk, small()).history(&url).unwrap().len(), 3);
    let longer = format!("{url}x");
    expect_refused(Observation::gone(&longer, ms(0)), |e| matches!(e, Error::Url(_)));
}

#[test]
fn an_empty_url_is_refused() {
    let is_expected = |e: &Error| matches!(e, Error::Url(UrlError::Empty));
    expect_refused(Observation::gone("", ms(0)), is_expected);
    let store = create(&SimDisk::new(), small());
    assert!(is_expected(&store.history("").unwrap_err()));
    assert!(is_expected(&store.forget(Scope::Url("")).unwrap_err()));
}

#[test]
fn a_url_with_control_characters_is_refused() {
    for control in ["\0", "\n", "\r", "\t", "\u{1b}[31m", "\u{7f}", "\u{85}"] {
        let url = format!("https://example.com/{control}");
        expect_refused(Observation::gone(&url, ms(0)), |e| {
            assert!(!e.to_string().contains(control), "the error repeats it");
            matches!(e, Error::Url(UrlError::Control { offset: 20 }))
        });
    }
}

#[test]
fn non_web_urls_are_stored_like_others() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let odd =
        ["x", " ", "http://", "http:///x", "://", "é", "http://[::1]:80/", "a@b", "http://a..b/"];
    for (time, url) in (0..).zip(odd) {
        store.observe(Observation::content(url, ms(time), 1, Epoch::from_number(0))).unwrap();
    }
    for merged in [false, true] {
        assert_eq!(store.stats().unwrap().pages, odd.len() as u64);
        for (time, url) in (0..).zip(odd) {
            assert_eq!(
                store.snapshot().latest(url).unwrap().unwrap().first,
                ms(time),
                "{url}, {merged}"
            );
        }
        assert_eq!(store.snapshot().scan(None).count(), odd.len());
        store.seal().unwrap();
        sound(&store).unwrap();
    }
}

#[test]
fn times_before_1970_are_stored() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let times = [TIME_MIN, -1_000_000_000_000, -1, 0, TIME_MAX];
    for (fingerprint, time) in (0..).zip(times) {
        store
            .observe(Observation::content(URLS[0], ms(time), fingerprint, Epoch::from_number(0)))
            .unwrap();
        store.seal().unwrap();
    }
    store.merge(&Progress::default()).unwrap();
    drop(store);
    let store = open(&disk, small());
    let history = store.history(URLS[0]).unwrap();
    assert!(history.iter().map(|e| e.entry().time()).eq(times.map(ms)));
    for (fingerprint, time) in (0..).zip(times) {
        let visit = store.as_of(URLS[0], ms(time)).unwrap().unwrap();
        assert_eq!(visit.seen.content().unwrap().fingerprint, Some(fingerprint));
    }
    assert_eq!(store.as_of(URLS[0], ms(i64::MIN)).unwrap(), None);
    assert_eq!(store.as_of(URLS[0], ms(i64::MAX)).unwrap().unwrap().time, ms(TIME_MAX));
    assert_eq!(store.as_of(URLS[0], ms(-2)).unwrap().unwrap().time, ms(-1_000_000_000_000));
}

#[test]
fn times_outside_the_years_1_to_9999_are_refused() {
    for time in [TIME_MIN - 1, TIME_MAX + 1, i64::MIN + 1, i64::MAX] {
        expect_refused(
            Observation::gone(URLS[0], ms(time)),
            |e| matches!(e, Error::Time(TimeError::OutOfRange(t)) if *t == time),
        );
    }
}

#[test]
fn modified_outside_the_years_1_to_9999_is_refused() {
    for modified in [TIME_MIN - 1, TIME_MAX + 1, i64::MIN + 1, i64::MAX] {
        expect_refused(
            Observation::not_modified(URLS[0], ms(0)).modified(ms(modified)),
            |e| matches!(e, Error::Time(TimeError::OutOfRange(t)) if *t == modified),
        );
    }
}

#[test]
fn weight_must_be_finite_and_positive() {
    for weight in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0] {
        let is_named = |e: &Error| matches!(e, Error::InvalidOption { name: "weight", .. });
        expect_refused(Observation::gone(URLS[0], ms(1)).weight(weight), is_named);
        let store = create(&SimDisk::new(), small());
        store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
        let refused =
            store.set_property(PropertyUpdate::weight(URLS[0], ms(1), weight)).unwrap_err();
        assert!(is_named(&refused), "{refused}");
    }
}

#[test]
fn unregistered_epoch_is_refused() {
    expect_refused(Observation::content(URLS[0], ms(0), 0, Epoch::from_number(2)), |e| {
        matches!(e, Error::UnknownEpoch(2))
    });
    expect_refused(Observation::content(URLS[0], ms(0), 0, Epoch::from_number(u32::MAX)), |e| {
        matches!(e, Error::UnknownEpoch(u32::MAX))
    });
}

#[test]
fn invalid_epoch_names_and_options_are_refused() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for name in ["", "a\nb", &"x".repeat(10_000)] {
        assert!(
            matches!(store.register_epoch(name, Role::Both), Err(Error::InvalidArgument(_))),
            "{name:?}"
        );
    }
    assert_eq!(store.register_epoch(EPOCHS[0], Role::Both).unwrap(), Epoch::from_number(0));
    assert_eq!(names(store.snapshot().epochs()), EPOCHS);
    for options in [
        small().merge_fanout(1),
        small().memtable_observations(0),
        small().near_distance(Some(65)),
        small().epoch(String::new()),
    ] {
        let made = Store::create(on(&SimDisk::new()), options.clone());
        assert!(
            matches!(made, Err(Error::InvalidOption { .. } | Error::InvalidArgument(_))),
            "{options:?}"
        );
    }
}
