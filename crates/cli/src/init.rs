//! `reasonscape init`: creates a commented study.toml.

mod probe;
mod template;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use reasonscape_study::Study;

use self::probe::{Finding, ProbeTarget, default_targets, first_model, parse_target, probe_all};
use self::template::{EvalTarget, KnownProvider, study_text};
use super::Global;
use super::doctor::list_names;
use crate::error::CliError;

/// Maximum number of models listed per server.
const MAX_MODELS_LISTED: usize = 20;

/// Create a study, with the model of a local server if one is running
///
/// Writes a study.toml with a small suite and a comment on every setting. Looks for a model server on this machine
/// (Ollama, LM Studio, vLLM or llama.cpp, each on its default port) and uses its first model. Nothing is sent to other
/// machines. An existing study.toml is not overwritten.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape init my-study\n  reasonscape init my-study --provider openai\n  \
                        reasonscape init other-problems --seed 7"
)]
pub(super) struct Init {
    /// Study directory; it is created if needed.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Global seed of the study; another seed gives other problems at the same points.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Use the settings of this provider, with an example model, instead of looking for a server.
    #[arg(long, value_enum, value_name = "NAME")]
    provider: Option<KnownProvider>,
    /// Don't look for a server; write an example for each kind of server and each provider instead.
    #[arg(long)]
    no_probe: bool,
    /// Look at this address instead of the default ports, as NAME=URL.
    #[arg(long, hide = true, value_name = "NAME=URL", value_parser = parse_target,
          conflicts_with_all = ["provider", "no_probe"])]
    probe: Vec<ProbeTarget>,
    /// Timeout per server.
    #[arg(long, hide = true, value_name = "MS", default_value_t = 300)]
    probe_timeout: u64,
}

impl Init {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let file = self.folder.join(Study::FILE);
        // Checked before the probes, which take time and print what they find.
        if file.exists() {
            return Err(already_exists(&file));
        }
        let target = match self.provider {
            Some(provider) => Some(provider.target()),
            None if self.no_probe => None,
            None => self.find_server(global),
        };
        write_study(&self.folder, &file, &study_text(target.as_ref(), self.seed))?;
        let (file, folder) = (file.display(), self.folder.display());
        let Some(target) = target else {
            global.note(format_args!(
                "wrote `{file}`; its `model` and `base_url` are examples: set yours, then `reasonscape doctor {folder}` \
                 checks them"
            ));
            return Ok(());
        };
        global.note(format_args!("wrote `{file}` for the model `{}` at {}", target.model, target.base_url));
        if self.provider.is_some() {
            let key = target
                .api_key_env
                .map(|key| format!("; put your API key into the environment variable `{key}`"));
            let key = key.unwrap_or_default();
            global.note(format_args!("this `model` is an example; set the one to evaluate{key}"));
        }
        global.note(format_args!("next: `reasonscape doctor {folder}` checks the setup, `reasonscape plan {folder}` shows what a run would send"));
        Ok(())
    }

    /// Reports the servers on this machine; returns the first that has a model.
    fn find_server(&self, global: Global) -> Option<EvalTarget> {
        let targets = if self.probe.is_empty() { default_targets() } else { self.probe.clone() };
        let findings = probe_all(&targets, Duration::from_millis(self.probe_timeout));
        let mut chosen = None;
        for (ProbeTarget { name, base_url }, finding) in targets.iter().zip(findings) {
            match finding {
                Finding::Models(models) => {
                    let names: Vec<&str> = models.iter().map(String::as_str).collect();
                    global.note(format_args!(
                        "found a server at {base_url} (the default address of {name}): {}",
                        list_names(&names, MAX_MODELS_LISTED)
                    ));
                    let model = first_model(&models).filter(|_| chosen.is_none());
                    chosen = model.map_or(chosen, |model| Some((model.clone(), base_url.clone())));
                }
                Finding::NeedsKey => {
                    global.note(format_args!("found a server at {base_url} (the default address of {name}), but it needs an API key"));
                }
                Finding::NoModels => global.note(format_args!(
                    "a server responds at {base_url} (the default address of {name}), but lists no models"
                )),
                Finding::Nothing => {}
            }
        }
        if chosen.is_none() {
            let tried: Vec<String> =
                targets.iter().map(|target| format!("{} at {}", target.name, target.base_url)).collect();
            global.note(format_args!(
                "found no server with a model on this machine (tried {}); the study has an example for each \
                 of them and for hosted providers. Start a server, or use `reasonscape init --provider NAME` in a new directory",
                tried.join(", ")
            ));
        }
        chosen.map(|(model, base_url)| EvalTarget { model, base_url, api: None, api_key_env: None })
    }
}

fn already_exists(file: &Path) -> CliError {
    CliError::input(format!(
        "`{}` already exists; choose another directory, e.g. `reasonscape init other`",
        file.display()
    ))
}

/// Writes the study, unless the file exists.
fn write_study(folder: &Path, file: &Path, text: &str) -> Result<(), CliError> {
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to create the directory `{}`", folder.display()))
        .map_err(CliError::Input)?;
    let failed = || format!("failed to write `{}`", file.display());
    let mut study = match OpenOptions::new().write(true).create_new(true).open(file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(already_exists(file));
        }
        opened => opened.with_context(failed).map_err(CliError::Input)?,
    };
    let written = study.write_all(text.as_bytes()).and_then(|()| study.sync_all());
    written.with_context(failed).map_err(|error| {
        // An incomplete file would block the next attempt.
        let _ = fs::remove_file(file);
        CliError::Internal(error)
    })
}
