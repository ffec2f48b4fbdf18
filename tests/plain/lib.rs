//! The library without its features, as a build without HTML has it.

#[cfg(test)]
mod doors;
