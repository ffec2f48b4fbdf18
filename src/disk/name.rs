//! The names of a store's files: formatted and parsed only here.

use std::ffi::OsStr;
use std::fmt;

/// A directory of a store, or of published generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dir {
    /// The root directory itself.
    Root,
    /// `segments/`.
    Segments,
    /// `files/` of published generations.
    Files,
    /// `generations/` of published generations.
    Generations,
}

impl Dir {
    /// The directories of a store.
    pub const STORE: &[Dir] = &[Dir::Root, Dir::Segments];
    /// The directories of published generations.
    pub const PUBLISHED: &[Dir] = &[Dir::Root, Dir::Files, Dir::Generations];
    /// All directories.
    #[cfg(feature = "internals")]
    pub const ALL: [Dir; 4] = [Dir::Root, Dir::Segments, Dir::Files, Dir::Generations];

    /// The name of the directory within the root directory; `None` for the root directory itself.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Dir::Root => None,
            Dir::Segments => Some("segments"),
            Dir::Files => Some("files"),
            Dir::Generations => Some("generations"),
        }
    }
}

/// A published file, whose name and content never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublishedFileId {
    /// The number of the store that published the file.
    pub store: u64,
    /// The number of the segment, or the number of the table's epoch.
    pub number: u64,
    /// The checksum of the file.
    pub checksum: u64,
}

/// A file of a store, or of published generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileName {
    /// `LOCK`: locked by the writer.
    Lock,
    /// `catalog.redb`: settings, live segments, epochs, journal.
    Catalog,
    /// `catalog.redb.new`: a catalog being written.
    CatalogNew,
    /// `SNAPSHOT`: the state that readers in other processes open.
    Snapshot,
    /// `SNAPSHOT.new`: the next snapshot, being written.
    SnapshotNew,
    /// `0000000003.df`: a frozen table of document frequencies.
    Df(u64),
    /// `0000000003.df.new`: a table being written.
    DfNew(u64),
    /// `0000000003.df.00.tmp`: a scratch file of the counter for table 3.
    DfScratch(u64, u32),
    /// `segments/0000000012.seg`: a finished segment.
    Segment(u64),
    /// `segments/0000000012.seg.new`: a segment being written.
    SegmentNew(u64),
    /// `segments/0000000012.00.tmp`: a scratch file of the merge that writes segment 12.
    Scratch(u64, u32),
    /// `files/00c0ffee00c0ffee-0000000012-89abcdef.seg`: a published segment.
    PublishedSegment(PublishedFileId),
    /// A published segment being copied.
    PublishedSegmentNew(PublishedFileId),
    /// `files/00c0ffee00c0ffee-0000000003-0123456789abcdef.df`: a published table.
    PublishedDf(PublishedFileId),
    /// A published table being copied.
    PublishedDfNew(PublishedFileId),
    /// `CHECKED` of published generations: when each file was last checked without damage.
    Checked,
    /// `CHECKED.new`: the next `CHECKED`, being written.
    CheckedNew,
    /// `generations/0000000007`: a published state of the store.
    Generation(u64),
    /// `generations/0000000007.new`: a generation being written.
    GenerationNew(u64),
}

impl FileName {
    /// The directory of the file.
    pub fn dir(self) -> Dir {
        match self {
            FileName::Lock
            | FileName::Catalog
            | FileName::CatalogNew
            | FileName::Snapshot
            | FileName::SnapshotNew
            | FileName::Df(_)
            | FileName::DfNew(_)
            | FileName::DfScratch(..)
            | FileName::Checked
            | FileName::CheckedNew => Dir::Root,
            FileName::Segment(_) | FileName::SegmentNew(_) | FileName::Scratch(..) => Dir::Segments,
            FileName::PublishedSegment(_)
            | FileName::PublishedSegmentNew(_)
            | FileName::PublishedDf(_)
            | FileName::PublishedDfNew(_) => Dir::Files,
            FileName::Generation(_) | FileName::GenerationNew(_) => Dir::Generations,
        }
    }

    /// The file name within its directory.
    pub fn file_name(self) -> String {
        match self {
            FileName::Lock => "LOCK".to_owned(),
            FileName::Catalog => "catalog.redb".to_owned(),
            FileName::CatalogNew => "catalog.redb.new".to_owned(),
            FileName::Snapshot => "SNAPSHOT".to_owned(),
            FileName::SnapshotNew => "SNAPSHOT.new".to_owned(),
            FileName::Df(id) => format!("{id:010}.df"),
            FileName::DfNew(id) => format!("{id:010}.df.new"),
            FileName::DfScratch(id, part) => format!("{id:010}.df.{part:02}.tmp"),
            FileName::Segment(id) => format!("{id:010}.seg"),
            FileName::SegmentNew(id) => format!("{id:010}.seg.new"),
            FileName::Scratch(id, part) => format!("{id:010}.{part:02}.tmp"),
            FileName::PublishedSegment(file) => {
                format!("{}-{:08x}.seg", file.begin(), file.checksum)
            }
            FileName::PublishedSegmentNew(file) => {
                format!("{}-{:08x}.seg.new", file.begin(), file.checksum)
            }
            FileName::PublishedDf(file) => format!("{}-{:016x}.df", file.begin(), file.checksum),
            FileName::PublishedDfNew(file) => {
                format!("{}-{:016x}.df.new", file.begin(), file.checksum)
            }
            FileName::Checked => "CHECKED".to_owned(),
            FileName::CheckedNew => "CHECKED.new".to_owned(),
            FileName::Generation(number) => format!("{number:010}"),
            FileName::GenerationNew(number) => format!("{number:010}.new"),
        }
    }

