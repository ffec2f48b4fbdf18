//! Tests the tool from outside: its output, the files that it leaves, and its exit codes.

#![cfg(test)]

mod aliases;
mod archive;
mod ask;
mod backup;
mod batch;
mod broken;
mod classes;
mod cluster;
mod crawl;
mod dedup;
mod df;
mod diff;
mod digest;
mod due;
mod dump;
mod epoch;
mod evaluate;
mod examples;
mod exits;
mod export;
mod exported;
mod filtered;
mod fingerprint;
mod folder;
mod foreign;
mod forget;
mod formats;
mod hostile;
mod ingest;
mod inspect;
mod interrupted;
mod killed;
mod languages;
mod live;
mod load;
mod manual;
mod mirrors;
mod named;
mod no_room;
mod no_threads;
mod outcomes;
mod outputs;
mod pace;
mod pairs;
mod publish;
mod repair;
mod report;
mod requests;
mod resembling;
mod revisit;
mod schema;
mod short;
mod shown;
mod simulate;
mod snapshots;
mod stopped;
mod tables;
mod tail;
mod terms;
mod threads;
mod times;
mod versions;
mod without;
mod wrong_lines;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use simkeep::{Options, Store};
use tempfile::TempDir;

/// A folder with a store, which the tool finds through `SIMKEEP_STORE`.
struct TestFolder {
    dir: TempDir,
}

/// The result of a run.
struct ToolRun {
    code: i32,
    out: String,
    err: String,
}

impl TestFolder {
    fn new() -> TestFolder {
        TestFolder { dir: tempfile::tempdir().unwrap() }
    }

