//! Parquet files, as [simkeep](https://docs.rs/simkeep) writes and reads them.
//!
//! A [`Table`] is written one row group at a time: [`Writer`] writes visits, [`PlanWriter`] writes
//! dropped documents, [`ClusterWriter`] writes clusters, and [`MemberWriter`] writes the pages of
//! clusters. [`Documents`] reads three columns of a file from other software: the name of a text,
//! the text, and its time. [`Copying`] copies all columns of such a file, without some of its rows.
//!
//! ```
//! use simkeep_parquet::{Documents, Row, Value, Writer};
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("visits.parquet");
//! let mut writer = Writer::new(std::fs::File::create(&path)?)?;
//! let url = "https://example.com/";
//! writer.row(&Row { url, time: 1_500, verdict: "new", ..Row::default() })?;
//! writer.end()?;
//!
//! let documents = Documents::open(std::fs::File::open(&path)?, ["url", "verdict", "time"])?;
//! let rows: Vec<_> = documents.collect::<Result<Vec<_>, _>>()?.concat();
//! let [url, verdict, time] = &rows[0];
//! assert_eq!(*url, Value::Text("https://example.com/".into()));
//! assert_eq!(*verdict, Value::Text("new".into()));
//! assert_eq!(*time, Value::Milliseconds(1_500));
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
pub use column::Value;
pub use copy::{Choice, CopyError, Copying, MARKS, Mark};
pub use members::{MemberRow, MemberWriter};
pub use plan::{PlanRow, PlanWriter};
pub use read::{Documents, METADATA_BYTES_MAX, TEXT_BYTES_MAX};
pub use visits::{Row, Writer};
pub use write::Table;
