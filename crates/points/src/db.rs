//! `PointsDB`: the points of a study, its trials, and SQL over both.

mod aggregate;
mod columns;
mod disagreements;
mod find_trials;
mod locate_trials;
mod open;
mod paired;
mod query_points;
mod query_result;
mod recount;
mod response_counts;
mod scan;
mod stored_trial;
mod tables;
mod trial_columns;
mod trials;
mod trials_page;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use datafusion::prelude::SessionContext;
use reasonscape_stats::{Confidence, Counters, Interval, Mode};

pub use self::aggregate::{Group, Value};
pub(crate) use self::columns::CountColumns;
pub use self::disagreements::{PointDisagreements, TestDisagreement};
pub use self::find_trials::TestName;
pub use self::locate_trials::{TrialLocation, TrialMatch};
pub use self::paired::PairedTask;
pub use self::query_points::PointEstimate;
pub use self::query_result::QueryResult;
pub use self::response_counts::ResponseCounts;
pub use self::stored_trial::{StoredTrial, StoredTrials};
pub use self::trial_columns::{Measure, TrialColumns};
pub use self::trials_page::{PointSet, PointTrialCount, TrialFilter, TrialNumber};

use crate::{BoxFuture, EvalInfo, PointsError, Provenance, TrialCounts};

/// The trials and counters of a study, open for questions.
///
/// Points are in memory: a question that counters can answer reads no file. A trial that is stored twice, in one file
/// or in two, counts once.
pub struct PointsDb {
    study: PathBuf,
    evals: Vec<EvalInfo>,
    sources: Vec<UnitProvenance>,
    /// Evaluations of which nobody wrote down why answers ended.
    truncation_unknown: BTreeSet<String>,
    /// Evaluations that were imported, with the log that each of their tasks comes from.
    imported: BTreeMap<String, BTreeMap<String, String>>,
    remarks: Vec<String>,
    /// Adds up points on one thread, so that the same question gives the same bits.
    points: SessionContext,
    /// Everything, on all threads.
    session: SessionContext,
}

impl std::fmt::Debug for PointsDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointsDb")
            .field("study", &self.study)
            .field("evals", &self.evals)
            .finish_non_exhaustive()
    }
}

/// Where the numbers of an evaluation on a task come from.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitProvenance {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub task: String,
    /// Versions, seed, hashes and dates.
    pub provenance: Provenance,
}

/// How accuracy is estimated from counters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimator {
    /// Which of the nine estimators.
    pub mode: Mode,
    /// Confidence level of the interval.
    pub confidence: Confidence,
    /// Whether the table's products are computed everywhere, without the reductions at `g = 0` and `n_t = 0`.
    pub is_literal: bool,
}

impl From<Mode> for Estimator {
    fn from(mode: Mode) -> Self {
        Self { mode, confidence: Confidence::P95, is_literal: false }
    }
}

impl Estimator {
    /// The interval that these counts support.
    ///
    /// # Errors
    /// A [`PointsError`] when the counts contradict each other.
    pub fn estimate(&self, counts: &TrialCounts) -> Result<Interval, PointsError> {
        Ok(self.estimate_counters(&counts.counters()?))
    }

    /// The interval that these counters support.
    pub fn estimate_counters(&self, counters: &Counters) -> Interval {
        if self.is_literal {
            self.mode.estimate_literal(counters, self.confidence)
        } else {
            self.mode.estimate(counters, self.confidence)
        }
    }
}

impl PointsDb {
    /// Opens what `evaluate` wrote in the folder of a study.
    ///
    /// # Errors
    /// A [`PointsError`] that names the file that is damaged or not ours, or says that nothing has been evaluated.
    pub fn open(study: &Path) -> BoxFuture<'_, Result<Self, PointsError>> {
        Box::pin(open::open(study, None))
    }

    /// Opens only the first problems of each point, if `first` says how many: what a study with that `count` would have.
    ///
    /// # Errors
    /// As [`open`](Self::open); also where trials were imported or are missing, so that nobody knows which came first.
    pub fn open_first(study: &Path, first: Option<u64>) -> BoxFuture<'_, Result<Self, PointsError>> {
        Box::pin(open::open(study, first))
    }

    /// The folder of the study.
    pub fn study(&self) -> &Path {
        &self.study
    }

    /// The evaluations, by model, template and sampler.
    pub fn evals(&self) -> &[EvalInfo] {
        &self.evals
    }

    /// Where the numbers come from, by evaluation and task.
    pub fn sources(&self) -> &[UnitProvenance] {
        &self.sources
    }

    /// The ids of evaluations of which it is not known which answers were cut off. Their truncated counts are zero
    /// because nobody counted; whoever shows them says so.
    pub fn truncation_unknown(&self) -> &BTreeSet<String> {
        &self.truncation_unknown
    }

    /// The ids of evaluations that were imported from logs of other tools, with the log of each of their tasks, as in
    /// `inspect: add.eval`.
    pub fn imported(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.imported
    }

    /// What was found odd and put right when the files were opened.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
