//! `epoch`: fingerprints are made in another way from some day on.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead as _, BufReader};

use simkeep::fingerprint::{Fingerprinter, Recipe};
use simkeep::query::StalePages;
use simkeep::verify::VerifyOptions;
use simkeep::{
    Durability, Epoch, HistoryEntry, Observation, Origin, Progress, RestateOutcome, Restatement,
    Role, SameBy, Verdict,
};
use simkeep_testing::{ms, real_data_path};

use super::*;

/// A page of some sentences, with another last one.
fn text(page: usize, last: &str) -> String {
    let nouns = ["house", "boat", "train", "garden", "street", "window", "letter", "river"];
    let mut text = String::new();
    for sentence in 0..20 {
        let noun = |n: usize| nouns[(page * 7 + sentence * n) % nouns.len()];
        text += &format!("The {} {page} is near the {} number {sentence}. ", noun(3), noun(5));
    }
    text + last
}

fn line(page: usize, time: u32, text: &str) -> String {
    let url = format!("https://example.com/{page}");
    serde_json::json!({"url": url, "t": time, "text": text}).to_string() + "\n"
}

/// All pages in their first version.
pub(super) fn first() -> String {
    (0..10).map(|page| line(page, 1000, &text(page, "First."))).collect()
}

pub(super) const OLD: &str = "html/3 words2-sqrt/2";

