//! Records of archives that repeat others.

use super::*;

const A: &str = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const B: &str = "sha1:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";

fn record(headers: &[(&str, &str)], block: &str) -> String {
    let mut record = String::from("WARC/1.1\r\n");
    for (name, value) in headers {
        record += &format!("{name}: {value}\r\n");
    }
    record + &format!("Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

fn response(url: &str, day: u32, digest: &str, text: &str) -> String {
    let headers = [
        ("WARC-Type", "response"),
        ("WARC-Target-URI", url),
        ("WARC-Date", &format!("2024-01-{day:02}T00:00:00Z")),
        ("WARC-Payload-Digest", digest),
        ("Content-Type", "application/http;msgtype=response"),
    ];
    record(&headers, &format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}"))
}

fn revisit(url: &str, day: u32, more: &[(&str, &str)]) -> String {
    let profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    let day = format!("2024-01-{day:02}T00:00:00Z");
    let mut headers = vec![
        ("WARC-Type", "revisit"),
        ("WARC-Target-URI", url),
        ("WARC-Date", day.as_str()),
        ("WARC-Profile", profile),
    ];
    headers.extend(more);
    record(&headers, "HTTP/1.1 200 OK\r\n\r\n")
}

fn ingest(place: &Place, archive: &str) -> Value {
    let path = place.write("crawl.warc", archive);
    place.run(&["ingest", &path, "--json"]).objects().remove(0)
}

fn verdicts(place: &Place, url: &str) -> Vec<String> {
    let objects = place.run(&["history", url, "--json"]).objects();
    objects.iter().map(|object| object["verdict"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_revisit_counts_as_the_content_of_its_original() {
    let place = Place::new();
    let digest = |digest| [("WARC-Payload-Digest", digest)];
    let archive = [
        response("http://a/", 1, A, "the first text of this page"),
        revisit("http://a/", 2, &digest(A)),
        response("http://a/", 3, B, "and quite another text that came later"),
        revisit("http://a/", 4, &digest(A)),
        revisit("http://a/", 5, &digest(A)),
    ]
    .concat();
    let summary = ingest(&place, &archive);
    assert_eq!((&summary["new"], &summary["same"]), (&1.into(), &2.into()));
    assert_eq!((&summary["changed"], &summary["reverted"]), (&1.into(), &1.into()));
    assert_eq!(verdicts(&place, "http://a/"), ["new", "same", "changed", "reverted", "same"]);
    let export = place.export();
    assert_eq!(ingest(&place, &archive)["known"], 5);
    assert_eq!(place.export(), export);
}

#[test]
fn a_revisit_may_repeat_another_page() {
    let place = Place::new();
    let archive = [
        response("http://a/", 1, A, "the text of both pages"),
        revisit(
            "http://b/",
            2,
            &[("WARC-Payload-Digest", A), ("WARC-Refers-To-Target-URI", "http://a/")],
        ),
        revisit(
            "http://c/",
            3,
            &[
                ("WARC-Refers-To-Target-URI", "http://a/"),
                ("WARC-Refers-To-Date", "2024-01-01T00:00:00Z"),
            ],
        ),
    ]
    .concat();
    let summary = ingest(&place, &archive);
    assert_eq!((&summary["new"], &summary["exact_copies"]), (&3.into(), &2.into()));
    assert_eq!(place.done(&["near", "--url", "http://c/"]).lines().count(), 2);
    assert_eq!(ingest(&place, &archive)["known"], 3);
}

#[test]
fn a_revisit_without_its_original_keeps_what_it_says() {
    let place = Place::new();
    let alone = [("WARC-Payload-Digest", A)];
    let summary = ingest(&place, &revisit("http://a/", 2, &alone));
    assert_eq!(summary["revisits_without_original"], 1);
    let export = place.export();
    assert!(export.contains(r#""seen":"not-modified""#) && export.contains("digest"), "{export}");
    // What came later does not make another visit of it.
    let both = revisit("http://a/", 2, &alone) + &response("http://a/", 1, A, "the text");
    assert_eq!(ingest(&place, &both)["known"], 1);
    let summary = ingest(&place, &both);
    assert_eq!((&summary["known"], &summary["revisits_without_original"]), (&2.into(), &0.into()));
    assert_eq!(place.export().lines().count(), 2);
}
