//! `epoch`: fingerprints that are made in another way from some day on.

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

/// All pages as they were at first.
fn first() -> String {
    (0..10).map(|page| line(page, 1000, &text(page, "First."))).collect()
}

const OLD: &str = "html/1 words2-sqrt/1";

#[test]
fn an_epoch_begins_pages_are_restated_and_the_old_one_ends() {
    let place = Place::with(&first());
    let pages = place.write("pages.jsonl", first());
    let table = place.file("pages.df");
    place.run(&["df", "build", &pages, "--out", &table]);
    assert_eq!(place.run(&["df", "list"]).code, 1);
    assert_eq!(place.run(&["epoch", "stale"]).code, 1);
    assert_eq!(place.run(&["epoch", "begin", "--recipe", "words-idf"]).code, 5);
    let begin = ["epoch", "begin", "--recipe", "words-idf", "--df", &table, "--json"];
    let begun = place.run(&begin).objects().remove(0);
    let new = begun["epoch"].as_str().unwrap().to_owned();
    assert!(new.starts_with("html/1 words1-sqrt-idf/1 df:"), "{new}");
    assert_eq!((&begun["state"], &begun["begun_at_visit"]), (&"newest".into(), &10.into()));
    // The table is the store's own now.
    std::fs::remove_file(&table).unwrap();
    let tables = place.run(&["df", "list", "--json"]).objects();
    assert_eq!((&tables[0]["documents"], &tables[0]["epoch"]), (&10.into(), &new.as_str().into()));

    let stale = place.run(&["epoch", "stale", "--json"]).objects();
    assert_eq!(stale.len(), 10);
    assert!(stale.iter().all(|page| page["epoch"] == OLD && page["t"] == "1970-01-01T00:16:40Z"));
    let after = stale[3]["url"].as_str().unwrap();
    let rest = ["epoch", "stale", "--after", after, "--limit", "2", "--json"];
    assert_eq!(place.run(&rest).objects(), stale[4..6]);
    assert_eq!(place.run(&["epoch", "end", OLD]).code, 5);

    // A page that changes meanwhile has fingerprints of both, so that the change is measured.
    let changed = line(0, 2000, &text(0, "Second."));
    let summary = place.ingest(&changed);
    assert_eq!((&summary["changed"], &summary["records"]), (&1.into(), &1.into()));
    let history = ["history", "https://example.com/0", "--json"];
    let versions = place.run(&history).objects();
    let verdicts: Vec<&Value> = versions.iter().map(|version| &version["verdict"]).collect();
    assert_eq!(verdicts, ["new", "changed", "restated"]);
    assert!(versions[1]["distance"].is_u64());
    assert_eq!((&versions[1]["epoch"], &versions[2]["epoch"]), (&new.as_str().into(), &OLD.into()));

    // What was crawled before is at hand still.
    let restate = ["ingest", &pages, "--restate", "--json"];
    let summary = place.run(&restate).objects().remove(0);
    assert_eq!((&summary["restated"], &summary["changed"]), (&10.into(), &0.into()));
    let again = place.run(&restate).objects().remove(0);
    assert_eq!((&again["restated"], &again["known"]), (&0.into(), &10.into()));
    assert_eq!(place.run(&["epoch", "stale"]).code, 1);
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
    assert!(list.contains("ended") && list.contains("newest"), "{list}");
    let store = place.open();
    store.seal().unwrap();
    assert!(store.merge().unwrap().inputs > 0);
    drop(store);
    place.done(&["verify"]);
    let epochs = place.run(&["epoch", "list", "--json"]).objects();
    assert_eq!(epochs[0]["fingerprints"], 0);

    // All of it goes into another store, by export or by load.
    let copy = Place::new();
    copy.run(&["load", place.store().to_str().unwrap()]);
    assert_eq!(copy.run(&["df", "list", "--json"]).objects().len(), 1);
    assert_eq!(copy.run(&["epoch", "list", "--json"]).objects()[0]["state"], "ended");
    assert_eq!(copy.export(), place.export());
    let copy = Place::with(&place.export());
    assert_eq!(copy.export(), place.export());
}

#[test]
fn what_was_never_seen_is_not_restated() {
    let place = Place::with(&first());
    place.run(&["epoch", "begin", "--recipe", "strict"]);
    let lines = line(0, 1001, "Not at this time.") + &line(77, 1000, "Not this page.");
    let lines = lines + r#"{"url":"https://example.com/1","t":1000,"seen":"gone"}"#;
    let ran = place.run_with_input(&["ingest", "-", "--restate", "--json"], &lines);
    let summary = &ran.objects()[0];
    assert_eq!((&summary["missing"], &summary["restated"]), (&2.into(), &0.into()));
    assert_eq!(summary["passed_over"]["visit"], 1);
    assert_eq!(place.run(&["stats", "--json"]).objects()[0]["visits"], 10);
    let ready = r#"{"url":"https://example.com/1","t":1000,"fingerprint":"00000000000000ff","epoch":"x","seen":"restated"}"#;
    assert_eq!(place.ingest(ready)["restated"], 1);
    let nameless = ready.replace(",\"epoch\":\"x\"", "");
    assert!(place.run_with_input(&["ingest", "-"], &nameless).err.contains("epoch"));
}
