//! The tool `simkeep`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(simkeep_cli::run(std::env::args_os()))
}
