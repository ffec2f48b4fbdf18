//! The output does not depend on the number of threads.

use std::io::BufRead as _;
use std::time::{Duration, Instant};

use super::*;

const THREADS: [&str; 4] = ["1", "2", "3", "8"];

/// Pages that are visited repeatedly and change now and then: some words each, the same for each seed.
struct GeneratedCrawl {
    random: u64,
    time: u64,
}

impl GeneratedCrawl {
    fn new(seed: u64) -> GeneratedCrawl {
        GeneratedCrawl { random: seed, time: 1_000_000 * seed }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.random >> 33) % n
    }

    fn text(&mut self) -> String {
        // Now and then a page that takes long.
        let words = if self.below(100) == 0 { 20_000 } else { 50 + self.below(200) };
        (0..words).map(|_| format!("w{:x} ", self.below(5000))).collect()
    }

    fn url(&mut self) -> String {
        format!("http://site{}.example/", self.below(200))
    }

    fn line(&mut self) -> String {
        self.time += 1;
        let (url, time) = (self.url(), self.time);
        match self.below(40) {
            0 => format!("{{\"url\":\"{url}\",\"t\":\"broken {time}\",\"text\":\"\"}}\n"),
            1 => format!("{{\"url\":\"{url}\",\"t\":{time},\"seen\":\"gone\"}}\n"),
            2 => format!(
                "{{\"url\":\"{url}\",\"t\":{time},\"fingerprint\":\"{:016x}\",\"epoch\":\"theirs {}\"}}\n",
                self.below(1 << 30),
                self.below(3),
            ),
            3 => format!("{{\"epoch\":\"another {}\"}}\n\n", self.below(3)),
            _ => format!("{{\"url\":\"{url}\",\"t\":{time},\"text\":\"{}\"}}\n", self.text()),
        }
    }

    fn html(&mut self) -> String {
        format!("<title>{}</title><p>{}</p>", self.below(1000), self.text())
    }

    fn warc_record(&mut self) -> String {
        self.time += 60;
        let date = format!("2020-{:02}-{:02}", 1 + self.time / 60 % 12, 1 + self.time / 720 % 28);
        let url = self.url();
        let (kind, more, block) = match self.below(20) {
            0 => ("request", String::new(), "GET / HTTP/1.1\r\n\r\n".to_owned()),
            1 => {
                let profile = "identical-payload-digest";
                let digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
                let more = format!("WARC-Profile: {profile}\r\nWARC-Payload-Digest: {digest}\r\n");
                ("revisit", more, "HTTP/1.1 200 OK\r\n\r\n".to_owned())
            }
            2 => ("response", String::new(), "no response".to_owned()),
            3 => ("response", String::new(), "HTTP/1.1 404 Not Found\r\n\r\n".to_owned()),
            _ => {
                let html = self.html();
                let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}");
                ("response", String::new(), block)
            }
        };
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n{more}\
             Content-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn arc_record(&mut self) -> String {
        self.time += 1;
        let (url, html) = (self.url(), self.html());
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}");
        let date = 20_210_101_000_000 + self.time % 50;
        format!("{url} 192.0.2.1 {date} text/html {}\n{block}\n", block.len())
    }
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// Files of all kinds, with broken records in the middle and at the end.
fn crawl(place: &TestFolder) -> Vec<String> {
    let mut files = Vec::new();
    let mut write = |name: &str, bytes: &[u8]| files.push(place.write(name, bytes));
    let mut crawl = GeneratedCrawl::new(1);
    let lines: String = (0..1500).map(|_| crawl.line()).collect();
    write("a.jsonl", lines.as_bytes());
    let mut crawl = GeneratedCrawl::new(2);
    let members: Vec<Vec<u8>> = (0..1500).map(|_| gz(crawl.warc_record().as_bytes())).collect();
    let mut damaged = members.concat();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    write("b.warc.gz", &damaged);
    let mut crawl = GeneratedCrawl::new(3);
    let records: String = (0..800).map(|_| crawl.warc_record()).collect();
    write("c.warc", format!("{records}stray\r\n{}", crawl.warc_record()).as_bytes());
    let mut crawl = GeneratedCrawl::new(4);
    let records: String = (0..500).map(|_| crawl.arc_record()).collect();
    let start = "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 8\n1 0 Me\nX\n\n";
    write("d.arc", format!("{start}{records}").as_bytes());
    let lines: String = (0..800).map(|_| crawl.line()).collect();
    write("e.jsonl.zst", &zstd::encode_all(lines.as_bytes(), 1).unwrap());
    let packed = gz((0..800).map(|_| crawl.line()).collect::<String>().as_bytes());
    write("f.jsonl.gz", &packed[..packed.len() - 100]);
    for number in 0..300 {
        place.write(&format!("pages/{number}.html"), crawl.html());
    }
    place.write("pages/150.warc", crawl.warc_record());
    place.write("pages/200", [0, 1, 2]);
    files.insert(3, place.file("pages"));
    files
}