#[test]
#[expect(clippy::too_many_lines, reason = "one history of a store, step by step")]
fn epoch_begins_restates_pages_and_ends_the_old() {
    let place = TestFolder::with(&first());
    let pages = place.write("pages.jsonl", first());
    let table = place.file("pages.df");
    place.run(&["df", "build", &pages, "--output", &table]);
    assert_eq!(place.run(&["df", "list"]).out, "");
    assert_eq!(place.run(&["epoch", "stale"]).out, "");
    assert_eq!(place.run(&["epoch", "begin", "--recipe", "words-idf"]).code, 2);
    let begin = ["epoch", "begin", "--recipe", "words-idf", "--df", &table, "--json"];
    let begun = place.run(&begin).objects().remove(0);
    let new = begun["epoch"].as_str().unwrap().to_owned();
    assert!(new.starts_with("html/3 words1-sqrt-idf/2 df:"), "{new}");
    assert_eq!((&begun["state"], &begun["begun_at_visit"]), (&"in-use".into(), &10.into()));
    // The store has its own copy of the table now.
    std::fs::remove_file(&table).unwrap();
    let tables = place.run(&["df", "list", "--json"]).objects();
    assert_eq!((&tables[0]["documents"], &tables[0]["epoch"]), (&10.into(), &new.as_str().into()));

    let stale = place.run(&["epoch", "stale", "--json"]).objects();
    assert_eq!(stale.len(), 10);
    assert!(
        stale
            .iter()
            .all(|page| page["epoch"] == OLD && page["content_seen"] == "1970-01-01T00:16:40Z")
    );
    let after = stale[3]["url"].as_str().unwrap();
    let rest = ["epoch", "stale", "--after", after, "--limit", "2", "--json"];
    assert_eq!(place.run(&rest).objects(), stale[4..6]);
    assert_eq!(place.run(&["epoch", "end", OLD]).code, 5);

    // A page that changes in between has fingerprints of both epochs, so that the change is measured.
    let changed = line(0, 2000, &text(0, "Second."));
    let summary = place.ingest(&changed);
    assert_eq!((&summary["changed"], &summary["records"]), (&1.into(), &1.into()));
    let history = ["history", "https://example.com/0", "--json"];
    let versions = place.run(&history).objects();
    let verdicts: Vec<&Value> = versions.iter().map(|version| &version["verdict"]).collect();
    assert_eq!(verdicts, [&json!("new"), &json!("changed"), &Value::Null]);
    assert_eq!(versions[2]["seen"], "restated");
    assert!(versions[1]["distance"].is_u64());
    assert_eq!((&versions[1]["epoch"], &versions[2]["epoch"]), (&new.as_str().into(), &OLD.into()));

    // The pages that were crawled before are still available.
    let restate = ["ingest", &pages, "--restate", "--json"];
    let summary = place.run(&restate).objects().remove(0);
    assert_eq!((&summary["restated"], &summary["changed"]), (&10.into(), &0.into()));
    let again = place.run(&restate).objects().remove(0);
    assert_eq!((&again["restated"], &again["known"]), (&0.into(), &10.into()));
    assert_eq!(place.run(&["epoch", "stale"]).out, "");
    // Ingested again, they add no visits.
    let summary = place.ingest(&first());
    assert_eq!((&summary["known"], &summary["new_versions"]), (&10.into(), &0.into()));
    let file = place.write("text.txt", text(3, "First."));
    let near = place.run(&["near", "--text", &file, "-k", "0", "--json"]).objects().remove(0);
    assert_eq!((&near["epoch"], &near["near"][0]["url"]), (&new.as_str().into(), &after.into()));
    let stats = place.run(&["stats", "--json"]).objects().remove(0);
    assert_eq!((&stats["visits"], &stats["pages"]), (&11.into(), &10.into()));

    let ended = place.run(&["epoch", "end", OLD, "--json"]).objects().remove(0);
    assert_eq!(ended["state"], "ended");
    let gone = place.run(&["near", "--text", &file, "--epoch", OLD]);
    assert!(gone.code != 0 && gone.err.contains("has ended"), "{}", gone.err);
    let late =
        line(1, 3000, "x").replace("text", "fingerprint").replace("\"x\"", "\"00000000000000ff\"");
    let late = late.replace("}\n", &format!(",\"epoch\":\"{OLD}\"}}\n"));
    assert!(place.run_with_input(&["ingest", "-"], &late).err.contains("has ended"));
    place.done(&["verify"]);
    // From here on pages have one fingerprint again.
    let summary = place.ingest(&line(5, 4000, &text(5, "Third.")));
    assert_eq!((&summary["changed"], &summary["records"]), (&1.into(), &1.into()));
    let list = place.done(&["epoch", "list"]);
    assert!(list.contains("ended") && list.contains("in use"), "{list}");
    let store = place.open();
    store.seal().unwrap();
    assert!(store.merge(&Progress::default()).unwrap().inputs > 0);
    drop(store);
    place.done(&["verify"]);
    let epochs = place.run(&["epoch", "list", "--json"]).objects();
    assert_eq!(epochs[0]["fingerprints"], 0);

    // Everything is transferred to another store by export or by load.
    let copy = TestFolder::new();
    copy.run(&["load", place.store().to_str().unwrap()]);
    assert_eq!(copy.run(&["df", "list", "--json"]).objects().len(), 1);
    assert_eq!(copy.run(&["epoch", "list", "--json"]).objects()[0]["state"], "ended");
    assert_eq!(copy.export(), place.export());
    let copy = TestFolder::new();
    copy.load(&place.export());
    assert_eq!(copy.export(), place.export());
    copy.done(&["verify"]);
    // Plain lines bring no table.
    let copy = TestFolder::new();
    let lines = plain(&place.export());
    let without: String = lines
        .lines()
        .filter(|line| !line.contains("base64"))
        .map(|line| format!("{line}\n"))
        .collect();
    copy.ingest(&without);
    assert_eq!(entries(&copy.export()), entries(&place.export()));
    copy.done(&["verify"]);
    let without = copy.run_with_input(&["ingest", "-"], &line(5, 5000, "A text."));
    assert!(without.err.contains("begin the epoch again with this table"), "{}", without.err);
}

#[test]
fn failed_epoch_begin_leaves_no_store() {
    let place = TestFolder::new();
    let pages = place.write("pages.jsonl", first());
    let (table, recipe) = (place.file("pages.df"), "words4-minwise-leave0.2/2");
    place.run(&["df", "build", &pages, "--recipe", "words1-sqrt-idf/2", "--output", &table]);
    for (recipe, with, why) in [
        (recipe, &[][..], "name a table with --df"),
        (recipe, &["--df", &table][..], "features words4, but the table has the features words1"),
        ("near", &["--df", &table][..], "uses no table"),
        (
            "near",
            &["--role", "near", "--minor", "5", "--moderate", "4"][..],
            "--minor at most --moderate",
        ),
    ] {
        let begin = [&["epoch", "begin", "--recipe", recipe][..], with].concat();
        let refused = place.run(&begin);
        assert!(refused.code == 2 && refused.err.contains(why), "{}", refused.err);
        assert!(!place.store().exists());
    }
}

