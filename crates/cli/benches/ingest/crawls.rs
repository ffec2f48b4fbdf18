//! Crawls as files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::pages::PageGenerator;

/// A kind of file.
pub(crate) struct CrawlKind {
    pub(crate) name: &'static str,
    /// What it is made of.
    write: fn(&mut dyn Write, &mut PageGenerator, bytes: usize),
    /// How many files there are.
    files: usize,
    ending: &'static str,
}

/// All kinds.
pub(crate) const KINDS: [CrawlKind; 6] = [
    CrawlKind { name: "warc", write: archive, files: 1, ending: "warc.gz" },
    CrawlKind { name: "warcs", write: archive, files: 4, ending: "warc.gz" },
    CrawlKind { name: "plain-warc", write: plain_archive, files: 1, ending: "warc" },
    CrawlKind { name: "long-lines", write: long_lines, files: 1, ending: "jsonl.gz" },
    CrawlKind { name: "plain-long-lines", write: long_lines, files: 1, ending: "jsonl" },
    CrawlKind { name: "short-lines", write: short_lines, files: 1, ending: "jsonl" },
];

impl CrawlKind {
    /// Writes the files to a folder, with `bytes` bytes of documents in total.
    pub(crate) fn make(&self, folder: &Path, bytes: usize) -> Vec<PathBuf> {
        let mut pages = PageGenerator::new();
        let make = |number: usize| {
            let path = folder.join(format!("{}-{number}.{}", self.name, self.ending));
            let mut file = BufWriter::new(File::create(&path).unwrap());
            let bytes = bytes / self.files;
            if self.ending == "jsonl.gz" {
                let mut file = GzEncoder::new(file, Compression::new(6));
                (self.write)(&mut file, &mut pages, bytes);
                file.finish().unwrap().flush().unwrap();
            } else {
                (self.write)(&mut file, &mut pages, bytes);
                file.flush().unwrap();
            }
            path
        };
        (0..self.files).map(make).collect()
    }
}

/// An archive like those of large crawls: each record packed by itself, with requests, responses
/// and declared digests.
fn archive(file: &mut dyn Write, pages: &mut PageGenerator, bytes: usize) {
    records(pages, bytes, |record| {
        let mut packer = GzEncoder::new(&mut *file, Compression::new(6));
        packer.write_all(record).unwrap();
        packer.finish().unwrap();
    });
}

fn plain_archive(file: &mut dyn Write, pages: &mut PageGenerator, bytes: usize) {
    records(pages, bytes, |record| file.write_all(record).unwrap());
}

fn records(pages: &mut PageGenerator, bytes: usize, mut each: impl FnMut(&[u8])) {
    let mut made = 0;
    for number in 0.. {
        // Most pages are of some ten kB, and some of many times that.
        let size = 4000 << pages.below(6);
        let html = pages.html(size);
        made += html.len();
        let url = format!("https://site{}.example/{number}/index.html", pages.below(5000));
        let date = "2024-05-01T12:00:00Z";
        let request = "GET / HTTP/1.1\r\nHost: site.example\r\nAccept: */*\r\n\r\n";
        let response = format!(
            "HTTP/1.1 200 OK\r\nDate: Wed, 01 May 2024 12:00:00 GMT\r\nServer: nginx\r\n\
             Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nVary: Accept\r\n\
             Cache-Control: max-age=3600\r\nX-Frame-Options: SAMEORIGIN\r\n\r\n{html}",
            html.len()
        );
        for (kind, block) in [("request", request), ("response", &response)] {
            let record = format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n\
                 WARC-Record-ID: <urn:uuid:{number:032x}>\r\nWARC-IP-Address: 192.0.2.1\r\n\
                 Content-Type: application/http; msgtype={kind}\r\nContent-Length: {}\r\n\r\n\
                 {block}\r\n\r\n",
                block.len()
            );
            each(record.as_bytes());
        }
        if made >= bytes {
            return;
        }
    }
}

fn long_lines(file: &mut dyn Write, pages: &mut PageGenerator, bytes: usize) {
    lines(file, pages, bytes, 8000);
}

fn short_lines(file: &mut dyn Write, pages: &mut PageGenerator, bytes: usize) {
    lines(file, pages, bytes, 200);
}

fn lines(file: &mut dyn Write, pages: &mut PageGenerator, bytes: usize, text_bytes: usize) {
    let mut made = 0;
    for number in 0_u64.. {
        let text = pages.text(text_bytes);
        made += text.len();
        let url = format!("https://site{}.example/{number}", pages.below(5000));
        let line = json!({ "url": url, "t": 1_700_000_000 + number, "status": 200, "text": text });
        writeln!(file, "{line}").unwrap();
        if made >= bytes {
            return;
        }
    }
}