/// The parts of the output that do not depend on time.
fn lasting(ran: &ToolRun) -> (i32, Vec<Value>, String) {
    let mut objects = ran.objects();
    for object in objects.iter_mut().filter_map(Value::as_object_mut) {
        let timed = |key: &str| key == "elapsed_seconds" || key.ends_with("_per_second");
        // The number of records read before it stopped depends on how far threads were ahead.
        let ahead = |key: &str| key == "read_bytes" && ran.code != 0;
        object.retain(|key, _| !timed(key) && !ahead(key));
    }
    (ran.code, objects, ran.err.clone())
}

/// The output of a verb on each number of threads, and the export of the store afterwards, all of which
/// are equal.
fn same_on_all(place: &TestFolder, args: &[&str], files: &[String]) -> (ToolRun, String) {
    let mut expected = None;
    for threads in THREADS {
        let store = place.file(&format!("store-{threads}"));
        let files = files.iter().map(String::as_str);
        let given = ["--threads", threads, "--json", "--store", &store];
        let ran = place.run(&args.iter().copied().chain(files).chain(given).collect::<Vec<_>>());
        let export = place.run(&["export", "--store", &store]).out;
        match &expected {
            None => expected = Some((ran, export)),
            Some((first, exported)) => {
                assert_eq!(lasting(&ran), lasting(first), "{threads} threads");
                assert!(export == *exported, "the export on {threads} threads");
            }
        }
        let _ = std::fs::remove_dir_all(store);
    }
    expected.unwrap()
}

#[test]
fn ingest_and_load_give_the_same_with_any_threads() {
    let place = TestFolder::new();
    let files = crawl(&place);
    let (ran, export) = same_on_all(&place, &["ingest"], &files);
    let summary = ran.objects().remove(0);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for key in ["new", "changed", "gone", "out_of_order", "broken"] {
        assert!(summary[key].as_u64().unwrap() > 20, "{summary}");
    }
    assert_eq!(ran.err.lines().count(), 21, "{}", ran.err);
    assert!(export.lines().count() > 3000);
    let (ran, export) = same_on_all(&place, &["load", "--skip-broken"], &files);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(export.lines().count() > 3000);
}

#[test]
fn strict_reading_stops_at_the_first_broken_record() {
    let place = TestFolder::new();
    let line = |number: usize| match number {
        3333 => "broken\n".to_owned(),
        _ => format!("{{\"url\":\"http://a/{number}\",\"t\":{number},\"text\":\"{number}\"}}\n"),
    };
    // Some of it is read long before it is its turn.
    let first = place.write("first.jsonl", (0..6000).map(line).collect::<String>());
    let second = place.write("second.jsonl", (6000..9000).map(line).collect::<String>());
    let (ran, export) =
        same_on_all(&place, &["ingest", "--strict"], &[first.clone(), second.clone()]);
    assert_eq!((ran.code, ran.err.lines().count()), (3, 1), "{}", ran.err);
    assert!(ran.err.contains("first.jsonl, line 3334"), "{}", ran.err);
    assert_eq!(export.matches("\"url\"").count(), 3333);
    let (ran, _) = same_on_all(&place, &["load"], &[first, second]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("first.jsonl, line 3334"), "{}", ran.err);
}

