//! A dump of one segment, byte by byte.

use std::ops::ControlFlow;

use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::Epoch;
use crate::segment::DumpSelection;

pub use crate::segment::DumpLine;

/// Selects the parts of a segment to dump; for [`DumpQuery::run`].
///
/// ```
/// use simkeep::inspect::DumpQuery;
///
/// let lists = DumpQuery::all().section("lists").from(0x8000);
/// assert_eq!(lists.from, 0x8000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpQuery {
    /// Only the sections with this name, which is a name of [`SectionView`](super::SectionView), or
    /// "head", "table" or "trailer".
    pub section: Option<String>,
    /// Only the sections with this part number.
    pub part: Option<u16>,
    /// Only the sections of the tables of this epoch.
    pub epoch: Option<Epoch>,
    /// Only parts of the file that end after this offset.
    pub from: u64,
}

impl DumpQuery {
    /// Selects the whole file, including the gaps between sections.
    ///
    /// ```
    /// use simkeep::inspect::DumpQuery;
    /// assert_eq!(DumpQuery::all().section, None);
    /// ```
    #[must_use]
    pub fn all() -> DumpQuery {
        DumpQuery::default()
    }

    /// Selects the sections with a name.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::inspect::DumpQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// let id = store.stats()?.segments[0].id;
    /// let mut bytes = 0;
    /// DumpQuery::all().section("trailer").run(&store.snapshot(), id, |line| {
    ///     bytes += line.len;
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(bytes > 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn section(mut self, name: impl Into<String>) -> DumpQuery {
        self.section = Some(name.into());
        self
    }

    /// Selects the sections with a part number: the number of a rotation or of a table of cells.
    #[must_use]
    pub fn part(mut self, part: u16) -> DumpQuery {
        self.part = Some(part);
        self
    }

    /// Selects the sections of an epoch.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::inspect::DumpQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// store.seal()?;
    /// let id = store.stats()?.segments[0].id;
    /// let mut lines = 0;
    /// DumpQuery::all().section("fingerprints").epoch(epoch).run(&store.snapshot(), id, |line| {
    ///     println!("{line}");
    ///     lines += 1;
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(lines > 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> DumpQuery {
        self.epoch = Some(epoch);
        self
    }

    /// Starts at an offset in the file, with the first part of the file that ends after it.
    #[must_use]
    pub fn from(mut self, offset: u64) -> DumpQuery {
        self.from = offset;
        self
    }

    /// Passes the bytes of a segment to `sink` in the order of the file, each group of bytes with
    /// its meaning, until `sink` breaks. Returns whether this snapshot has a segment with this
    /// number.
    ///
    /// Formatted as text, a [`DumpLine`] is a line in the style of the pages of `format/`. A
    /// damaged block yields a line that reports the damage, and the lines after it show the bytes
    /// that can still be decoded. So damage is not an error here. Reads the selected part of the
    /// file once. Takes the memory of a few blocks.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::inspect::DumpQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// let id = store.stats()?.segments[0].id;
    /// let mut lines = Vec::new();
    /// DumpQuery::all().section("pages").run(&store.snapshot(), id, |line| {
    ///     lines.push(line.to_string());
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(lines[0], "0040  01                       1 page in this group");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if the file cannot be opened.
    pub fn run(
        &self,
        snapshot: &Snapshot,
        id: u64,
        mut sink: impl FnMut(DumpLine) -> ControlFlow<()>,
    ) -> Result<bool> {
        snapshot.view().check()?;
        let live = snapshot.view().segments.iter().find(|live| live.segment.id() == id);
        let Some(live) = live else { return Ok(false) };
        let wanted = DumpSelection {
            section: self.section.as_deref(),
            part: self.part,
            epoch: self.epoch.map(|epoch| epoch.0),
            from: self.from,
        };
        snapshot.poison_on_bug(|| live.segment.dump(&wanted, &mut sink))?;
        Ok(true)
    }
}