    /// A folder whose store has these lines.
    fn with(lines: &str) -> TestFolder {
        let place = TestFolder::new();
        place.ingest(lines);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The path of a file here, as an argument.
    fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn store(&self) -> PathBuf {
        self.path("store")
    }

    fn open(&self) -> Store {
        Store::open(self.store(), Options::default()).unwrap()
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self.file(name)
    }

    fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simkeep"));
        // Header lines have their own tests.
        command
            .arg("--no-header")
            .args(args)
            .env("SIMKEEP_STORE", self.store())
            .current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the tool with the header and summary lines of tables.
    fn run_with_header(&self, args: &[&str]) -> ToolRun {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simkeep"));
        command.args(args).env("SIMKEEP_STORE", self.store()).current_dir(self.dir.path());
        ToolRun::from(command.stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the tool with the header and summary lines of tables. Asserts that it succeeds, and returns
    /// its output.
    fn with_header(&self, args: &[&str]) -> String {
        let ran = self.run_with_header(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        ran.out
    }

    /// Asserts that `diff` finds no difference.
    fn same(&self, args: &[&str]) {
        let ran = self.run(&[&["diff"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{args:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }

    fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> ToolRun {
        ToolRun::from(self.command(args).output().unwrap())
    }

    /// Runs the tool, and returns the bytes of its output.
    fn run_for_bytes(&self, args: &[&str]) -> Vec<u8> {
        self.command(args).output().unwrap().stdout
    }

    fn run_with_input<S: AsRef<OsStr>>(&self, args: &[S], input: &str) -> ToolRun {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // The tool may end before it has read everything.
        let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let ran = ToolRun::from(child.wait_with_output().unwrap());
        writer.join().unwrap();
        ran
    }

    /// Runs the tool on a pseudo-terminal with some environment variables. Returns `None` if there is no
    /// `script` command.
    fn on_terminal(
        &self,
        args: &[&str],
        variables: &[(&str, &str)],
        input: &str,
    ) -> Option<ToolRun> {
        let words = [&[env!("CARGO_BIN_EXE_simkeep")], args].concat();
        let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let mut command = Command::new("script");
        command.args(["-qec", &line.join(" "), "/dev/null"]).env("SIMKEEP_STORE", self.store());
        command.envs(variables.iter().copied()).current_dir(self.dir.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().ok()?;
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Some(ToolRun::from(child.wait_with_output().unwrap()))
    }

    /// Runs the tool, which must succeed, and returns its output.
    fn done<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
        ran.out
    }

    /// Ingests lines from standard input with any times, none of them broken, and returns the summary.
    fn ingest(&self, lines: &str) -> Value {
        self.ingest_with(&[], lines)
    }

    /// Ingests lines that may begin epochs in the existing store.
    fn ingest_beginning(&self, lines: &str) -> Value {
        self.ingest_with(&["--begin-epoch"], lines)
    }

    fn ingest_with(&self, options: &[&str], lines: &str) -> Value {
        let args = ["ingest", "-", "--json", "--clock-tolerance", "none"];
        let ran = self.run_with_input(&[&args, options].concat(), lines);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.objects().remove(0)
    }

    /// Loads lines from standard input, and returns the summary.
    fn load(&self, lines: &str) -> Value {
        let args = ["load", "-", "--json", "--clock-tolerance", "none"];
        let ran = self.run_with_input(&args, lines);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.objects().remove(0)
    }

    fn export(&self) -> String {
        self.done(&["export"])
    }
}

impl ToolRun {
    /// The printed JSON objects, one per line.
    fn objects(&self) -> Vec<Value> {
        objects(&self.out)
    }

    /// The messages on standard error, with --json.
    fn said(&self) -> Vec<String> {
        let message = |said: Value| said["message"].as_str().unwrap().to_owned();
        objects(&self.err).into_iter().map(message).collect()
    }
}

impl From<Output> for ToolRun {
    fn from(output: Output) -> ToolRun {
        ToolRun {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn objects(lines: &str) -> Vec<Value> {
    let object = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(value.is_object(), "{line}");
        value
    };
    lines.lines().map(object).collect()
}

/// The lines of an export that are entries.
fn entries(export: &str) -> Vec<&str> {
    export.lines().filter(|line| line.starts_with("{\"url\"")).collect()
}

/// An export as lines for `ingest`: without the lines that frame it.
fn plain(export: &str) -> String {
    let lines = export.lines().filter(|line| !line.starts_with("{\"simkeep\""));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Every file of a folder: its name, its time of modification, its bytes.
fn files(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let modified = path.metadata().unwrap().modified().unwrap();
            found.push((path.clone(), modified, std::fs::read(path).unwrap()));
        }
    }
    found.sort();
    found
}

/// Pages of two sites: one that changes and returns, is gone and fails, and others near it.
const CRAWL: &str = r#"
{"url":"https://example.com/terms","t":"2024-01-01T00:00:00Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","status":200,"epoch":"e"}
{"url":"https://example.com/terms","t":"2024-01-02T00:00:00Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","status":200,"epoch":"e"}
{"url":"https://example.com/terms","t":"2024-01-03T00:00:00Z","fingerprint":"00000000000000f0","digest":"ff0102030405060708090a0b0c0d0e0f","status":200,"epoch":"e"}
{"url":"https://example.com/terms","t":"2024-01-04T00:00:00.25Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","status":200,"epoch":"e"}
{"url":"https://example.com/terms","t":"2024-01-05T00:00:00Z","seen":"not-modified","status":304}
{"url":"https://example.com/terms","t":"2024-01-06T00:00:00Z","seen":"failed"}
{"url":"https://example.com/old","t":"2024-01-01T00:00:00Z","fingerprint":"00000000000000fe","status":200,"epoch":"e"}
{"url":"https://example.com/old","t":"2024-01-02T00:00:00Z","seen":"gone","status":404}
{"url":"https://docs.example.com/terms","t":"2024-01-01T00:00:00Z","fingerprint":"00000000000000fd","epoch":"e"}
{"url":"https://example.org/","t":"2024-01-01T00:00:00Z","fingerprint":"ffffffffffffff00","epoch":"e"}
"#;