    /// Parses a directory entry; `None` for a file that is not simkeep's.
    pub fn parse(dir: Dir, entry: &OsStr) -> Option<FileName> {
        let entry = entry.to_str()?;
        let name = match dir {
            Dir::Root => match entry {
                "LOCK" => FileName::Lock,
                "catalog.redb" => FileName::Catalog,
                "catalog.redb.new" => FileName::CatalogNew,
                "SNAPSHOT" => FileName::Snapshot,
                "SNAPSHOT.new" => FileName::SnapshotNew,
                "CHECKED" => FileName::Checked,
                "CHECKED.new" => FileName::CheckedNew,
                _ => {
                    let (digits, rest) = entry.split_once(".df")?;
                    let id = digits.parse().ok()?;
                    match rest {
                        "" => FileName::Df(id),
                        ".new" => FileName::DfNew(id),
                        _ => {
                            let part = rest.strip_prefix('.')?.strip_suffix(".tmp")?;
                            FileName::DfScratch(id, part.parse().ok()?)
                        }
                    }
                }
            },
            Dir::Segments => {
                let (digits, rest) = entry.split_once('.')?;
                let id = digits.parse().ok()?;
                match rest {
                    "seg" => FileName::Segment(id),
                    "seg.new" => FileName::SegmentNew(id),
                    _ => FileName::Scratch(id, rest.strip_suffix(".tmp")?.parse().ok()?),
                }
            }
            Dir::Files => {
                let (begin, rest) = entry.split_once('.')?;
                let file = PublishedFileId::parse(begin)?;
                // A number with more digits is not a segment's checksum.
                let is_short = u32::try_from(file.checksum).is_ok();
                match rest {
                    "seg" | "seg.new" if !is_short => return None,
                    "seg" => FileName::PublishedSegment(file),
                    "seg.new" => FileName::PublishedSegmentNew(file),
                    "df" => FileName::PublishedDf(file),
                    "df.new" => FileName::PublishedDfNew(file),
                    _ => return None,
                }
            }
            Dir::Generations => match entry.split_once('.') {
                None => FileName::Generation(entry.parse().ok()?),
                Some((digits, "new")) => FileName::GenerationNew(digits.parse().ok()?),
                Some(_) => return None,
            },
        };
        // Accepts only the spelling that simkeep writes: `1.seg` and `+1.seg` are not simkeep's
        // files.
        (name.file_name() == entry).then_some(name)
    }
}

impl PublishedFileId {
    fn begin(self) -> String {
        format!("{:016x}-{:010}", self.store, self.number)
    }

    fn parse(begin: &str) -> Option<PublishedFileId> {
        let mut parts = begin.split('-');
        let store = u64::from_str_radix(parts.next()?, 16).ok()?;
        let number = parts.next()?.parse().ok()?;
        let checksum = u64::from_str_radix(parts.next()?, 16).ok()?;
        parts.next().is_none().then_some(PublishedFileId { store, number, checksum })
    }
}

impl fmt::Display for FileName {
    /// Formats the path within the directory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(dir) = self.dir().name() {
            write!(f, "{dir}/")?;
        }
        f.write_str(&self.file_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back() {
        let names = [
            FileName::Lock,
            FileName::Catalog,
            FileName::CatalogNew,
            FileName::Snapshot,
            FileName::SnapshotNew,
            FileName::Df(3),
            FileName::DfNew(u64::MAX),
            FileName::DfScratch(3, 1),
            FileName::Segment(0),
            FileName::Segment(12),
            FileName::Segment(u64::MAX),
            FileName::SegmentNew(7),
            FileName::Scratch(7, 3),
            FileName::PublishedSegment(PublishedFileId {
                store: 3,
                number: 12,
                checksum: 0x0123_4567,
            }),
            FileName::PublishedSegmentNew(PublishedFileId {
                store: u64::MAX,
                number: 0,
                checksum: 0xffff_ffff,
            }),
            FileName::PublishedDf(PublishedFileId { store: 0, number: 3, checksum: u64::MAX }),
            FileName::PublishedDfNew(PublishedFileId { store: 1, number: u64::MAX, checksum: 0 }),
            FileName::Checked,
            FileName::CheckedNew,
            FileName::Generation(7),
            FileName::GenerationNew(u64::MAX),
        ];
        for name in names {
            assert_eq!(FileName::parse(name.dir(), OsStr::new(&name.file_name())), Some(name));
        }
    }

    #[test]
    fn other_file_names_are_not_parsed() {
        for entry in ["1.seg", "+000000001.seg", "0000000001.seg.bak", "0000000001.3.tmp", "x", ""]
        {
            assert_eq!(FileName::parse(Dir::Segments, OsStr::new(entry)), None, "{entry}");
        }
        for entry in ["0000000001.seg", "1.df", "0000000001.df.1.tmp", "crawl.df", ".df"] {
            assert_eq!(FileName::parse(Dir::Root, OsStr::new(entry)), None, "{entry}");
        }
        for entry in [
            "0000000000000003-0000000012-123456789.seg",
            "0000000000000003-0000000012-123.seg",
            "3-0000000012-00000123.seg",
            "--.seg",
        ] {
            assert_eq!(FileName::parse(Dir::Files, OsStr::new(entry)), None, "{entry}");
        }
        for entry in ["7", "0000000007.tmp", "+000000007", ""] {
            assert_eq!(FileName::parse(Dir::Generations, OsStr::new(entry)), None, "{entry}");
        }
    }
}
