//! Checks the system calls of a process: each file of a store is opened, written, synced, renamed,
//! truncated and removed only through the `Disk` trait, and the disk does what it is asked to do.
//!
//! A disk in front of the real one writes a mark before and after each operation, to nowhere; the tracer
//! sees the marks among the system calls of the same thread.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use simkeep::disk::{
    Access, Dir, Disk, DiskFile, DiskLayer, FileMap, FileName, LinkSource, LockMode, LockOutcome,
    RealDisk,
};
use simkeep::load::LoadOptions;
use simkeep::{Observation, Progress, Role, Scope, Store};
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, ms, observation, small, sound};

use super::child::ChildProcess;
use super::scene::{TestScene, say, succeeds, text};

/// The real disk, with marks around its operations.
struct MarkedDisk {
    disk: RealDisk,
    marks: TraceMarks,
}

#[derive(Clone)]
struct TraceMarks(Arc<File>);

impl TraceMarks {
    /// Marks the beginning and the end of an operation on a file.
    fn around<T>(
        &self,
        operation: impl fmt::Display,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let write = |mark: &str| (&*self.0).write_all(mark.as_bytes()).unwrap();
        write(&format!("mark: begin {operation}"));
        let result = call();
        write(if result.is_ok() { "mark: done" } else { "mark: failed" });
        result
    }
}

fn directory(dir: Dir) -> &'static str {
    dir.name().unwrap_or("")
}

impl fmt::Debug for MarkedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.disk.fmt(f)
    }
}

impl DiskLayer for MarkedDisk {
    fn inner(&self) -> &dyn Disk {
        &self.disk
    }

    fn linkable(&self, _: FileName) -> io::Result<LinkSource> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_dirs(&self, dirs: &[Dir]) -> io::Result<()> {
        self.marks.around("create_dirs ", || self.disk.create_dirs(dirs))
    }
    fn list(&self, dir: Dir) -> io::Result<Vec<OsString>> {
        self.marks.around(format!("list {}", directory(dir)), || self.disk.list(dir))
    }
    fn open(&self, name: FileName, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file =
            self.marks.around(format!("{access:?} {name}"), || self.disk.open(name, access))?;
        Ok(Box::new(MarkedFile { file, name, marks: self.marks.clone() }))
    }
    fn map(&self, name: FileName) -> io::Result<FileMap> {
        self.marks.around(format!("map {name}"), || self.disk.map(name))
    }
    fn rename(&self, from: FileName, to: FileName) -> io::Result<()> {
        self.marks.around(format!("rename {from} {to}"), || self.disk.rename(from, to))
    }
    fn remove(&self, name: FileName) -> io::Result<()> {
        self.marks.around(format!("remove {name}"), || self.disk.remove(name))
    }
    fn sync_dir(&self, dir: Dir) -> io::Result<()> {
        self.marks.around(format!("sync {}", directory(dir)), || self.disk.sync_dir(dir))
    }
    fn lock(&self, name: FileName, kind: LockMode) -> io::Result<LockOutcome> {
        self.marks.around(format!("lock {name}"), || self.disk.lock(name, kind))
    }
}

struct MarkedFile {
    file: Box<dyn DiskFile>,
    name: FileName,
    marks: TraceMarks,
}

impl fmt::Debug for MarkedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(f)
    }
}

impl DiskFile for MarkedFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, buf)
    }
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let operation = format!("write {} {}", self.name, data.len());
        self.marks.around(operation, || self.file.write_at(offset, data))
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.marks.around(format!("set_len {} {len}", self.name), || self.file.set_len(len))
    }
    fn sync(&self) -> io::Result<()> {
        self.marks.around(format!("sync {}", self.name), || self.file.sync())
    }
}

fn marked(path: &Path) -> Arc<dyn Disk> {
    let marks = TraceMarks(Arc::new(File::options().write(true).open("/dev/null").unwrap()));
    Arc::new(MarkedDisk { disk: RealDisk::new(path), marks })
}

/// Does everything that a store can do, in the foreground and in the background.
pub(crate) fn work(path: &Path) {
    let mut choice = choice(3);
    for background in [false, true] {
        let options = small().background(background);
        let store = match background {
            false => Store::create(marked(path), options).unwrap(),
            true => Store::open(marked(path), options).unwrap(),
        };
        store.register_epoch("two", Role::Both).unwrap();
        let mut batch = |n: i64| -> Vec<Observation<'static>> {
            (0..n).map(|time| observation(&mut choice, 10, time)).collect()
        };
        for observation in batch(20) {
            store.observe(observation).unwrap();
        }
        store.observe_batch(&batch(30)).unwrap();
        store.flush().unwrap();
        store.seal().unwrap();
        store.observe_batch(&batch(30)).unwrap();
        store.forget(Scope::Url(URLS[0])).unwrap();
        store.forget(Scope::Prefix(PREFIXES[8].prefix())).unwrap();
        store.wait_idle().unwrap();
        store
            .load(batch(3000).iter().map(Ok), LoadOptions::default().memory_bytes(64 << 10))
            .unwrap();
        store.merge(&Progress::default()).unwrap();
        store.purge(Scope::Url(URLS[1]), &Progress::default()).unwrap();
        store.observe_batch(&batch(40)).unwrap();
        store.purge(Scope::Prefix(PREFIXES[0].prefix()), &Progress::default()).unwrap();
        store.snapshot().near(7, 64).unwrap();
        sound(&store).unwrap();
        store.close().unwrap();
    }
    // A file that a crash left behind, to be removed.
    fs::write(path.join("segments/0000009999.seg.new"), "left behind").unwrap();
    Store::open(marked(path), small()).unwrap().close().unwrap();
}

