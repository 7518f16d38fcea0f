//! `PointsDB`: points and trials of a study, and SQL over both.

mod aggregate;
mod columns;
mod derived;
mod disagreements;
mod find_trials;
mod locate_trials;
mod open;
mod paired;
mod problem_samples;
mod problem_values;
pub(crate) mod query_limits;
mod query_points;
mod query_result;
mod recount;
mod response_counts;
mod scan;
mod stored_trial;
mod sums;
mod tables;
mod trial_columns;
mod trials;
mod trials_page;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use datafusion::prelude::SessionContext;
use reasonscape_stats::{Confidence, Counters, Interval, Mode};

pub use self::aggregate::{Group, Value};
pub(crate) use self::columns::CountColumns;
pub use self::disagreements::{PointDisagreements, TestDisagreement};
pub use self::find_trials::TestName;
pub use self::locate_trials::{TrialLocation, TrialMatch};
pub use self::paired::PairedTask;
use self::problem_samples::ProblemClusters;
pub use self::problem_samples::{ProblemSamples, UnitProblems};
pub use self::problem_values::ProblemValues;
pub use self::query_points::PointEstimate;
pub use self::query_result::QueryResult;
pub use self::response_counts::ResponseCounts;
pub use self::stored_trial::{StoredTrial, StoredTrials};
pub use self::trial_columns::{Measure, TrialColumns};
pub use self::trials_page::{PointSet, PointTrialCount, TrialFilter, TrialNumber};

use crate::{BoxFuture, EvalInfo, PointsError, Provenance, TrialCounts};

/// The trials and counters of a study, open for queries.
///
/// Points are held in memory, so a query that needs only counters reads no file. A trial that is stored twice, in one
/// file or in two, counts once. Every query sees the state that was opened, even if files are replaced meanwhile.
pub struct PointsDb {
    study: PathBuf,
    generation: String,
    /// Whether results that take long to compute are stored in the study.
    stores_derived: bool,
    evals: Vec<EvalInfo>,
    sources: Vec<UnitProvenance>,
    /// Evaluations without recorded finish reasons.
    truncation_unknown: BTreeSet<String>,
    /// Imported evaluations, with the source log of each task.
    imported: BTreeMap<String, BTreeMap<String, String>>,
    remarks: Vec<String>,
    manifest_generation: Option<u64>,
    /// Single-threaded: floating-point sums depend on their order, and results must be reproducible bit by bit.
    points: SessionContext,
    /// All tables, on all cores.
    session: SessionContext,
    /// Whether some problem has several samples.
    has_repeats: bool,
    /// The trials of each point by problem; computed when first needed, and only with repeats.
    problem_clusters: OnceLock<ProblemClusters>,
}

impl std::fmt::Debug for PointsDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointsDb")
            .field("study", &self.study)
            .field("evals", &self.evals)
            .finish_non_exhaustive()
    }
}

/// Provenance of one evaluation on one task.
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
    /// One of the nine estimators.
    pub mode: Mode,
    /// Confidence level of the confidence interval.
    pub confidence: Confidence,
    /// Whether to compute the products as defined, without the reductions at `g = 0` and `n_t = 0`.
    pub is_literal: bool,
}

impl From<Mode> for Estimator {
    fn from(mode: Mode) -> Self {
        Self { mode, confidence: Confidence::P95, is_literal: false }
    }
}

impl Estimator {
    /// The confidence interval for these counts; samples of one problem count as a cluster.
    ///
    /// # Errors
    /// A [`PointsError`] if the counts are inconsistent.
    pub fn estimate(&self, counts: &TrialCounts) -> Result<Interval, PointsError> {
        let confidence = self.confidence.with_design_effect(counts.design_effect());
        Ok(Self { confidence, ..*self }.estimate_counters(&counts.counters()?))
    }

    /// The confidence interval for these counters.
    pub fn estimate_counters(&self, counters: &Counters) -> Interval {
        if self.is_literal {
            self.mode.estimate_literal(counters, self.confidence)
        } else {
            self.mode.estimate(counters, self.confidence)
        }
    }
}

impl PointsDb {
    /// Opens the trials and points of a study directory.
    ///
    /// # Errors
    /// A [`PointsError`] that names the damaged or foreign file, or reports that the study has no trials yet.
    pub fn open(study: &Path) -> BoxFuture<'_, Result<Self, PointsError>> {
        Box::pin(open::open(study, None))
    }

    /// Opens only the `first` problems of each point, as a study with that `count` would have them.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if trials were imported or are missing, because then the first problems are unknown.
    pub fn open_first(study: &Path, first: Option<u64>) -> BoxFuture<'_, Result<Self, PointsError>> {
        Box::pin(open::open(study, first))
    }

    /// The study directory.
    pub fn study(&self) -> &Path {
        &self.study
    }

    /// The evaluations, sorted by model, template and sampler.
    pub fn evals(&self) -> &[EvalInfo] {
        &self.evals
    }

    /// Provenance by evaluation and task.
    pub fn sources(&self) -> &[UnitProvenance] {
        &self.sources
    }

    /// The ids of evaluations for which truncation is unknown. Their truncated counts are zero because nothing was
    /// recorded; whatever displays them must mark that.
    pub fn truncation_unknown(&self) -> &BTreeSet<String> {
        &self.truncation_unknown
    }

    /// The ids of evaluations imported from logs of other tools, with the log of each task, such as `inspect: add.eval`.
    pub fn imported(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.imported
    }

    /// The number of the state that is open, which every change of the files raises. `None` for a study without
    /// manifest.json.
    pub fn manifest_generation(&self) -> Option<u64> {
        self.manifest_generation
    }

    /// Notes on irregularities that were found and handled when the files were opened.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
