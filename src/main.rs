//! The tool `simkeep`.

#[expect(dead_code, reason = "the verbs that read this input are not here yet")]
mod cli;

fn main() {}
