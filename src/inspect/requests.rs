//! What the requests of a crawl transferred, and what they did not need to transfer or store.

use std::ops::{AddAssign, ControlFlow};
use std::path::PathBuf;

use crate::engine::results::HistoryEntry;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::{Error, Result};
use crate::layout::{Cursor, PutInteger as _};
use crate::page::{Content, Digest, Prefix, Seen, Visit, surt};
use crate::progress::{Progress, Stage};
use crate::query::histories::Histories;
use crate::sort::{FixedSizeItem, SortedItems, Workspace};
use crate::time::Time;

/// The minimum memory of a survey, in bytes.
const MEMORY_BYTES_MIN: usize = 1 << 20;

/// Some bodies of responses, and their lengths as transferred.
///
/// ```
/// use simkeep::inspect::Bodies;
/// let bodies = Bodies::default();
/// assert_eq!((bodies.count, bodies.bytes, bodies.unknown), (0, 0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bodies {
    /// The number of bodies.
    pub count: u64,
    /// The sum of the known lengths, in bytes.
    pub bytes: u64,
    /// The number of bodies whose length is unknown.
    pub unknown: u64,
}

impl Bodies {
    fn add(&mut self, bytes: Option<u64>) {
        self.count += 1;
        // Lengths come from strangers, so their sum may be too large.
        self.bytes = self.bytes.saturating_add(bytes.unwrap_or(0));
        self.unknown += u64::from(bytes.is_none());
    }
}

impl AddAssign for Bodies {
    fn add_assign(&mut self, other: Bodies) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.unknown += other.unknown;
    }
}

/// Counts of requests; see [`RequestSurvey`].
///
/// ```
/// # use simkeep::{Digest, Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::RequestSurvey;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// let seen = Observation::content(url, Time::from_ms(1_000)?, 7, epoch).digest(Digest([1; 16]));
/// store.observe(seen.bytes(5_000))?;
/// store.observe(Observation::not_modified(url, Time::from_ms(2_000)?).conditional())?;
/// let counts = RequestSurvey::default().totals(&store.snapshot(), &Progress::default())?;
/// assert_eq!((counts.requests, counts.conditional, counts.not_modified.bytes), (2, 1, 5_000));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestCounts {
    /// The number of visits.
    pub requests: u64,
    /// The number of conditional requests. A request that got "not modified" was conditional, unless
    /// it has the status 200: then it is an archive's record that repeats an unknown original.
    pub conditional: u64,
    /// The bodies that were transferred, without redirects.
    pub transferred: Bodies,
    /// The bodies that were not transferred, because the server answered "not modified". The length
    /// of such a body is the length of the page's content.
    pub not_modified: Bodies,
    /// The transferred bodies with the digest of the content before: not worth storing. If the length
    /// of such a body is unknown, it is the known length of the content before.
    pub unchanged: Bodies,
    /// The conditional requests among `unchanged`: the server has a validator that changes, or
    /// ignores the condition.
    pub conditional_unchanged: u64,
    /// The number of `unchanged` bodies that came with a `Last-Modified`, as did the content
    /// before.
    pub unchanged_dated: u64,
    /// The number of `unchanged_dated` bodies with a newer `Last-Modified`, although the content is the
    /// same.
    pub unchanged_redated: u64,
    /// The transferred bodies of new versions that were captured before, on any page: not worth
    /// storing either. Counted only if [requested](RequestSurvey::copies).
    pub copies: Bodies,
}

