//! The models that a page shows: the selected ones, or the best few.

use reasonscape_stats::Mode;
use serde::Serialize;

use super::choices::Choice;
use crate::analysis_cache::AnalysisCache;
use crate::error::ApiError;
use crate::labels::eval_label;
use crate::query_string::Query;
use reasonscape_analysis::ScoreRow;

/// Number of models shown by default.
const DEFAULT_MODELS: usize = 3;
/// Maximum number of models on a page: the number of distinct colors.
const MAX_MODELS: usize = 8;

/// The models to choose from, and those that are shown.
#[derive(Serialize)]
pub(super) struct ModelPicker {
    pub(super) choices: Vec<Choice>,
    /// The ids of those that are shown.
    pub(super) ids: Vec<String>,
    /// Notes on the choice.
    notes: Vec<String>,
}

impl ModelPicker {
    /// Reads `eval`. The default is the models with the highest ReasonScore that have trials on the task: at most
    /// [`DEFAULT_MODELS`], with at most `max_trials` trials in total unless the first alone has more.
    pub(super) async fn from_query(
        analyses: &AnalysisCache,
        query: &Query,
        task: Option<&str>,
        mode: Mode,
        max_trials: u64,
    ) -> Result<Self, ApiError> {
        let board = analyses.order(mode, &[]).await?;
        let was_tried =
            |tasks: &std::collections::BTreeMap<String, _>| task.is_none_or(|task| tasks.contains_key(task));
        let rows: Vec<&ScoreRow> = board.rows.iter().filter(|row| was_tried(&row.tasks)).collect();
        let known: Vec<&str> = rows.iter().map(|row| row.eval.eval_id.as_str()).collect();
        let mut notes = Vec::new();
        let mut requested: Vec<&str> = query.all("eval").collect();
        let unknown: Vec<&str> = requested.extract_if(.., |id| !known.contains(id)).collect();
        let of_task = task.map_or(String::new(), |task| format!(" on {task}"));
        notes.extend(unknown.iter().take(DEFAULT_MODELS).map(|id| {
            if analyses.db.evals().iter().any(|eval| eval.eval_id == *id) {
                format!("{} has no trials{of_task} yet.", eval_label(&analyses.db, id))
            } else {
                format!("The study has no evaluation `{id}`.")
            }
        }));
        let mut ids: Vec<String> = if requested.is_empty() {
            let mut trials = 0;
            let fits_trials = |row: &&&ScoreRow| {
                let of_task = |name: &str| task.is_none_or(|task| task == name);
                trials +=
                    row.tasks.iter().filter(|(name, _)| of_task(name)).map(|(_, task)| task.n).sum::<u64>();
                trials <= max_trials
            };
            let shown_count =
                rows.iter().take(DEFAULT_MODELS).take_while(fits_trials).count().max(1).min(known.len());
            if known.len() > shown_count {
                let these = if shown_count == 1 {
                    "showing the one".to_owned()
                } else {
                    format!("showing the {shown_count}")
                };
                notes.push(format!(
                    "Of {} models{of_task}, {these} with the highest ReasonScore.",
                    known.len()
                ));
            }
            known.iter().take(shown_count).map(ToString::to_string).collect()
        } else {
            // In the order of the leaderboard.
            known.iter().filter(|id| requested.contains(*id)).map(ToString::to_string).collect()
        };
        if ids.len() > MAX_MODELS {
            notes.push(format!("Of the {} selected models, the best {MAX_MODELS} are shown.", ids.len()));
            ids.truncate(MAX_MODELS);
        }
        let choices = known
            .iter()
            .map(|id| Choice {
                value: (*id).to_owned(),
                shown: eval_label(&analyses.db, id),
                is_chosen: ids.iter().any(|chosen| chosen == id),
            })
            .collect();
        Ok(Self { choices, ids, notes })
    }
}
