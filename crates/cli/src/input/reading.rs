//! Arguments of all verbs that read crawls or documents.

use clap::Args;

use crate::input::threads::ThreadArgs;
use simkeep_formats::ZstdWindow;

/// Options for reading files.
#[derive(Args, Clone, Copy)]
pub(crate) struct ReadingArgs {
    /// Largest zstd window in MiB, and memory for each open file
    #[arg(long, value_name = "MIB", default_value_t = ZstdWindow::MIB)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(ZstdWindow::MIB_MAX)))]
    zstd_window: u32,
    #[command(flatten)]
    threads: ThreadArgs,
}

impl ReadingArgs {
    /// The number of threads.
    pub(crate) fn threads(self) -> usize {
        self.threads.count()
    }

    /// The largest accepted window of a zstd file.
    pub(crate) fn zstd_window(self) -> ZstdWindow {
        ZstdWindow::of_mib(self.zstd_window)
    }
}

/// Options that select the records of web archives.
#[derive(Args, Clone)]
pub(crate) struct SchemeArgs {
    /// Also take archive records of this URL scheme; may be repeated
    #[arg(long = "scheme", value_name = "SCHEME", value_parser = parse_scheme)]
    schemes: Vec<String>,
}

impl SchemeArgs {
    /// The names of the schemes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.schemes.clone()
    }
}

/// Parses a scheme (RFC 3986, 3.1), optionally followed by a colon or slashes.
fn parse_scheme(text: &str) -> Result<String, &'static str> {
    let scheme = text.trim_end_matches('/').trim_end_matches(':');
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then(|| scheme.to_ascii_lowercase()).ok_or("write a URL scheme, such as ftp")
}