/// Does some work, then makes every forbidden kind of call that bypasses the disk.
pub(crate) fn work_around(path: &Path) {
    let store = Store::create(marked(path), small()).unwrap();
    store.observe(Observation::content(URLS[0], ms(0), 7, store.change_epoch())).unwrap();
    store.close().unwrap();
    let catalog = File::options().read(true).write(true).open(path.join("catalog.redb")).unwrap();
    catalog.write_all_at(b"redb", 0).unwrap();
    catalog.set_len(catalog.metadata().unwrap().len()).unwrap();
    catalog.sync_data().unwrap();
    fs::rename(path.join("LOCK"), path.join("LOCK2")).unwrap();
    fs::remove_file(path.join("LOCK2")).unwrap();
    fs::create_dir(path.join("other")).unwrap();
}

/// An operation that a mark announced.
struct TracedOperation {
    kind: String,
    file: String,
    /// The new name of a renamed file, or a length.
    more: String,
    /// The number of calls that do it, and the bytes that they wrote.
    calls: u64,
    bytes: u64,
}

/// The system calls of a thread that concern a store.
struct TracedThread<'a> {
    store: &'a str,
    operation: Option<TracedOperation>,
    /// Operations through the disk.
    done: u64,
    /// Calls that bypass the disk.
    beside: Vec<String>,
}

/// Calls that change nothing, whatever their arguments.
const READS: [&str; 24] = [
    "access",
    "close",
    "dup",
    "fadvise64",
    "fcntl",
    "flock",
    "fstat",
    "fstatfs",
    "getdents64",
    "ioctl",
    "lseek",
    "lstat",
    "newfstatat",
    "poll",
    "pread64",
    "preadv",
    "read",
    "readlink",
    "readlinkat",
    "readv",
    "stat",
    "statfs",
    "statx",
    "faccessat2",
];

