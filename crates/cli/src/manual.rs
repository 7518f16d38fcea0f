//! `reasonscape completions` and `reasonscape man`: shell completions and manual pages.

use std::path::PathBuf;

use anyhow::Context;
use clap_complete::Shell;

use super::Global;
use crate::error::CliError;
use crate::output::print_text;
use crate::output::write_file;

/// Generate shell completions
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape completions bash > ~/.local/share/bash-completion/completions/reasonscape\n  \
    reasonscape completions zsh > ~/.zfunc/_reasonscape\n  \
    reasonscape completions fish > ~/.config/fish/completions/reasonscape.fish"
)]
pub(super) struct Completions {
    /// Shell to generate the completion script for.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Result<(), CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::clap_command(), "reasonscape", &mut script);
        print_text(&String::from_utf8_lossy(&script))
    }
}

/// Generate manual pages
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape man | man -l -\n  reasonscape man --dir ~/.local/share/man/man1"
)]
pub(super) struct Man {
    /// Write one page per command to this directory (`reasonscape.1`, `reasonscape-run.1`, …), instead of printing the
    /// main page.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let mut command = super::clap_command();
        command.build();
        let Some(folder) = self.dir else {
            return print_text(&String::from_utf8_lossy(&page(&command)?));
        };
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("failed to create the directory `{}`", folder.display()))
            .map_err(CliError::Input)?;
        let mut commands = vec![command];
        let mut written = 0;
        while let Some(command) = commands.pop() {
            let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
            let text = page(&command)?;
            write_file(&folder.join(format!("{name}.1")), |out| Ok(out.write_all(&text)?))?;
            written += 1;
            commands.extend(
                command
                    .get_subcommands()
                    .filter(|command| command.get_name() != "help" && !command.is_hide_set())
                    .cloned(),
            );
        }
        global.note(format_args!("wrote {written} pages to `{}`", folder.display()));
        Ok(())
    }
}

fn page(command: &clap::Command) -> Result<Vec<u8>, CliError> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}
