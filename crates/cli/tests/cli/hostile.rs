//! Text from pages never reaches the terminal unescaped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// A URL that would be shown from right to left.
const TURNED: &str = "https://example.com/\u{202e}gpj.exe\u{2066}\u{2028}";

/// Asserts that there are only printable characters and line ends, and none that changes the direction
/// of text.
fn assert_harmless(text: &str) {
    let harmful = |c: char| {
        (c.is_control() && c != '\n') || ('\u{200b}'..='\u{206f}').contains(&c) || c == '\u{feff}'
    };
    assert!(!text.contains(harmful), "{text:?}");
}

#[test]
fn hidden_characters_in_urls_are_escaped() {
    let line = format!(r#"{{"url":"{TURNED}","t":0,"fingerprint":"00000000000000ff"}}"#);
    let place = TestFolder::with(&line);
    for args in [
        &["scan"][..],
        &["near", "00000000000000ff"],
        &["history", TURNED],
        &["export"],
        &["due"],
        &["due", "--by-host"],
        &["due", "--json"],
        &["recrawl", TURNED],
        &["recrawl", TURNED, "--json"],
        &["scan", "--json"],
        &["near", "00000000000000ff", "--json"],
        &["history", TURNED, "--json"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert_harmless(&ran.out);
    }
    assert!(place.done(&["scan"]).contains("https://example.com/\\u{202e}gpj.exe"));
    assert_eq!(place.run(&["scan", "--json"]).objects()[0]["url"], TURNED);
    let ran = place.run(&["history", &format!("{TURNED}?")]);
    assert_eq!(ran.code, 1);
    assert_harmless(&ran.err);
}

#[test]
fn messages_escape_what_they_quote() {
    let place = TestFolder::with(CRAWL);
    for args in [
        &["history", "a\x1b[31m\u{202e}"][..],
        &["recrawl", "https://a\u{202e}/"],
        &["due", "--rules", "\x1b[31m\u{202e}"],
        &["due", "--hints", "\x1b[31m\u{202e}"],
        &["near", "\x1b[2J0123456789abcd"],
        &["scan", "\u{202e}\u{9b}x"],
        &["near", "00000000000000ff", "--epoch", "\x1b[31m"],
        &["remember\x1b[31m"],
        &["stats", "--store", "\x1b[31m\n"],
        &["ingest", "nowhere\x1b[31m"],
        &["forget", "--under", "\x1b]0;x\x07.example"],
    ] {
        let ran = place.run(args);
        assert_ne!(ran.code, 0, "{args:?}");
        assert!(ran.err.starts_with("simkeep: "), "{args:?} {}", ran.err);
        assert_harmless(&ran.err);
        assert_harmless(&ran.out);
    }
}

#[test]
fn broken_records_and_odd_file_names_are_escaped() {
    let place = TestFolder::new();
    let lines = concat!(
        r#"{"url":"http://a/\u001b[31m","t":0,"text":"x"}"#,
        "\n",
        r#"{"url":"http://a/\u202e","t":"\u001b","text":"x"}"#,
        "\n{\x1b\u{9b}\n"
    );
    let path = place.write("odd\x1b[31m\u{202e}.jsonl", lines);
    let ran = place.run(&["ingest", &path]);
    assert_eq!((ran.code, ran.err.lines().count()), (3, 4), "{}", ran.err);
    assert_harmless(&ran.err);
    assert_harmless(&ran.out);
}

/// The output of the tool for a file, its duration, and its peak memory in bytes.
struct RunCost {
    ran: ToolRun,
    time: Duration,
    peak_bytes: u64,
}

/// Memory that no input takes the tool beyond: a record and what it unpacks to, for each of the
/// threads that have one, and the store's own.
const MEMORY_BYTES: u64 = 1 << 30;

/// Far longer than any ingest here takes.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 600 } else { 100 });

/// Ingests a file, and watches the memory of the process.
fn ingest(place: &TestFolder, name: &str, bytes: impl AsRef<[u8]>) -> RunCost {
    let path = place.write(name, bytes);
    let since = Instant::now();
    let child = place.command(&["ingest", &path, "--json"]).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let ended = Arc::new(AtomicBool::new(false));
    let watch = std::thread::spawn({
        let ended = Arc::clone(&ended);
        move || {
            let mut peak_kib: u64 = 0;
            while !ended.load(Ordering::Relaxed) {
                // Without such a file, the memory is unknown.
                let status = std::fs::read_to_string(&status).unwrap_or_default();
                let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
                peak_kib = peak_kib.max(kib.unwrap_or(0));
                std::thread::sleep(Duration::from_millis(2));
            }
            peak_kib << 10
        }
    });
    let ran = ToolRun::from(child.wait_with_output().unwrap());
    ended.store(true, Ordering::Relaxed);
    let cost = RunCost { ran, time: since.elapsed(), peak_bytes: watch.join().unwrap() };
    eprintln!("{name}: {:?}, {} MiB", cost.time, cost.peak_bytes >> 20);
    assert!(cost.time < PATIENCE, "{name}: {:?}", cost.time);
    assert!(cost.peak_bytes < MEMORY_BYTES, "{name}: {} MiB", cost.peak_bytes >> 20);
    assert_harmless(&cost.ran.err);
    cost
}

/// Asserts that a file causes broken records with this reason, and nothing else.
fn assert_broken(name: &str, bytes: impl AsRef<[u8]>, why: &str) {
    let place = TestFolder::new();
    let ToolRun { code, out, err } = ingest(&place, name, bytes).ran;
    assert_eq!(code, 3, "{name}: {err}");
    assert!(err.contains(why) && err.len() < 10_000, "{name}: {err}");
    assert_eq!(objects(&out)[0]["records"], 0, "{name}: {out}");
}

/// A web archive record that declares this length.
fn warc(length: u64, head: &str, body: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n\
         WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: {length}\r\n\r\n"
    );
    [header.as_bytes(), head.as_bytes(), body, b"\r\n\r\n"].concat()
}

/// A response with this header and its true length.
fn response(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{headers}\r\n");
    warc((head.len() + body.len()) as u64, &head, body)
}

/// A sound record that follows the hostile one.
fn sound() -> Vec<u8> {
    response("", b"the text of a page that is read all the same")
}

fn gzip(part: &[u8], times: usize) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    (0..times).for_each(|_| packer.write_all(part).unwrap());
    packer.finish().unwrap()
}

