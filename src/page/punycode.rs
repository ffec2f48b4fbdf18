//! Punycode.
