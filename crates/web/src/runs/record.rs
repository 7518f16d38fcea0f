//! The record of a run, `run.json` in its directory.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reasonscape_limits::read_to_end;
use reasonscape_pipeline::EvalRunSummary;
use reasonscape_study::Eval;
use reasonscape_study::write_file;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use reasonscape_pipeline::{FailureGroup, ProgressCounts, group_failures};

/// The file name; only directories with this file can be deleted.
pub(super) const FILE: &str = "run.json";
/// The value of its `format` field.
const FORMAT: &str = "reasonscape-run-1";
/// Maximum size of a record; one of a thousand models has less than a tenth.
const MAX_RECORD_BYTES: u64 = 16 << 20;
/// Maximum number of recorded failure groups per evaluation.
const MAX_FAILURE_GROUPS: usize = 20;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunState {
    /// Not started yet.
    Planned,
    Running,
    /// Everything was sent, and the responses are being scored.
    Judging, // wording: allow (a value of the API)
    /// Every trial has a response.
    Complete,
    /// It ended by itself, and some trials have no response.
    Incomplete,
    Cancelled,
    Failed,
    /// The server ended before the run did.
    Interrupted,
}

impl RunState {
    /// Whether the run is not active.
    pub(crate) fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::Judging)
    }

    /// The label on pages.
    pub(crate) fn label(self) -> &'static str {
        if self == Self::Judging { "scoring" } else { self.name() }
    }

    /// The name in the API and in `run.json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Running => "running",
            Self::Judging => "judging", // wording: allow
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunRecord {
    /// The name.
    pub(crate) name: String,
    /// The suite or dataset of the run, in words.
    #[serde(default)]
    pub(crate) source: String,
    /// Former name of `source`.
    #[schemars(extend("deprecated" = true))]
    asks: String,
    /// The form that created the run, to create another like it. Only in the file.
    #[serde(skip)]
    pub(crate) form: String,
    /// Whether it belongs to the served study, and not to a study of its own.
    pub(crate) of_study: bool,
    /// The models.
    pub(crate) models: Vec<String>,
    /// Evaluations by id; all if empty.
    pub(crate) evals: Vec<String>,
    /// Tasks by name; all if empty.
    pub(crate) tasks: Vec<String>,
    /// Problems per point, instead of the number in the study.
    pub(crate) count: Option<u32>,
    /// The state.
    pub(crate) state: RunState,
    /// Why it ended, unless it is complete.
    pub(crate) reason: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub(crate) created_ms: u64,
    /// When it was last started, in milliseconds since 1970.
    pub(crate) started_ms: Option<u64>,
    /// When it ended, in milliseconds since 1970.
    pub(crate) ended_ms: Option<u64>,
    /// Responses scored so far, and responses to score, while the run is being scored.
    pub(crate) judged: Option<[u64; 2]>,
    /// The progress of each evaluation.
    pub(crate) progress: Vec<EvalProgress>,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct RunFile<R> {
    format: String,
    #[serde(default)]
    form: String,
    #[serde(flatten)]
    record: R,
}

/// The progress of one evaluation. Tokens and cost are summed over all starts of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunProgress")]
pub(crate) struct EvalProgress {
    /// The id of the evaluation.
    pub(crate) eval_id: String,
    /// The display name of the evaluation.
    pub(crate) name: String,
    /// Trials in the plan.
    pub(crate) planned: u64,
    /// Trials with a response before this start.
    pub(crate) cached: u64,
    /// Trials with a response since this start.
    pub(crate) answered: u64,
    /// Truncated responses since this start.
    pub(crate) truncated: u64,
    /// Trials without a response.
    pub(crate) missing: u64,
    /// Requests that were sent again.
    pub(crate) retried: u64,
    /// Trials that need no further request.
    pub(crate) done: u64,
    /// Tokens of the prompts.
    pub(crate) prompt_tokens: u64,
    /// Tokens of the completions.
    pub(crate) completion_tokens: u64,
    /// The cost, if prices are known.
    pub(crate) cost: Option<f64>,
    /// Responses per second, while the run is active.
    pub(crate) per_second: Option<f64>,
    /// Estimated seconds until the end, while the run is active.
    pub(crate) seconds_left: Option<f64>,
    /// What it waits for, or why it ended early.
    pub(crate) note: Option<String>,
    /// The latest failure.
    pub(crate) problem: Option<String>,
    /// The failures that left trials without a response.
    #[serde(default)]
    pub(crate) failures: Vec<FailureGroup>,
    /// Former name of `failures`.
    #[schemars(extend("deprecated" = true))]
    troubles: Vec<FailureGroup>,
}

/// The tokens used before a start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokensUsed {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl EvalProgress {
    pub(super) fn new(eval: &Eval) -> Self {
        Self { eval_id: eval.id.to_string(), name: eval.name.clone(), ..Self::default() }
    }

    pub(super) fn spent(&self) -> TokensUsed {
        TokensUsed { prompt_tokens: self.prompt_tokens, completion_tokens: self.completion_tokens }
    }

    fn spend(&mut self, eval: &Eval, before: TokensUsed, prompt_tokens: u64, completion_tokens: u64) {
        self.prompt_tokens = before.prompt_tokens + prompt_tokens;
        self.completion_tokens = before.completion_tokens + completion_tokens;
        self.cost = eval.prices.map(|prices| prices.cost(self.prompt_tokens, self.completion_tokens));
    }

    /// Updates the counts of an active run.
    pub(super) fn follow(
        &mut self,
        eval: &Eval,
        before: TokensUsed,
        counts: &ProgressCounts,
        elapsed: Duration,
    ) {
        self.planned = counts.planned;
        self.cached = counts.cached;
        self.answered = counts.answered;
        self.truncated = counts.truncated;
        self.missing = counts.missing;
        self.retried = counts.retried;
        self.done = counts.done();
        self.per_second = Some(counts.rate(elapsed));
        self.seconds_left = counts.left(elapsed).map(|left| left.as_secs_f64());
        self.note.clone_from(&counts.waiting);
        self.problem.clone_from(&counts.problem);
        self.spend(eval, before, counts.prompt_tokens, counts.completion_tokens);
    }

    /// Sets the final counts.
    pub(super) fn end(&mut self, eval: &Eval, before: TokensUsed, summary: &EvalRunSummary) {
        self.planned = summary.planned;
        self.cached = summary.cached;
        self.answered = summary.answered;
        self.truncated = summary.truncated;
        self.missing = summary.missing;
        self.done = summary.cached + summary.answered + summary.missing;
        (self.per_second, self.seconds_left) = (None, None);
        self.note.clone_from(&summary.stopped);
        self.problem = None;
        self.failures = group_failures(&summary.missing_trials);
        // The reason for stopping is already in the note.
        self.failures.retain(|failure| summary.stopped.as_ref() != Some(&failure.problem));
        self.failures.truncate(MAX_FAILURE_GROUPS);
        self.troubles.clone_from(&self.failures);
        self.spend(eval, before, summary.prompt_tokens, summary.completion_tokens);
    }
}

