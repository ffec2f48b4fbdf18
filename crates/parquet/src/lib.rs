//! Writes and reads Parquet files for [simkeep](https://docs.rs/simkeep).
//!
//! A [`ParquetWriter`] is written one row group at a time. [`VisitWriter`] writes visits,
//! [`PlanWriter`] dropped documents, [`ClusterWriter`] clusters, and [`MemberWriter`] the pages in
//! clusters. [`DocumentRows`] reads three columns of an external file: the name, the text and the
//! time of each document. [`FilteringCopy`] copies all columns of an external file without some of
//! its rows.
//!
//! ```
//! use simkeep_parquet::{DocumentRows, VisitRow, CellValue, VisitWriter};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("visits.parquet");
//! let mut writer = VisitWriter::new(std::fs::File::create(&path)?)?;
//! let url = "https://example.com/";
//! writer.row(&VisitRow { url, time: 1_500, verdict: "new", ..VisitRow::default() })?;
//! writer.end()?;
//!
//! let documents = DocumentRows::open(std::fs::File::open(&path)?, ["url", "verdict", "time"])?;
//! let rows: Vec<_> = documents.collect::<Result<Vec<_>, _>>()?.concat();
//! let [url, verdict, time] = &rows[0];
//! assert_eq!(*url, CellValue::Text("https://example.com/".into()));
//! assert_eq!(*verdict, CellValue::Text("new".into()));
//! assert_eq!(*time, CellValue::Milliseconds(1_500));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod caught;
mod clusters;
mod column;
mod copy;
mod members;
mod plan;
mod read;
mod visits;
mod write;

#[cfg(test)]
mod tests;

pub use clusters::{ClusterRow, ClusterWriter};
pub use column::CellValue;
pub use copy::{CopyError, DuplicateMark, FilteringCopy, GroupEdit, MARKS};
pub use members::{MemberRow, MemberWriter};
pub use plan::{PlanRow, PlanWriter};
pub use read::{DocumentRows, METADATA_BYTES_MAX, TEXT_BYTES_MAX};
pub use visits::{VisitRow, VisitWriter};
pub use write::ParquetWriter;