fn zstandard(part: &[u8], times: usize) -> Vec<u8> {
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    (0..times).for_each(|_| packer.write_all(part).unwrap());
    packer.finish().unwrap()
}

static MIB: [u8; 1 << 20] = [b' '; 1 << 20];

/// A file that decompresses to 2 GiB is streamed, and never held in memory.
#[test]
fn decompression_bomb_is_read_in_little_memory() {
    let line = [br#"{"url":"http://a.example/","t":0,"text":""#.as_slice(), &MIB].concat();
    let last_line = b"\n{\"url\":\"http://a.example/\",\"t\":0,\"text\":\"x\"}\n".to_vec();
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    let record = warc(head.len() as u64 + (2049 << 20), head, &MIB);
    let last_record = [b"\r\n\r\n".to_vec(), sound()].concat();
    for (name, start, last, why, records) in [
        ("line", line, last_line, "longer than 64 MiB", 1),
        ("record", record[..record.len() - 4].to_vec(), last_record, "the limit is 64 MiB", 1),
        ("page", MIB.to_vec(), Vec::new(), "larger than 64 MiB", 0),
    ] {
        for packed in [gzip, zstandard] {
            let file = [packed(&start, 1), packed(&MIB, 64).repeat(32), packed(&last, 1)].concat();
            assert!(file.len() < 4 << 20);
            let place = TestFolder::new();
            let ToolRun { code, out, err } = ingest(&place, &format!("{name}.packed"), file).ran;
            let expected = if records == 0 { 3 } else { 0 };
            assert!(code == expected && err.contains(why), "{name}: {code} {err}");
            assert_eq!(objects(&out)[0]["records"], records, "{name}: {out}");
        }
    }
}

/// A zstd file declares how much memory its decompression takes; more than is allowed is refused.
#[test]
fn zstd_window_above_the_limit_needs_an_option() {
    let mut packer = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    packer.window_log(28).unwrap();
    packer.long_distance_matching(true).unwrap();
    packer.write_all(b"{\"url\":\"http://a.example/\",\"t\":0,\"text\":\"").unwrap();
    (0..16).for_each(|_| packer.write_all(&MIB).unwrap());
    packer.write_all(b"\"}\n").unwrap();
    let file = packer.finish().unwrap();
    assert_broken(
        "wide.jsonl.zst",
        &file,
        "a window of 256 MiB, but only 128 MiB are allowed: set --zstd-window",
    );
    let place = TestFolder::new();
    let path = place.write("wide.jsonl.zst", &file);
    for verb in ["ingest", "load"] {
        let ran = place.run(&[verb, &path, "--zstd-window", "200", "--json"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(ran.objects()[0]["records"], 1);
    }
    assert_eq!(place.run(&["ingest", &path, "--zstd-window", "4096"]).code, 2);
}

/// A body within a record that decompresses to more than the limit is abandoned there.
#[test]
fn body_that_unpacks_too_large_is_skipped() {
    const WHY: &str = "decompressed body is larger than 64 MiB";
    let gigabyte = gzip(&MIB, 64).repeat(16);
    for (encoding, body) in [
        ("gzip, gzip", gzip(&gigabyte, 1)),
        ("gzip", gigabyte),
        ("zstd", zstandard(&MIB, 64).repeat(16)),
        ("br", brotli(64)),
    ] {
        assert!(body.len() < 2 << 20, "{encoding}");
        let bomb = response(&format!("Content-Encoding: {encoding}\r\n"), &body);
        let place = TestFolder::new();
        let file = [bomb.repeat(8), sound()].concat();
        let ToolRun { code, out, err } = ingest(&place, "bomb.warc", file).ran;
        assert_eq!((code, err.matches(WHY).count()), (0, 8), "{encoding}: {err}");
        assert_eq!(objects(&out)[0]["records"], 1, "{out}");
    }
}

/// A brotli stream (RFC 7932) that decompresses to `times` times 16 MiB, from some 16 bytes each: one
/// literal, and the longest possible copy of it. It is written by hand, since no dependency has an
/// encoder.
fn brotli(times: usize) -> Vec<u8> {
    let (mut out, mut held, mut bits) = (Vec::new(), 0_u64, 0);
    let mut put = |value: u64, count: u32| {
        held |= value << bits;
        bits += count;
        while bits >= 8 {
            out.push(held.to_le_bytes()[0]);
            held >>= 8;
            bits -= 8;
        }
    };
    // A window of 16 bits.
    put(0, 1);
    for _ in 0..times {
        // Not the last, six nibbles of length, packed.
        put(0b10 << 1, 3);
        put((16 << 20) - 1, 24);
        put(0, 1);
        // One type of block each; no postfix, no direct distances; one context, one tree each.
        put(0, 3 + 2 + 4 + 2 + 2);
        // Codes of one symbol: a space, insert 1 and copy from 2118, the distance 1.
        for (symbol, wide) in [(u64::from(b' '), 8), (384 + 8 + 7, 10), (16, 6)] {
            put(0b0001, 4);
            put(symbol, wide);
        }
        put((16 << 20) - 1 - 2118, 24);
        put(0, 1);
    }
    // The last, which is empty; filled up.
    put(0b11, 2 + 7);
    out
}

#[test]
fn endless_headers_and_lengths_cost_only_their_record() {
    let start = b"WARC/1.0\r\nWARC-Type: response\r\n";
    let line = [b"X-More: ".as_slice(), &[b'x'; 1000], b"\r\n"].concat();
    let many = [start.as_slice(), &line.repeat(200_000)].concat();
    let long = [start.as_slice(), b"X: ", &MIB.repeat(200)].concat();
    let folded = [start.as_slice(), b"X: y\r\n", &b" folded\r\n".repeat(10 << 20)].concat();
    for (name, header) in [("many", many), ("long", long), ("folded", folded)] {
        let place = TestFolder::new();
        let file = [header, b"\r\n".to_vec(), sound()].concat();
        let ToolRun { code, out, err } = ingest(&place, &format!("{name}.warc"), file).ran;
        assert!(code == 0 && err.contains("longer than"), "{name}: {err}");
        assert_eq!(objects(&out)[0]["records"], 1, "{name}: {out}");
    }
    for length in [u64::MAX, 1 << 62] {
        assert_broken("endless.warc", warc(length, "HTTP/1.1 200 OK\r\n\r\n", b"x"), "64 MiB");
    }
    let head = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(200_000));
    assert_broken("head.warc", warc(head.len() as u64, &head, b""), "HTTP header");
}

#[test]
fn endless_chunks_are_a_page_up_to_the_limit() {
    let chunked = |body: &[u8]| response("Transfer-Encoding: chunked\r\n", body);
    let small = chunked(&b"1\r\nx\r\n".repeat(8 << 20));
    let large = chunked(&[b"ffffffffffffffff\r\n".as_slice(), &MIB].concat());
    let digits = chunked(&[[b'0'; 1 << 20].as_slice(), b"1\r\nx"].concat());
    let place = TestFolder::new();
    let file = [small, large, digits, sound()].concat();
    let ToolRun { code, err, .. } = ingest(&place, "chunks.warc", file).ran;
    assert_eq!(code, 0, "{err}");
    let endless = warc(1 << 40, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &MIB);
    assert_broken("endless.warc", endless, "64 MiB");
}

#[test]
fn overlong_and_deep_lines_cost_only_themselves() {
    let place = TestFolder::new();
    let record = |text: &[u8]| {
        let start = br#"{"url":"http://a.example/","t":0,"text":"#.as_slice();
        [start, text, b"}\n"].concat()
    };
    let deep = |open: &str, close: &str| {
        [open.repeat(100_000).as_bytes(), close.repeat(100_000).as_bytes(), b"\n"].concat()
    };
    let escapes = [b"\"".as_slice(), &b"\\u0041".repeat(10 << 20), b"\""].concat();
    let words = [b"\"".as_slice(), &b"a b ".repeat(12 << 20), b"\""].concat();
    let file = [
        record(&[b"\"".as_slice(), &MIB.repeat(100), b"\""].concat()),
        deep("[", "]"),
        deep(r#"{"url":"#, "}"),
        record(deep("[", "]").trim_ascii_end()),
        [br#"{"x":"#.as_slice(), deep("[", "]").trim_ascii_end(), b",", &record(b"\"x\"")[1..]]
            .concat(),
        [vec![b'9'; 10 << 20], b"\n".to_vec()].concat(),
        record(&escapes),
        record(&words),
        record(b"\"the last\""),
    ];
    let ToolRun { code, out, err } = ingest(&place, "lines.jsonl", file.concat()).ran;
    assert_eq!(code, 0, "{err}");
    assert_eq!(objects(&out)[0]["broken"], 5, "{err}");
    assert!(err.contains("longer than 64 MiB") && err.len() < 10_000, "{err}");
}

/// As many different words as fit in a record. Its features are counted in parts.
#[test]
fn document_of_many_different_words_takes_little_memory() {
    let mut line = br#"{"url":"http://a.example/","t":0,"text":""#.to_vec();
    // By an odd number, so that no two are equal.
    (0..7_000_000u32).for_each(|n| {
        let word = n.wrapping_mul(2_654_435_761) & 0xfff_ffff;
        line.extend(format!("{word:07x} ").as_bytes());
    });
    line.extend(b"\"}\n");
    assert!(line.len() > 53 << 20);
    let place = TestFolder::new();
    let cost = ingest(&place, "words.jsonl", &line);
    assert_eq!((cost.ran.code, &cost.ran.objects()[0]["new"]), (0, &1.into()));
    assert!(cost.peak_bytes < 256 << 20, "{} MiB", cost.peak_bytes >> 20);
}

/// Pages whose text is hard to extract.
#[test]
fn deep_and_broken_html_is_an_ordinary_page() {
    let place = TestFolder::new();
    for (name, part) in [
        ("deep", "<div>"),
        ("attributes", "<a b=c "),
        ("open", "<"),
        ("comments", "<!--"),
        ("entities", "&amp"),
        ("script", "<script>"),
        ("quotes", "<a b=\""),
    ] {
        let page = ["<!doctype html>", &part.repeat((32 << 20) / part.len())].concat();
        let ToolRun { code, err, .. } = ingest(&place, &format!("{name}.html"), page).ran;
        assert_eq!((code, err.as_str()), (0, ""), "{name}");
    }
}
