//! Settings of a repair, and what it saved and lost.

use std::ops::Range;

use crate::engine::settings::settings;
use crate::error::Corruption;
use crate::progress::Progress;

settings! {
    /// Settings of a [`repair`](crate::repair::repair()).
    ///
    /// ```
    /// let options = simkeep::repair::RepairOptions::default().keep_forgotten(true);
    /// assert_eq!(options.memory_bytes, 512 << 20);
    /// ```
    pub struct RepairOptions {
        /// Whether to keep pages that a lost operation may have forgotten. Default: no; then a repair
        /// is refused if it is unknown what was forgotten.
        pub keep_forgotten: bool = false,
        /// About how much memory it takes. Default: 512 MiB; at least 64 KiB.
        pub memory_bytes: usize = 512 << 20,
        /// How far it has come, and a way to stop it: first in bytes checked, and then as a
        /// [load](crate::load) of what is sound. Default: nobody looks.
        pub progress: Progress = Progress::default(),
    }
}

/// Something that a repair could not save.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The file that had it.
    pub file: String,
    /// From where to where in the file, if that is known. Nothing outside of this range is lost.
    pub bytes: Option<Range<u64>>,
    /// The first and the last of the operations that it was among, as far as that is known. If no pages
    /// are counted, all of them are lost. The last is `None` if nothing says how far they went.
    pub operations: Option<(u64, Option<u64>)>,
    /// How many page records are lost; `None` if a whole file or operations are lost.
    pub pages: Option<u64>,
    /// The page after which the lost pages come in SURT order, if there is one.
    pub after: Option<String>,
    /// The page before which the lost pages come in SURT order, if there is one.
    pub before: Option<String>,
    /// Why it is lost, in words.
    pub why: String,
}

/// What a repair saved and lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Pages of the new store.
    pub pages: u64,
    /// Visits of the new store.
    pub visits: u64,
    /// What is lost, file by file.
    pub lost: Vec<Loss>,
    /// Lost page records, as far as they could be counted.
    pub lost_pages: u64,
    /// Lost visits, as far as they could be counted.
    pub lost_visits: u64,
    /// Frames of the journal that are there, and do not have their checksums. What they had is among
    /// the lost operations.
    pub damaged_frames: u64,
    /// Pages of which something was left out, because a lost operation may have forgotten it.
    pub withheld_pages: u64,
    /// Why there may be pages that were forgotten: the lost operations that may have done it. Only with
    /// [`keep_forgotten`](RepairOptions::keep_forgotten).
    pub ambiguities: Vec<String>,
    /// Epochs whose names could not be read, by the names that they have now.
    pub unnamed_epochs: Vec<String>,
    /// The first flaws, whether or not they lost anything.
    pub flaws: Vec<Corruption>,
    /// How many more flaws there are.
    pub more_flaws: u64,
}

impl Repaired {
    /// Whether everything was saved, and nothing that was forgotten.
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty()
            && self.lost_visits == 0
            && self.withheld_pages == 0
            && self.ambiguities.is_empty()
            && self.unnamed_epochs.is_empty()
    }
}
