//! How files are read: what every verb is told that reads crawls or documents.

use clap::Args;

use super::threads::Threads;
use simkeep_archive::ZstdWindow;

/// How files are read.
#[derive(Args, Clone, Copy)]
pub(super) struct Reading {
    /// The largest window that a zstd file may ask for, in MiB (or the next power of two): it takes so
    /// much memory to read it, for each of up to four files that are read beside each other
    #[arg(long, value_name = "MIB", default_value_t = ZstdWindow::MIB)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(ZstdWindow::MIB_MAX)))]
    zstd_window: u32,
    #[command(flatten)]
    threads: Threads,
}

impl Reading {
    /// On how many threads.
    pub(super) fn threads(self) -> usize {
        self.threads.count()
    }

    /// The largest window of a zstd file.
    pub(super) fn zstd_window(self) -> ZstdWindow {
        ZstdWindow::of_mib(self.zstd_window)
    }
}
