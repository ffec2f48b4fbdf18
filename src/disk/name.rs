//! The names of a store's files: made and parsed here and nowhere else.

use std::ffi::OsStr;
use std::fmt;

/// A directory of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dir {
    /// The store's directory itself.
    Root,
    /// `segments/`.
    Segments,
}

/// A file of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// `LOCK`: held by the writer.
    Lock,
    /// `catalog.redb`: settings, live segments, epochs, journal.
    Catalog,
    /// `catalog.redb.new`: a catalog that is being made.
    CatalogNew,
    /// `SNAPSHOT`: what readers in other processes open.
    Snapshot,
    /// `SNAPSHOT.new`: the next one, while it is written.
    SnapshotNew,
    /// `0000000003.df`: a frozen table of document frequencies.
    Df(u64),
    /// `0000000003.df.new`: one that is being written.
    DfNew(u64),
    /// `0000000003.df.00.tmp`: scratch space of what counts it.
    DfScratch(u64, u32),
    /// `segments/0000000012.seg`: a finished segment.
    Segment(u64),
    /// `segments/0000000012.seg.new`: a segment that is being written.
    SegmentNew(u64),
    /// `segments/0000000012.00.tmp`: scratch space of the merge that makes segment 12.
    Scratch(u64, u32),
}

impl Name {
    /// The directory that the file is in.
    pub fn dir(self) -> Dir {
        match self {
            Name::Lock
            | Name::Catalog
            | Name::CatalogNew
            | Name::Snapshot
            | Name::SnapshotNew
            | Name::Df(_)
            | Name::DfNew(_)
            | Name::DfScratch(..) => Dir::Root,
            Name::Segment(_) | Name::SegmentNew(_) | Name::Scratch(..) => Dir::Segments,
        }
    }

    /// The file's name within its directory.
    pub fn file_name(self) -> String {
        match self {
            Name::Lock => "LOCK".to_owned(),
            Name::Catalog => "catalog.redb".to_owned(),
            Name::CatalogNew => "catalog.redb.new".to_owned(),
            Name::Snapshot => "SNAPSHOT".to_owned(),
            Name::SnapshotNew => "SNAPSHOT.new".to_owned(),
            Name::Df(id) => format!("{id:010}.df"),
            Name::DfNew(id) => format!("{id:010}.df.new"),
            Name::DfScratch(id, part) => format!("{id:010}.df.{part:02}.tmp"),
            Name::Segment(id) => format!("{id:010}.seg"),
            Name::SegmentNew(id) => format!("{id:010}.seg.new"),
            Name::Scratch(id, part) => format!("{id:010}.{part:02}.tmp"),
        }
    }

    /// The name that a directory entry stands for; `None` for a file that is not ours.
    pub fn parse(dir: Dir, entry: &OsStr) -> Option<Name> {
        let entry = entry.to_str()?;
        let name = match dir {
            Dir::Root => match entry {
                "LOCK" => Name::Lock,
                "catalog.redb" => Name::Catalog,
                "catalog.redb.new" => Name::CatalogNew,
                "SNAPSHOT" => Name::Snapshot,
                "SNAPSHOT.new" => Name::SnapshotNew,
                _ => {
                    let (digits, rest) = entry.split_once(".df")?;
                    let id = digits.parse().ok()?;
                    match rest {
                        "" => Name::Df(id),
                        ".new" => Name::DfNew(id),
                        _ => {
                            let part = rest.strip_prefix('.')?.strip_suffix(".tmp")?;
                            Name::DfScratch(id, part.parse().ok()?)
                        }
                    }
                }
            },
            Dir::Segments => {
                let (digits, rest) = entry.split_once('.')?;
                let id = digits.parse().ok()?;
                match rest {
                    "seg" => Name::Segment(id),
                    "seg.new" => Name::SegmentNew(id),
                    _ => Name::Scratch(id, rest.strip_suffix(".tmp")?.parse().ok()?),
                }
            }
        };
        // Only the spelling that we make ourselves: `1.seg` or `+1.seg` is somebody else's file.
        (name.file_name() == entry).then_some(name)
    }
}

impl fmt::Display for Name {
    /// The path within the store's directory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dir() {
            Dir::Root => f.write_str(&self.file_name()),
            Dir::Segments => write!(f, "segments/{}", self.file_name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back() {
        let names = [
            Name::Lock,
            Name::Catalog,
            Name::CatalogNew,
            Name::Snapshot,
            Name::SnapshotNew,
            Name::Df(3),
            Name::DfNew(u64::MAX),
            Name::DfScratch(3, 1),
            Name::Segment(0),
            Name::Segment(12),
            Name::Segment(u64::MAX),
            Name::SegmentNew(7),
            Name::Scratch(7, 3),
        ];
        for name in names {
            assert_eq!(Name::parse(name.dir(), OsStr::new(&name.file_name())), Some(name));
        }
    }

    #[test]
    fn foreign_names_are_not_ours() {
        for entry in ["1.seg", "+000000001.seg", "0000000001.seg.bak", "0000000001.3.tmp", "x", ""]
        {
            assert_eq!(Name::parse(Dir::Segments, OsStr::new(entry)), None, "{entry}");
        }
        for entry in ["0000000001.seg", "1.df", "0000000001.df.1.tmp", "crawl.df", ".df"] {
            assert_eq!(Name::parse(Dir::Root, OsStr::new(entry)), None, "{entry}");
        }
    }
}
