//! What this crate contained before `providers`, `study`, `cache` and `simulator` were split off, under its old names.
//
// removed when all users name the new crate, with the dependency on the simulator

pub use reasonscape_providers::{
    ApiKey, Completion, Finish, Header, Message, Provider, ReplyError as ReplyProblem, Role, Secret,
    SecretError, TokenLogprob, UnknownProvider, Usage,
};
pub use reasonscape_study::{
    Budget, Eval, EvalId, EvalSpec, Examples, HeaderSource, Limits, PlannedRequest as Asked,
    PlannedTrial as Planned, Precision, Prices, Question, Sampler, Selection, SelectionError, Shard, Study,
    StudyError, Template, is_selected, matches_name, planned_requests as asked, selected_points, write_file,
    write_study,
};

use crate::RunError;
pub use crate::probe::ProbeError as ProbeProblem;
pub use crate::run::{EvalRunSummary as EvalSummary, Shutdown as Stop};

/// The response cache, by the old names of its types.
pub mod cache {
    pub use reasonscape_cache::{
        CacheDiff as Changes, CacheStats as Stats, CorruptEntry as Damage, EntryFilter as Selection,
        EntryTotals as Tally, MergeSummary as Imported, Watermark as Mark, *,
    };
    pub use reasonscape_core::{CacheKey, EntryId, KeyError};
}

/// The simulator, by the old names of its types.
pub mod simulate {
    pub use reasonscape_simulator::{GroundTruth as Truth, ResolvedPrompt as Asked, ServerStats as Stats, *};
}

/// [`reasonscape_study::check_selection`] with the error of a run.
///
/// # Errors
/// A [`RunError`] that names what is not there and what is.
pub fn check_selection(study: &Study, selection: &Selection) -> Result<(), RunError> {
    Ok(reasonscape_study::check_selection(study, selection)?)
}
