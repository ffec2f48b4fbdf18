//! `completions`: prints a completion script for a shell.

use clap::Args;
use clap_complete::Shell;

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::output::Output;

/// Print a shell completion script
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep completions bash > ~/.local/share/bash-completion/completions/simkeep
  simkeep completions zsh > ~/.zfunc/_simkeep
  simkeep completions fish > ~/.config/fish/completions/simkeep.fish

For zsh, the folder must be in $fpath before compinit runs. Open shells read the script
when they start again."#)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        common.without_store()?;
        let (mut command, mut script) = (crate::help::unwrapped(), Vec::new());
        // The script is generated in memory, because clap_complete panics if a write fails.
        clap_complete::generate(self.shell, &mut command, "simkeep", &mut script);
        std::io::Write::write_all(output.writer(), &script)?;
        Ok(Exit::Done)
    }
}