impl<'a> TracedThread<'a> {
    fn new(store: &'a str) -> TracedThread<'a> {
        TracedThread { store, operation: None, done: 0, beside: Vec::new() }
    }

    /// Returns the store's files that a line names, by their paths within it.
    fn files(&self, line: &'a str) -> Vec<&'a str> {
        let ends = |c: char| c == '"' || c == '>' || c == ' ';
        line.match_indices(self.store)
            .filter_map(|(at, store)| {
                let rest = &line[at + store.len()..];
                let path = &rest[..rest.find(ends)?];
                // Otherwise it is a longer name, of something beside the store.
                if path.is_empty() { Some("") } else { path.strip_prefix('/') }
            })
            .collect()
    }

    /// Takes a line of the trace: a call with its arguments and its result.
    fn see(&mut self, line: &'a str) {
        let Some((call, rest)) = line.split_once('(') else { return };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
        if let Some(mark) = arguments.split('"').nth(1).and_then(|text| text.strip_prefix("mark: "))
        {
            return self.see_mark(mark);
        }
        if call.starts_with("io_uring") {
            self.beside.push(line.to_owned());
        }
        let files = self.files(arguments);
        if files.is_empty() || READS.contains(&call) {
            return;
        }
        let failed = result.starts_with('-');
        match &mut self.operation {
            Some(operation) if operation.explains(call, arguments, &files) => {
                if !failed && operation.is_done_by(call) {
                    operation.calls += 1;
                    operation.bytes += result.parse::<u64>().unwrap_or(0);
                }
            }
            _ => self.beside.push(line.to_owned()),
        }
    }

    fn see_mark(&mut self, mark: &str) {
        if let Some(operation) = mark.strip_prefix("begin ") {
            let mut words = operation.split(' ').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            let (kind, file, more) = (word(), word(), word());
            assert!(self.operation.is_none(), "two operations at once");
            self.operation = Some(TracedOperation { kind, file, more, calls: 0, bytes: 0 });
            return;
        }
        let operation = self.operation.take().expect("an operation that began");
        if mark == "done" {
            operation.check();
            self.done += 1;
        }
    }
}

impl TracedOperation {
    /// Returns whether a call belongs to this operation.
    fn explains(&self, call: &str, arguments: &str, files: &[&str]) -> bool {
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND"];
        let flags: Vec<&str> = writes.into_iter().filter(|flag| arguments.contains(flag)).collect();
        let opens = call == "openat";
        if self.kind == "create_dirs" {
            let is_directory = files.iter().all(|file| ["", "segments"].contains(file));
            return is_directory
                && (matches!(call, "mkdir" | "fsync") || opens && flags.is_empty());
        }
        if self.kind == "rename" {
            return self.is_done_by(call) && files == [&*self.file, &*self.more];
        }
        // It follows no link, and waits for no pipe.
        let itself = opens && ["O_NOFOLLOW", "O_NONBLOCK"].iter().all(|f| arguments.contains(f));
        let made = flags == ["O_RDWR", "O_CREAT", "O_EXCL"];
        files == [&*self.file]
            && match &*self.kind {
                "list" => opens && flags.is_empty(),
                "Read" => itself && flags.is_empty(),
                "Write" => itself && flags == ["O_RDWR"],
                "Create" => itself && made,
                "lock" => itself && (made || flags == ["O_RDWR"]),
                "map" => {
                    itself && flags.is_empty()
                        || call == "mmap" && arguments.contains(", PROT_READ, ")
                }
                "sync" => opens && flags.is_empty() || self.is_done_by(call),
                _ => self.is_done_by(call),
            }
    }

    /// Returns whether a call is the main call of this operation.
    fn is_done_by(&self, call: &str) -> bool {
        match &*self.kind {
            "Read" | "Write" | "Create" | "lock" | "list" => call == "openat",
            "create_dirs" => call == "mkdir",
            "map" => call == "mmap",
            "write" => call == "pwrite64",
            "set_len" => call == "ftruncate",
            "sync" => matches!(call, "fsync" | "fdatasync"),
            "rename" => matches!(call, "rename" | "renameat" | "renameat2"),
            "remove" => matches!(call, "unlink" | "unlinkat"),
            kind => panic!("no operation: {kind}"),
        }
    }

    /// Checks that the operation was done, and only once as a rule.
    fn check(&self) {
        let TracedOperation { kind, file, more, calls, bytes } = self;
        let done = match &**kind {
            "write" => more.parse() == Ok(*bytes),
            // The store's own folder and `segments`, unless they exist.
            "create_dirs" => *calls <= 2,
            // An empty file is not mapped, and a missing one not locked.
            "map" | "lock" => *calls <= 1,
            _ => *calls == 1,
        };
        assert!(done, "{kind} {file} {more}: {calls} calls, {bytes} bytes");
    }
}

/// Traces a child that works on a store. Returns how many operations went through the disk, and the
/// calls that bypassed it.
fn trace(scene: &TestScene, role: &str) -> (u64, Vec<String>) {
    let (store, out) = (scene.path("crawl.simkeep"), scene.path("trace"));
    let calls = "--trace=%file,%desc,io_uring_setup,io_uring_enter";
    let tracer = ["strace", "-f", "-ff", "-y", "-s", "200", calls, "-o", text(&out)];
    let mut child = ChildProcess::start_under(&tracer, role, &[&store.display()]);
    assert!(child.end().success());
    let (mut done, mut beside) = (0, Vec::new());
    for entry in fs::read_dir(scene.path("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|_| path.file_stem().unwrap() != "trace") {
            continue;
        }
        // The trace contains the bytes of a file.
        let bytes = fs::read(path).unwrap();
        let lines = String::from_utf8_lossy(&bytes);
        let mut thread = TracedThread::new(text(&store));
        lines.lines().for_each(|line| thread.see(line));
        done += thread.done;
        beside.extend(thread.beside);
    }
    (done, beside)
}

pub(crate) fn may_trace() -> bool {
    let may = succeeds(&["strace", "-f", "-o", "/dev/null", "true"]);
    if !may {
        say("skipped: what needs a tracer (no strace, or it may not trace)");
    }
    may
}

#[test]
fn only_the_disk_seam_touches_files_of_a_store() {
    if !may_trace() {
        return;
    }
    let (done, beside) = trace(&TestScene::new("strace"), "work");
    let left_behind = beside.iter().filter(|line| line.contains("0000009999.seg.new")).count();
    say(format!("{done} operations at the seam, each done; no call bypasses it"));
    assert!(done > 500, "{done}");
    // Opening and writing the test's own file.
    assert_eq!((left_behind, beside.len()), (2, 2), "{beside:#?}");
}

#[test]
fn calls_that_bypass_the_seam_are_detected() {
    if !may_trace() {
        return;
    }
    let (_, beside) = trace(&TestScene::new("strace"), "work around");
    let calls: Vec<&str> = beside.iter().map(|line| line.split('(').next().unwrap()).collect();
    let expected = ["openat", "pwrite64", "ftruncate", "fdatasync", "rename", "unlink", "mkdir"];
    assert_eq!(calls, expected, "{beside:#?}");
}