#[test]
fn tables_and_fingerprints_are_the_same_with_any_threads() {
    let place = TestFolder::new();
    let files = crawl(&place);
    let mut pages: Vec<String> = (0..300).map(|n| place.file(&format!("pages/{n}.html"))).collect();
    pages.insert(7, place.file("pages/none"));
    let mut crawl = GeneratedCrawl::new(9);
    let documents: String =
        (0..400).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", crawl.text())).collect();
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", "1\t2\t0.9\n3\t4\t0.6\n");
    let mut expected = None;
    for threads in THREADS {
        let with = |args: &[&str], files: &[String]| {
            let files = files.iter().map(String::as_str);
            let given = ["--threads", threads];
            let ran =
                place.run(&args.iter().copied().chain(files).chain(given).collect::<Vec<_>>());
            (ran.code, ran.out, ran.err)
        };
        let built = with(&["df", "build", "--output", "table.df", "--memory", "1"], &files);
        let found = (
            built,
            std::fs::read(place.path("table.df")).unwrap(),
            with(&["fingerprint"], &pages),
            with(
                &[
                    "fingerprint",
                    "--json",
                    "--explain",
                    "--recipe",
                    "words-idf",
                    "--df",
                    "table.df",
                ],
                &pages,
            ),
            with(&["evaluate", &documents, "--pairs", &pairs], &[]),
            with(&["df", "compare", "table.df", "table.df"], &pages[..7]),
        );
        assert_eq!((found.0.0, found.2.0, found.3.0, found.4.0, found.5.0), (0, 5, 5, 0, 0));
        assert_eq!(found.2.1.lines().count(), 300);
        match &expected {
            None => expected = Some(found),
            Some(first) => assert!(found == *first, "{threads} threads"),
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn thread_option_sets_the_number_of_threads() {
    let place = TestFolder::new();
    // A reader of a pipe waits for a writer.
    let pipes = ["one", "two", "three", "four"].map(|name| place.file(name));
    assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
    for threads in [1, 3] {
        let args = ["fingerprint", "--threads", &threads.to_string()].map(str::to_owned);
        let args: Vec<String> = args.into_iter().chain(pipes.clone()).collect();
        let mut child = place.command(&args).spawn().unwrap();
        let tasks = format!("/proc/{}/task", child.id());
        let running = || std::fs::read_dir(&tasks).unwrap().count();
        let since = Instant::now();
        while running() < threads {
            assert!(since.elapsed() < Duration::from_secs(60), "{} of {threads}", running());
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(running(), threads);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn closed_pipe_ends_the_tool() {
    let place = TestFolder::new();
    let mut crawl = GeneratedCrawl::new(5);
    for number in 0..400 {
        place.write(&format!("pages/{number}.html"), crawl.html());
    }
    let pages = (0..400).map(|n| place.file(&format!("pages/{n}.html")));
    let args: Vec<String> =
        ["fingerprint", "--explain"].map(str::to_owned).into_iter().chain(pages).collect();
    for threads in THREADS {
        let mut command = place.command(&args);
        let mut child = command.args(["--threads", threads]).spawn().unwrap();
        let mut first = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let ran = ToolRun::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    }
}

#[test]
fn named_files_are_not_all_open_at_once() {
    let place = TestFolder::new();
    let page = |i: u32| place.write(&format!("pages/{i}"), format!("page {i}"));
    let pages: Vec<String> = (0..400).map(page).collect();
    for threads in THREADS {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 128 && exec \"$0\" \"$@\""]);
        command.arg(env!("CARGO_BIN_EXE_simkeep"));
        command.args(["ingest", "--json", "--threads", threads, "--store", &place.file(threads)]);
        let ran = ToolRun::from(command.args(&pages).output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{threads}");
        assert_eq!(ran.objects()[0]["records"], 400, "{threads}");
    }
}