impl RunRecord {
    pub(super) fn new(name: &str, source: String) -> Self {
        Self {
            name: name.to_owned(),
            asks: source.clone(),
            source,
            form: String::new(),
            of_study: false,
            models: Vec::new(),
            evals: Vec::new(),
            tasks: Vec::new(),
            count: None,
            state: RunState::Planned,
            reason: None,
            created_ms: now_ms(),
            started_ms: None,
            ended_ms: None,
            judged: None,
            progress: Vec::new(),
        }
    }

    /// The run in a folder; none if the folder has no valid record of this name.
    pub(super) fn load(folder: &Path) -> Option<Self> {
        let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
        let file = File::open(folder.join(FILE)).ok().filter(|_| is_folder)?;
        let text = read_to_end(file, MAX_RECORD_BYTES).ok()?;
        let RunFile { format, form, record } = serde_json::from_slice::<RunFile<Self>>(&text).ok()?;
        let is_called = folder.file_name().is_some_and(|name| name.to_str() == Some(&record.name));
        (format == FORMAT && is_called).then(|| Self { form, ..record.upgraded() })
    }

    /// A record of version 0.1 has only the former names of its fields.
    fn upgraded(mut self) -> Self {
        if self.source.is_empty() {
            self.source.clone_from(&self.asks);
        }
        for progress in self.progress.iter_mut().filter(|progress| progress.failures.is_empty()) {
            progress.failures.clone_from(&progress.troubles);
        }
        self
    }

    pub(super) fn save(&self, folder: &Path) -> std::io::Result<()> {
        let file = RunFile { format: FORMAT.to_owned(), form: self.form.clone(), record: self };
        let text = serde_json::to_string_pretty(&file)? + "\n";
        write_file(&folder.join(FILE), |out| out.write_all(text.as_bytes()))
    }

    /// Marks the run as ended.
    pub(super) fn end(&mut self, state: RunState, reason: Option<String>) {
        self.state = state;
        self.reason = reason;
        self.ended_ms = Some(now_ms());
        self.judged = None;
        for progress in &mut self.progress {
            (progress.per_second, progress.seconds_left) = (None, None);
        }
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_only_folders_with_a_record_of_their_name() {
        let parent = tempfile::TempDir::new().unwrap();
        let folder = parent.path().join("quick-1");
        std::fs::create_dir(&folder).unwrap();
        assert!(RunRecord::load(&folder).is_none());
        std::fs::write(folder.join(FILE), "{\"name\": \"quick-1\"}").unwrap();
        assert!(RunRecord::load(&folder).is_none());
        RunRecord::new("other", String::new()).save(&folder).unwrap();
        assert!(RunRecord::load(&folder).is_none());
        RunRecord::new("quick-1", String::new()).save(&folder).unwrap();
        assert_eq!(RunRecord::load(&folder).unwrap().state, RunState::Planned);
        #[cfg(unix)]
        {
            std::fs::create_dir(parent.path().join("endless")).unwrap();
            std::os::unix::fs::symlink("/dev/zero", parent.path().join("endless").join(FILE)).unwrap();
            assert!(RunRecord::load(&parent.path().join("endless")).is_none());
            let link = parent.path().join("link");
            std::os::unix::fs::symlink(&folder, &link).unwrap();
            assert!(RunRecord::load(&link).is_none());
        }
    }
}
