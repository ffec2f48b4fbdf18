//! Prints the type stub of the Python package: `simkeep-stub EXTENSION`.
//!
//! An extension that was built with the feature `stub` contains the signatures, types and docs of all
//! classes and functions. [`shape`] adds what PyO3 cannot express, [`print`] writes Python.

mod print;
mod shape;

use std::process::ExitCode;

/// Exit code for a file that has no signatures.
const NO_SIGNATURES: u8 = 3;

fn main() -> ExitCode {
    let Some(extension) = std::env::args_os().nth(1) else {
        eprintln!("usage: simkeep-stub EXTENSION > _simkeep.pyi");
        return ExitCode::from(2);
    };
    match pyo3_introspection::introspect_cdylib(&extension, "_simkeep") {
        Ok(mut module) => {
            shape::shape(&mut module);
            print!("{}", print::module(&module));
            ExitCode::SUCCESS
        }
        Err(e) => {
            let extension = extension.display();
            eprintln!("{extension}: {e} (build the extension with `--features stub`)");
            ExitCode::from(NO_SIGNATURES)
        }
    }
}