#[test]
fn texts_get_no_fingerprints_without_the_epochs_table() {
    let place = TestFolder::new();
    // Of a crawler that makes its fingerprints itself.
    let options = simkeep::Options::default().epoch("html/3 words1-sqrt-idf/2".to_owned());
    simkeep::Store::create(place.store(), options).unwrap().close().unwrap();
    let refused = place.run_with_input(&["ingest", "-"], &line(1, 1000, &text(1, "First.")));
    assert_ne!(refused.code, 0);
    for said in ["words1-sqrt-idf/2: the recipe needs a table", "simkeep epoch begin --df"] {
        assert!(refused.err.contains(said), "{}", refused.err);
    }
    let ready =
        r#"{"url":"https://example.com/1","t":1000,"fingerprint":"00000000000000ff","epoch":"x"}"#;
    assert_eq!(place.ingest(ready)["new_pages"], 1);
}

/// Two recipes side by side: one detects changes, the other finds near-duplicates.
#[test]
fn near_duplicate_epoch_runs_next_to_the_change_epoch() {
    let place = TestFolder::with(&first());
    let pages = place.write("pages.jsonl", first());
    assert_ne!(place.run(&["epoch", "begin", "--recipe", "near", "--role", "all"]).code, 0);
    let begin = ["epoch", "begin", "--recipe", "near", "--role", "near", "--json"];
    let begun = place.run(&begin).objects().remove(0);
    assert_eq!((&begun["role"], &begun["state"]), (&"near".into(), &"in-use".into()));
    let near = begun["epoch"].as_str().unwrap().to_owned();
    let other = ["epoch", "begin", "--recipe", "near", "--role", "both"];
    let refused = place.run(&other);
    assert!(refused.code != 0 && refused.err.contains("role near"), "{}", refused.err);
    let stale = |epoch: &str| place.run(&["epoch", "stale", epoch, "--json"]).objects().len();
    assert_eq!((stale(&near), stale(OLD)), (10, 0));
    let restated = place.run(&["ingest", &pages, "--restate", "--json"]).objects().remove(0);
    assert_eq!((&restated["restated"], stale(&near)), (&10.into(), 0));

    let summary = place.ingest(&line(0, 2000, &text(0, "Second.")));
    assert_eq!(&summary["changed"], &json!(1));
    let url = "https://example.com/0";
    let versions = place.run(&["history", url, "--json"]).objects();
    let changed = versions.iter().find(|version| version["verdict"] == "changed").unwrap();
    assert_eq!(changed["epoch"], OLD);
    assert!(changed["distance"].is_u64());
    let file = place.write("text.txt", text(3, "First."));
    for near_to in [["--text", &file], ["--url", "https://example.com/3"]] {
        let found = place.run(&[&["near", "--json"][..], &near_to].concat()).objects().remove(0);
        assert_eq!(found["epoch"], near.as_str());
    }
    let by = ["near", "--url", url, "--epoch", OLD, "--json"];
    assert_eq!(place.run(&by).objects()[0]["epoch"], OLD);
    place.done(&["verify"]);

    let roles = |place: &TestFolder| -> Vec<Value> {
        let epochs = place.run(&["epoch", "list", "--json"]).objects();
        epochs.into_iter().map(|mut epoch| epoch["role"].take()).collect()
    };
    assert_eq!(roles(&place), [json!("both"), json!("near")]);
    let copy = TestFolder::new();
    copy.load(&place.export());
    assert_eq!((copy.export(), roles(&copy)), (place.export(), roles(&place)));
    let copy = TestFolder::new();
    copy.run(&["load", place.store().to_str().unwrap()]);
    assert_eq!(roles(&copy), roles(&place));
}

#[test]
fn unseen_content_is_not_restated() {
    let place = TestFolder::with(&first());
    place.run(&["epoch", "begin", "--recipe", "strict"]);
    for (epoch, k) in [(OLD, 3), ("html/3 words3-sqrt/2", 5)] {
        let near = place.run(&["near", "00000000000000ff", "--epoch", epoch, "--json"]);
        assert_eq!(near.objects().remove(0)["k"], k, "as the recipe of {epoch} advises");
    }
    let lines = line(0, 1001, "Not at this time.") + &line(77, 1000, "Not this page.");
    let lines = lines + r#"{"url":"https://example.com/1","t":1000,"seen":"gone"}"#;
    let ran = place.run_with_input(&["ingest", "-", "--restate", "--json"], &lines);
    let summary = &ran.objects()[0];
    assert_eq!((&summary["missing"], &summary["restated"]), (&2.into(), &0.into()));
    assert_eq!(summary["skipped"]["visit"], 1);
    assert_eq!(place.run(&["stats", "--json"]).objects()[0]["visits"], 10);
    let ready = r#"{"url":"https://example.com/1","t":1000,"fingerprint":"00000000000000ff","epoch":"x","seen":"restated"}"#;
    assert_eq!(place.ingest_beginning(ready)["restated"], 1);
    let none = ready.replace("\"00000000000000ff\"", "null");
    assert_eq!(place.ingest(&none)["restated"], 1);
    assert_eq!(place.ingest(&none)["known"], 1);
    let export = place.export();
    assert!(export.lines().any(|line| line.contains("null") && line.contains("restated")));
    let copy = TestFolder::new();
    copy.load(&export);
    assert_eq!(copy.export(), export);
    let nameless = ready.replace(",\"epoch\":\"x\"", "");
    assert!(place.run_with_input(&["ingest", "-"], &nameless).err.contains("epoch"));
}

