//! `reasonscape doctor`: checks a study before it is run.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use reasonscape_cache::Cache;
use reasonscape_core::closest;
use reasonscape_runner::{ProbeError, list_models, send_test_request};
use reasonscape_study::{Eval, Study};
use serde::Serialize;

use super::Global;
use super::study::study_folder;
use crate::error::CliError;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// With less free space a run may fill the disk.
const MIN_FREE_BYTES: u64 = 1 << 30;
/// Maximum length of a reply that is shown.
const MAX_REPLY_LEN: usize = 40;
/// Maximum number of models listed per endpoint.
const MAX_NAMES: usize = 6;

/// Check a study: endpoints, API keys, model names, cache and disk space
///
/// Lists the models of each endpoint, which costs nothing, and optionally sends each model one short request with the
/// settings of a run. Problems are reported with a fix; the exit code is then 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape doctor my-study\n  reasonscape doctor my-study --request")]
pub(super) struct Doctor {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY", default_value = ".")]
    study: PathBuf,
    /// Also send each model one short request; this is the only check that may cost something.
    #[arg(long)]
    request: bool,
    /// Former name of `--request`.
    #[arg(long, hide = true)]
    ask: bool, // wording: allow
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckState {
    Good,
    /// Possibly a problem.
    Unsure,
    Wrong,
}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    what: String,
    state: CheckState,
    #[serde(rename = "said")]
    finding: String,
}

impl Doctor {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        if self.ask {
            global.note("`--ask` is now `--request`"); // wording: allow
        }
        let request = self.request || self.ask;
        let folder = study_folder(&self.study)?;
        let mut checks = Checks::default();
        match Study::load(&self.study) {
            Err(error) => checks.wrong("study", error),
            Ok(study) => {
                study.notices.iter().for_each(|notice| global.note(notice));
                let count = study.evals.len();
                let evaluations =
                    if count == 1 { "one evaluation".to_owned() } else { format!("{count} evaluations") };
                checks.good("study", format_args!("{evaluations} of the suite `{}`", study.suite.name));
                let mut seen = BTreeSet::new();
                for eval in &study.evals {
                    checks.key(eval);
                    for base_url in &eval.base_urls {
                        // Evaluations of one model differ in request settings, which only the test request checks.
                        if request || seen.insert((base_url.clone(), eval.model.clone())) {
                            checks.endpoint(eval, base_url, request);
                        }
                    }
                }
            }
        }
        checks.cache(&folder);
        checks.disk(&folder);
        checks.report(global)
    }
}

/// Whether the API is at `/v1` of an address that was given without it.
fn lists_models_below_v1(eval: &Eval, base_url: &str) -> bool {
    !base_url.ends_with("/v1") && list_models(eval, &format!("{base_url}/v1")).is_ok()
}

#[derive(Default)]
struct Checks {
    checks: Vec<Check>,
}

impl Checks {
    fn add(&mut self, state: CheckState, what: &str, finding: impl Display) {
        self.checks.push(Check { what: what.to_owned(), state, finding: finding.to_string() });
    }

    fn good(&mut self, what: &str, finding: impl Display) {
        self.add(CheckState::Good, what, finding);
    }

    fn unsure(&mut self, what: &str, finding: impl Display) {
        self.add(CheckState::Unsure, what, finding);
    }

    fn wrong(&mut self, what: &str, finding: impl Display) {
        self.add(CheckState::Wrong, what, finding);
    }

    fn key(&mut self, eval: &Eval) {
        let Some(variable) = &eval.api_key_env else { return };
        let what = format!("API key of {}", eval.name);
        match eval.api_key() {
            Ok(_) => self.good(&what, format_args!("`{variable}` is set")),
            Err(error) => self.wrong(&what, error),
        }
    }

