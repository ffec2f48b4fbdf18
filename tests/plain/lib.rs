//! The library without its features, as in a build without HTML.

#[cfg(test)]
mod doors;
