//! A file for each target; it says what the bytes of an input mean.

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