    fn endpoint(&mut self, eval: &Eval, base_url: &str, send_question: bool) {
        let what = format!("{} at {}", eval.name, without_credentials(base_url));
        match list_models(eval, base_url) {
            Ok(models) if models.contains(&eval.model) => self.good(&what, "the model is available"),
            Ok(models) => {
                let names: Vec<&str> = models.iter().map(String::as_str).collect();
                let near = closest(&eval.model, &names);
                let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                self.wrong(
                    &what,
                    format_args!(
                        "no model `{}`{near}; available: {}",
                        eval.model,
                        list_names(&names, MAX_NAMES)
                    ),
                );
            }
            Err(ProbeError::NoList { status: 404 }) if lists_models_below_v1(eval, base_url) => {
                let address = without_credentials(base_url);
                let address = format!("{}/v1", address.trim_end_matches('/'));
                return self.wrong(
                    &what,
                    format_args!("no API at this address, but at {address}; set `base_url = \"{address}\"`"),
                );
            }
            Err(ProbeError::NoList { status }) if !send_question => self.unsure(
                &what,
                format_args!(
                    "the endpoint responds but does not list its models (HTTP {status}); `--request` sends a test request"
                ),
            ),
            Err(ProbeError::NoList { .. }) => {}
            Err(problem) => return self.wrong(&what, problem),
        }
        if send_question {
            match send_test_request(eval, base_url) {
                Ok((reply, took)) => {
                    let printable = reply.trim().chars().filter(|c| !c.is_control());
                    let mut reply: String = printable.clone().take(MAX_REPLY_LEN).collect();
                    if printable.count() > MAX_REPLY_LEN {
                        reply.push('…');
                    }
                    self.good(&what, format_args!("replied `{reply}` after {:.1} s", took.as_secs_f64()));
                }
                Err(problem) => self.wrong(&what, problem),
            }
        }
    }

    fn cache(&mut self, folder: &Path) {
        let path = folder.join(Study::CACHE_FILE);
        if !path.exists() {
            return self.good("cache", "none yet; the first run creates it");
        }
        let count = Cache::open_read_only(&path).and_then(|cache| cache.reader()?.count());
        match count {
            Ok(count) => {
                self.good("cache", format_args!("{count} responses; `reasonscape cache verify` checks each"));
            }
            Err(error) => self.wrong("cache", error),
        }
    }

    fn disk(&mut self, folder: &Path) {
        if let Err(error) = tempfile::tempfile_in(folder) {
            return self.wrong(
                "disk",
                format_args!(
                    "cannot write to `{}` ({error}); change its permissions, or use another directory",
                    folder.display()
                ),
            );
        }
        match free_bytes(folder) {
            Some(bytes) if bytes < MIN_FREE_BYTES => self.unsure(
                "disk",
                format_args!("{} MB free, a run may need more; free some space", bytes >> 20),
            ),
            Some(bytes) => self.good("disk", format_args!("{:.0} GB free", bytes as f64 / 1e9)),
            None => self.good("disk", "writable"),
        }
    }

    fn report(self, global: Global) -> Result<(), CliError> {
        let mut table = Table::new(&["", "what", "found"]);
        for check in &self.checks {
            let sign = match check.state {
                CheckState::Good => "ok",
                CheckState::Unsure => "?",
                CheckState::Wrong => "FAIL",
            };
            table.push(vec![Cell::text(sign), Cell::text(&check.what), Cell::text(&check.finding)]);
        }
        print(global, &table, &self.checks)?;
        match self.checks.iter().filter(|check| check.state == CheckState::Wrong).count() {
            0 => Ok(()),
            1 => Err(CliError::Internal(anyhow::anyhow!("1 check failed; see the table for the fix"))),
            count => {
                Err(CliError::Internal(anyhow::anyhow!("{count} checks failed; see the table for the fixes")))
            }
        }
    }
}

/// Free disk space for this user, if the system reports it.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// A URL without user name, password and query.
fn without_credentials(base_url: &str) -> String {
    let Ok(mut url) = url::Url::parse(base_url) else { return "an invalid URL".to_owned() };
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.to_string()
}

/// Lists the first `max` names.
pub(super) fn list_names(names: &[&str], max: usize) -> String {
    let shown = names.iter().take(max).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "none".to_owned(),
        many if many > max => format!("{shown} and {} more", many - max),
        _ => shown,
    }
}
