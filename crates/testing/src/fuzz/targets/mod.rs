//! The fuzz targets. The file of each target explains the bytes of its input.

pub mod catalog;
pub mod df;
pub mod directory;
pub mod hints;
pub mod json;
pub mod operations;
pub mod prefix_and_url;
pub mod segment;
pub mod snapshot;
pub mod text;
pub mod warc;