/// A record of a page's history.
pub(super) struct HistoryRecord {
    pub(super) url: String,
    pub(super) time: i64,
    /// Whether the extractor changed rather than the page.
    pub(super) technical: bool,
    pub(super) fingerprint: u64,
}

/// The histories of real pages in order of time, from data next to the project; `None` without the data.
pub(super) fn histories() -> Option<Vec<HistoryRecord>> {
    let file = std::fs::File::open(real_data_path("ota-contrib.jsonl.zst")?).unwrap();
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT).unwrap();
    let mut records: Vec<HistoryRecord> = Vec::new();
    for line in BufReader::new(decoder).lines() {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let url = record["url"].as_str().unwrap().to_owned();
        let time = record["t"].as_i64().unwrap() * 1000;
        // Some visits of a page are within one second; they still follow each other.
        let before = records.last().filter(|last| last.url == url).map(|last| last.time + 1);
        records.push(HistoryRecord {
            time: before.map_or(time, |before| before.max(time)),
            technical: record["k"] == "tech",
            fingerprint: fingerprinter.of_text(record["text"].as_str().unwrap()).unwrap(),
            url,
        });
    }
    records.sort_by_key(|record| record.time);
    Some(records)
}

/// The fingerprints of the content in force of a page, each with its epoch and whether it was restated,
/// and the time of that content.
struct FingerprintsInForce {
    of: Vec<(Epoch, bool, u64)>,
    time: i64,
}

impl FingerprintsInForce {
    /// The fingerprint that counts in an epoch.
    fn counts(&self, epoch: Epoch) -> Option<u64> {
        let of_epoch = self.of.iter().filter(|(of, ..)| *of == epoch);
        of_epoch.map(|(_, restated, f)| (*restated, *f)).max().map(|(_, f)| f)
    }

    /// The number of bits in which it differs from the previous one, in each epoch that both have, the
    /// newest last.
    fn distances(&self, before: &FingerprintsInForce) -> Vec<u32> {
        let epochs: BTreeSet<Epoch> = self.of.iter().map(|(epoch, ..)| *epoch).collect();
        let both = epochs.into_iter().filter_map(|e| Some((self.counts(e)?, before.counts(e)?)));
        both.map(|(a, b)| (a ^ b).count_ones()).collect()
    }
}