impl RequestCounts {
    /// The ratio of conditional requests for unchanged content that were answered "not modified",
    /// from 0 to 1; `None` without such requests. A server with a low ratio does not deserve
    /// conditional requests.
    ///
    /// ```
    /// # use simkeep::{Digest, Observation, Options, Progress, Store, Time};
    /// use simkeep::inspect::RequestSurvey;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// let seen = |ms| -> simkeep::Result<_> {
    ///     let seen = Observation::content(url, Time::from_ms(ms)?, 7, epoch);
    ///     Ok(seen.digest(Digest([1; 16])))
    /// };
    /// store.observe(seen(1_000)?)?;
    /// // The server sends the same content again.
    /// store.observe(seen(2_000)?.conditional())?;
    /// let counts = RequestSurvey::default().totals(&store.snapshot(), &Progress::default())?;
    /// assert_eq!(counts.honored(), Some(0.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn honored(&self) -> Option<f64> {
        let all = self.not_modified.count + self.conditional_unchanged;
        (all > 0).then(|| self.not_modified.count as f64 / all as f64)
    }

    /// Adds a visit. Returns whether it saw a new version with a digest, which may be a copy.
    fn add(&mut self, visit: &Visit, current: &mut Option<CurrentBody>) -> bool {
        self.requests += 1;
        // An archive's record that repeats an unknown original has the status of a whole response.
        let is_repeat = visit.status == Some(200) && !visit.conditional;
        let is_not_modified = matches!(visit.seen, Seen::NotModified { .. }) && !is_repeat;
        self.conditional += u64::from(visit.conditional || is_not_modified);
        match visit.seen {
            Seen::NotModified { .. } if is_repeat => {
                self.transferred.add(visit.bytes);
                self.unchanged.add(visit.bytes);
                false
            }
            Seen::NotModified { .. } => {
                self.not_modified.add(current.and_then(|current| current.bytes));
                if let Some(current) = current {
                    current.modified = visit.modified.or(current.modified);
                }
                false
            }
            Seen::Content(content) if content.is_redirect() => {
                *current = None;
                false
            }
            Seen::Content(content) => self.add_content(visit, &content, current),
            Seen::Gone => {
                *current = None;
                false
            }
            Seen::Failed => false,
        }
    }

    fn add_content(
        &mut self,
        visit: &Visit,
        content: &Content,
        current: &mut Option<CurrentBody>,
    ) -> bool {
        let digest = content.digest;
        let before = current.filter(|before| digest.is_some() && before.digest == digest);
        // Equal bodies have equal lengths. A revisit record of an archive has no body.
        let bytes = visit.bytes.or(before.and_then(|before| before.bytes));
        self.transferred.add(bytes);
        if let Some(before) = before {
            self.unchanged.add(bytes);
            self.conditional_unchanged += u64::from(visit.conditional);
            if let Some((before, now)) = before.modified.zip(visit.modified) {
                self.unchanged_dated += 1;
                self.unchanged_redated += u64::from(now > before);
            }
        }
        *current = Some(CurrentBody { digest, bytes, modified: visit.modified });
        digest.is_some() && before.is_none()
    }
}

impl AddAssign for RequestCounts {
    fn add_assign(&mut self, other: RequestCounts) {
        self.requests += other.requests;
        self.conditional += other.conditional;
        self.transferred += other.transferred;
        self.not_modified += other.not_modified;
        self.unchanged += other.unchanged;
        self.conditional_unchanged += other.conditional_unchanged;
        self.unchanged_dated += other.unchanged_dated;
        self.unchanged_redated += other.unchanged_redated;
        self.copies += other.copies;
    }
}

/// The content of a page before a visit.
#[derive(Clone, Copy)]
struct CurrentBody {
    digest: Option<Digest>,
    bytes: Option<u64>,
    modified: Option<Time>,
}

/// The requests to one host.
///
/// ```
/// # use std::ops::ControlFlow;
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::inspect::{HostRequests, RequestSurvey};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::failed("https://example.com/", Time::now()))?;
/// let mut hosts = Vec::new();
/// let each = |host: HostRequests| {
///     hosts.push(host);
///     ControlFlow::Continue(())
/// };
/// RequestSurvey::default().run(&store.snapshot(), &Progress::default(), each)?;
/// assert_eq!((hosts[0].host.as_str(), hosts[0].counts.requests), ("example.com", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostRequests {
    /// The name of the host; for URLs without a host, the scheme and a colon.
    pub host: String,
    /// The counts of its requests.
    pub counts: RequestCounts,
}

/// A survey of the requests of a crawl: what they transferred, and what they saved.
///
/// A survey reads the histories of all pages, once, or twice to count copies. So a purge takes the
/// figures of its pages along. Takes the memory of one history, and scratch files of 50 bytes for
/// each version if copies are counted.
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::inspect::RequestSurvey;
/// let survey = RequestSurvey::default().under(Prefix::parse("example.org")?).copies(true);
/// assert!(survey.copies);
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestSurvey {
    /// Only pages under this prefix are counted.
    pub under: Option<Prefix>,
    /// Whether to count copies.
    pub copies: bool,
    /// The memory to sort versions, in bytes; `None` for 64 MiB.
    pub memory_bytes: Option<usize>,
    /// The directory for scratch files; `None` for the system's temporary directory.
    pub scratch: Option<PathBuf>,
}

