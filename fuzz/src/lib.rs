//! What the fuzz targets share: a sound store to damage, ways to damage it that the checksums do
//! not notice, and questions to ask of what is left.

pub mod allocator;
pub mod ask;
pub mod catalog;
pub mod input;
pub mod segment;
pub mod store;