/// Each day on which the extractor changed for some pages begins an epoch, and these pages are restated
/// in it. Half of the pages are given two fingerprints if they were last seen in another epoch.
#[test]
#[expect(clippy::too_many_lines, reason = "one history of a store, step by step")]
fn extractor_change_is_not_a_page_change() {
    let Some(records) = histories() else { return };
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default()
        .durability(Durability::OnFlush)
        .memtable_observations(4096)
        .near_limit(0);
    let store = Store::create(dir.path().join("store"), options).unwrap();
    let mut epoch = store.change_epoch();
    let mut pages: HashMap<String, Vec<FingerprintsInForce>> = HashMap::new();
    let (mut day, mut days, mut pages_restated, mut restated) = (0, 0, 0, 0);
    let (mut unmeasured, mut measured, mut equal) = (0_usize, 0_usize, 0_usize);
    for HistoryRecord { url, time, technical, fingerprint } in &records {
        let page = pages.get_mut(url).and_then(|versions| versions.last_mut());
        if let Some(page) = page.filter(|_| *technical) {
            if day != time / 86_400_000 {
                day = time / 86_400_000;
                let origin = Origin::new(Recipe::DEFAULT).extractor(&format!("day-{day}"));
                epoch = store.begin_epoch(&origin.unwrap(), Role::Both).unwrap();
                days += 1;
            }
            let again = Restatement::new(url, ms(page.time), *fingerprint, epoch);
            let now = (epoch, true, *fingerprint);
            let known = page.of.contains(&now);
            let expected = if known { RestateOutcome::Known } else { RestateOutcome::Stored };
            assert_eq!(store.restate(again).unwrap(), expected);
            pages_restated += 1;
            if !known {
                page.of.push(now);
                restated += 1;
            }
            continue;
        }
        let mut seen = Observation::content(url, ms(*time), *fingerprint, epoch);
        let mut of = vec![(epoch, false, *fingerprint)];
        let page = pages.get(url).and_then(|versions| versions.last());
        // The extractor of this page has not changed since.
        let before = page.and_then(|page| page.of.last()).map(|(before, ..)| *before);
        if let Some(before) = before.filter(|before| *before != epoch && url.len() % 2 == 0) {
            seen = seen.also(*fingerprint, before);
            of.push((before, true, *fingerprint));
        }
        let verdict = store.observe(seen).unwrap().verdict;
        let now = FingerprintsInForce { of, time: *time };
        let distances = page.map(|page| now.distances(page)).unwrap_or_default();
        let common = distances.last().copied();
        let same = common.is_some() && distances.iter().all(|bits| *bits == 0);
        match (page, common, verdict) {
            (None, _, Verdict::New) => {}
            (Some(_), _, Verdict::Same(SameBy::Fingerprint)) if same => equal += 1,
            (
                Some(_),
                common,
                Verdict::Changed { distance } | Verdict::Reverted { distance, .. },
            ) if distance.map(|distance| distance.bits) == common && !same => match common {
                Some(_) => measured += 1,
                None => unmeasured += 1,
            },
            (_, common, verdict) => panic!("{url} at {time}: {verdict:?}, {common:?} expected"),
        }
        pages.entry(url.clone()).or_default().push(now);
    }
    println!(
        "{days} epochs; {pages_restated} pages restated: {restated} had another fingerprint, and none \
         changed; of {} changes {measured} have a \
         distance, {unmeasured} had no epoch in common, {equal} have the same fingerprint",
        measured + unmeasured + equal
    );
    assert_eq!((days, pages_restated), (231, 1736));
    assert!(restated > 1600 && measured > 20_000 && unmeasured > 100);
    // The histories show the same.
    let (mut changes, mut of_restated) = (0, 0);
    for page in store.snapshot().scan(None) {
        let page = page.unwrap();
        let history = store.history(&page.url).unwrap();
        let mut visits = 0;
        for (_, verdict) in history.iter().filter_map(HistoryEntry::visit) {
            let changed = matches!(verdict, Verdict::Changed { .. } | Verdict::Reverted { .. });
            changes += usize::from(changed);
            visits += 1;
        }
        of_restated += u32::try_from(history.len() - visits).unwrap();
        assert_eq!(page.visits, visits as u64);
    }
    assert!(of_restated >= restated);
    // A correction on the same day may restore the earlier content.
    let differ = |two: &&[FingerprintsInForce]| {
        let distances = two[1].distances(&two[0]);
        distances.is_empty() || distances.iter().any(|bits| *bits > 0)
    };
    let in_histories = pages.values().flat_map(|versions| versions.windows(2).filter(differ));
    assert_eq!(changes, in_histories.count());
    println!("{changes} changes in the histories");
    assert!(measured + unmeasured - changes < 10);
    // The remaining pages of older epochs are restated, and the epochs end.
    let stale: Vec<_> =
        StalePages::of(&store.snapshot(), epoch, None).collect::<simkeep::Result<_>>().unwrap();
    assert!(stale.len() > 100);
    for page in &stale {
        let FingerprintsInForce { of, time } = &pages[&page.url].last().unwrap();
        assert_eq!(page.time, ms(*time));
        let restated = Restatement::new(&page.url, ms(*time), of[0].2, epoch);
        assert_eq!(store.restate(restated).unwrap(), RestateOutcome::Stored);
    }
    assert_eq!(StalePages::of(&store.snapshot(), epoch, None).count(), 0);
    let epochs = store.snapshot().epochs().to_vec();
    for info in &epochs {
        if info.epoch != epoch {
            store.end_epoch(info.epoch, 0).unwrap();
        }
    }
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    store.verify(VerifyOptions::default()).unwrap().sound().unwrap();
    let snapshot = store.snapshot();
    let left = epochs.iter().filter(|info| snapshot.fingerprints(info.epoch) > 0).count();
    assert_eq!(left, 1);
}
