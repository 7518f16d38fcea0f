//! `reasonscape init`: a commented study to start from.

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

/// Models of a server that are listed.
const MAX_MODELS_LISTED: usize = 20;

/// Write a commented study.toml to start from
///
/// Looks for a model server on this machine (Ollama, LM Studio, vLLM, llama.cpp, each on its usual port) and writes a
/// study of its first model. Nothing is sent to other machines. The file has one small suite and explains all settings.
/// An existing study is left alone.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape init my-study\n  reasonscape init my-study --provider openai\n  \
                        reasonscape init other-problems --seed 7"
)]
pub(super) struct Init {
    /// Folder of the study; it is made if it is not there.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Global seed of the study: another one gives other problems at the same points.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
    /// Write the settings of this provider, with an example of a model, instead of looking for a server.
    #[arg(long, value_enum, value_name = "NAME")]
    provider: Option<KnownProvider>,
    /// Don't look for a server; the study has examples instead.
    #[arg(long)]
    no_probe: bool,
    /// Look here instead of on the usual ports, as NAME=URL.
    #[arg(long, hide = true, value_name = "NAME=URL", value_parser = parse_target,
          conflicts_with_all = ["provider", "no_probe"])]
    probe: Vec<ProbeTarget>,
    /// How long to wait for each server.
    #[arg(long, hide = true, value_name = "MS", default_value_t = 300)]
    probe_timeout: u64,
}

impl Init {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let file = self.folder.join(Study::FILE);
        // Before the probes, which take time and say what would be written.
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
                "wrote `{file}`; set `model` and `base_url` in it, then `reasonscape plan {folder}` says what a run \
                 would send"
            ));
            return Ok(());
        };
        global.note(format_args!("wrote `{file}` for the model `{}` at {}", target.model, target.base_url));
        if self.provider.is_some() {
            let key =
                target.api_key_env.map(|key| format!("; put your key into the environment variable `{key}`"));
            let key = key.unwrap_or_default();
            global
                .note(format_args!("this `model` is an example, set the one that you want to measure{key}"));
        }
        global.note(format_args!("next: `reasonscape plan {folder}` says what a run would send"));
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
                        "found {name} at {base_url}: {}",
                        list_names(&names, MAX_MODELS_LISTED)
                    ));
                    let model = first_model(&models).filter(|_| chosen.is_none());
                    chosen = model.map_or(chosen, |model| Some((model.clone(), base_url.clone())));
                }
                Finding::NeedsKey => {
                    global.note(format_args!("found {name} at {base_url}, but it needs an API key"));
                }
                Finding::NoModels => global.note(format_args!(
                    "something answers at {base_url} (the address of {name}), but it lists no models"
                )),
                Finding::Nothing => {}
            }
        }
        if chosen.is_none() {
            let tried: Vec<String> =
                targets.iter().map(|target| format!("{} at {}", target.name, target.base_url)).collect();
            global.note(format_args!(
                "found no server with a model on this machine (tried {}); the study has an example for each \
                 provider. Start a server, or use `reasonscape init --provider NAME` in a new folder",
                tried.join(", ")
            ));
        }
        chosen.map(|(model, base_url)| EvalTarget { model, base_url, api: None, api_key_env: None })
    }
}

fn already_exists(file: &Path) -> CliError {
    CliError::input(format!(
        "`{}` is there already and is left as it is; name another folder, as in `reasonscape init other`",
        file.display()
    ))
}

/// Writes the study into the folder, unless there is one.
fn write_study(folder: &Path, file: &Path, text: &str) -> Result<(), CliError> {
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to make the folder `{}`", folder.display()))
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
        // Half a study would stand in the way of the next try.
        let _ = fs::remove_file(file);
        CliError::Internal(error)
    })
}
