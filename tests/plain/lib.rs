//! The library without its features, as whoever takes no HTML builds it.

#[cfg(test)]
mod doors;
