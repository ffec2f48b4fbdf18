//! The tool `simkeep`: see `simkeep --help`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