impl RequestSurvey {
    /// Counts only pages under a prefix. A body counts as a copy only of bodies under the prefix.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Progress, Store, Time};
    /// use simkeep::inspect::RequestSurvey;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// let survey = RequestSurvey::default().under(Prefix::parse("example.org")?);
    /// assert_eq!(survey.totals(&store.snapshot(), &Progress::default())?.requests, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> RequestSurvey {
        self.under = prefix.into();
        self
    }

    /// Sets whether to count copies, which costs a second pass and a sort of all versions.
    ///
    /// ```
    /// # use simkeep::{Digest, Observation, Options, Progress, Store, Time};
    /// use simkeep::inspect::RequestSurvey;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for (ms, url) in [(1_000, "https://example.com/"), (2_000, "https://example.org/")] {
    ///     let seen = Observation::content(url, Time::from_ms(ms)?, 7, store.change_epoch());
    ///     store.observe(seen.digest(Digest([1; 16])).bytes(300))?;
    /// }
    /// let survey = RequestSurvey::default().copies(true);
    /// assert_eq!(survey.totals(&store.snapshot(), &Progress::default())?.copies.bytes, 300);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn copies(mut self, copies: bool) -> RequestSurvey {
        self.copies = copies;
        self
    }

    /// Sets the directory for scratch files, which must exist.
    ///
    /// ```
    /// use simkeep::inspect::RequestSurvey;
    /// let survey = RequestSurvey::default().scratch(std::env::temp_dir());
    /// assert!(survey.scratch.is_some());
    /// ```
    #[must_use]
    pub fn scratch(mut self, dir: impl Into<Option<PathBuf>>) -> RequestSurvey {
        self.scratch = dir.into();
        self
    }

    /// Returns the counts of all hosts together.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::inspect::RequestSurvey;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// let counts = RequestSurvey::default().totals(&store.snapshot(), &Progress::default())?;
    /// assert_eq!((counts.requests, counts.honored()), (1, None));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`run`](RequestSurvey::run).
    pub fn totals(&self, snapshot: &Snapshot, progress: &Progress) -> Result<RequestCounts> {
        let mut totals = RequestCounts::default();
        self.run(snapshot, progress, |host| {
            totals += host.counts;
            ControlFlow::Continue(())
        })?;
        Ok(totals)
    }

    /// Passes the counts of each host to `each`, in SURT order, until `each` breaks.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::inspect::RequestSurvey;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// RequestSurvey::default().run(&store.snapshot(), &Progress::default(), |host| {
    ///     println!("{}: {} requests", host.host, host.counts.requests);
    ///     ControlFlow::Continue(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if a page is damaged, [`Error::Io`] if a scratch file cannot be written,
    /// [`Error::Cancelled`], and [`Error::Limit`] for more than 2^32 pages.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        each: impl FnMut(HostRequests) -> ControlFlow<()>,
    ) -> Result<()> {
        let memory_bytes = self.memory_bytes.unwrap_or(64 << 20).max(MEMORY_BYTES_MIN);
        let work = Workspace::new(self.scratch.clone(), memory_bytes);
        snapshot.poison_on_bug(|| {
            let run = || {
                let mut copies = match self.copies {
                    true => self.find_copies(snapshot, &work, progress)?,
                    false => SortedItems::none(),
                };
                self.count(snapshot, &mut copies, progress, each)
            };
            let done = run().map_err(|e| work.named(e));
            progress.finish();
            done
        })
    }

    /// Calls `each` for the visits of each page, with the number of the page in SURT order.
    fn each_page(
        &self,
        snapshot: &Snapshot,
        progress: &Progress,
        mut each: impl FnMut(u32, &str, &[HistoryEntry]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        progress.start(Stage::Counting, Some(StoreTotals::of(snapshot)?.pages))?;
        let mut number = 0_u32;
        for page in Histories::of(snapshot, self.under.as_ref()) {
            let (url, history) = page?;
            progress.pass(1);
            progress.check()?;
            if each(number, &url, &history)?.is_break() {
                return Ok(());
            }
            number = number.checked_add(1).ok_or(Error::Limit {
                what: "pages to count",
                max: u32::MAX.into(),
                instead: "count the pages under one prefix at a time",
            })?;
        }
        Ok(())
    }

    /// Finds the versions whose content was captured before: all captures of a digest except the
    /// first. Returns these versions in the order of the pages.
    fn find_copies(
        &self,
        snapshot: &Snapshot,
        work: &Workspace,
        progress: &Progress,
    ) -> Result<SortedItems<CopiedVersion>> {
        let mut versions = work.sorter(2);
        self.each_page(snapshot, progress, |page, _, history| {
            each_version(history, &mut RequestCounts::default(), |visit, digest| {
                let (time, bytes) = (visit.time.as_ms(), visit.bytes);
                versions.push(CapturedVersion { digest: digest.0, time, page, bytes })
            })?;
            Ok(ControlFlow::Continue(()))
        })?;
        let (mut versions, mut copies) = (versions.finish()?, work.sorter(2));
        let mut last = None;
        while let Some(CapturedVersion { digest, page, bytes, .. }) = versions.next()? {
            if last.replace(digest) == Some(digest) {
                copies.push(CopiedVersion { page, bytes })?;
            }
        }
        copies.finish()
    }

    /// Counts the requests of each host. `copies` are the versions that are copies, in the order of
    /// the pages.
    fn count(
        &self,
        snapshot: &Snapshot,
        copies: &mut SortedItems<CopiedVersion>,
        progress: &Progress,
        mut each: impl FnMut(HostRequests) -> ControlFlow<()>,
    ) -> Result<()> {
        let (mut host, mut next_copy) = (None::<HostRequests>, copies.next()?);
        let mut is_ended = false;
        self.each_page(snapshot, progress, |page, url, history| {
            let name = surt::host_name(&surt::key_of(url));
            if let Some(done) = host.take_if(|host| host.host != name)
                && each(done).is_break()
            {
                is_ended = true;
                return Ok(ControlFlow::Break(()));
            }
            let new = || HostRequests { host: name, counts: RequestCounts::default() };
            let counts = &mut host.get_or_insert_with(new).counts;
            each_version(history, counts, |_, _| Ok(()))?;
            while let Some(copy) = next_copy.filter(|copy| copy.page == page) {
                counts.copies.add(copy.bytes);
                next_copy = copies.next()?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some(last) = host.filter(|_| !is_ended) {
            let _ = each(last);
        }
        Ok(())
    }
}

/// Counts the visits of a page. Calls `version` for each visit that saw a new version with a digest.
fn each_version(
    history: &[HistoryEntry],
    counts: &mut RequestCounts,
    mut version: impl FnMut(&Visit, Digest) -> Result<()>,
) -> Result<()> {
    let mut current = None;
    for (visit, _) in history.iter().filter_map(HistoryEntry::visit) {
        if counts.add(&visit, &mut current)
            && let Some(digest) = visit.seen.digest()
        {
            version(&visit, digest)?;
        }
    }
    Ok(())
}

/// A new version of a page, as a visit captured it; ordered by digest, then by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CapturedVersion {
    digest: [u8; 16],
    time: i64,
    page: u32,
    bytes: Option<u64>,
}

impl FixedSizeItem for CapturedVersion {
    const BYTES: usize = 37;

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.digest);
        out.put_u64(self.time.cast_unsigned());
        out.put_u32(self.page);
        put_bytes(self.bytes, out);
    }

    fn take(bytes: &[u8]) -> Option<CapturedVersion> {
        let (digest, rest) = bytes.split_first_chunk()?;
        let mut cursor = Cursor::new(rest);
        let (time, page) = (cursor.u64()?.cast_signed(), cursor.u32()?);
        Some(CapturedVersion { digest: *digest, time, page, bytes: take_bytes(&mut cursor)? })
    }

    fn sort(items: &mut Vec<CapturedVersion>) {
        items.sort_unstable();
    }
}

/// A version that is a copy; ordered by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CopiedVersion {
    page: u32,
    bytes: Option<u64>,
}

impl FixedSizeItem for CopiedVersion {
    const BYTES: usize = 13;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(self.page);
        put_bytes(self.bytes, out);
    }

    fn take(bytes: &[u8]) -> Option<CopiedVersion> {
        let mut cursor = Cursor::new(bytes);
        Some(CopiedVersion { page: cursor.u32()?, bytes: take_bytes(&mut cursor)? })
    }

    fn sort(items: &mut Vec<CopiedVersion>) {
        items.sort_unstable();
    }
}

fn put_bytes(bytes: Option<u64>, out: &mut Vec<u8>) {
    out.push(bytes.is_some().into());
    out.put_u64(bytes.unwrap_or(0));
}

#[expect(clippy::option_option, reason = "damaged bytes, and an unknown number")]
fn take_bytes(cursor: &mut Cursor<'_>) -> Option<Option<u64>> {
    let (is_known, bytes) = (cursor.u8()? != 0, cursor.u64()?);
    Some(is_known.then_some(bytes))
}
