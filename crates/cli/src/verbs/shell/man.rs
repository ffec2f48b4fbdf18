//! `man`: prints the manual, a page for each verb.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man as Page;
use simkeep_formats::escape;

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::help;
use crate::output::Output;
use crate::output::temporary::refuse_store;
use crate::output::words;

/// Print the manual page, or write one per verb
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep man | man -l -
  simkeep man --to ~/.local/share/man/man1
  man simkeep-history"#)]
pub(crate) struct ManArgs {
    /// Directory to write all pages to
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        let mut all = Vec::new();
        pages(&help::unwrapped(), "", &mut all);
        let Some(folder) = &self.to else {
            // The first page is that of the tool itself.
            for command in all.into_iter().take(1) {
                output.writer().write_all(&page(command)?)?;
            }
            return Ok(Exit::Done);
        };
        let count = all.len();
        write(folder, all).map_err(|(path, e)| {
            let path = escape::escape_untruncated(&path.to_string_lossy());
            VerbError::Other(format!("cannot write {path}: {e}"))
        })?;
        let folder = escape::escape_untruncated(&folder.to_string_lossy());
        output.line(&format!("{} in {folder}", words::many(count as u64, "page", "pages")))?;
        Ok(Exit::Done)
    }
}

/// Collects a command and its subcommands, each under the name of its page.
fn pages(command: &Command, before: &str, out: &mut Vec<Command>) {
    let name = format!("{before}{}", command.get_name());
    // The page of the parent command lists subcommands by their full names.
    out.push(command.clone().name(name.clone()).display_name(name.clone()));
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        pages(verb, &format!("{name}-"), out);
    }
}

/// Renders the page of a command.
fn page(command: Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Page::new(command).render(&mut page)?;
    // Disables justification and hyphenation, because long words such as URLs leave wide gaps.
    let title = page.windows(4).position(|end| end == b"\n.SH").map_or(0, |end| end + 1);
    page.splice(title..title, *b".ad l\n.nh\n");
    Ok(page)
}

fn write(folder: &Path, all: Vec<Command>) -> Result<(), (PathBuf, std::io::Error)> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |e| (path, e)
    };
    refuse_store(&folder.join("page")).map_err(at(folder))?;
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    for command in all {
        let path = folder.join(format!("{}.1", command.get_name()));
        let page = page(command).map_err(at(&path))?;
        std::fs::write(&path, page).map_err(at(&path))?;
    }
    Ok(())
}
