//! Which models a page shows: those that are chosen, or the best few.

use reasonscape_stats::Mode;
use serde::Serialize;

use super::explorer::label;
use crate::analysis::ScoreRow;
use crate::web::app::Snapshot;
use crate::web::error::Problem;
use crate::web::query_string::Query;

/// Models that are shown unless the reader chooses.
const FEW: usize = 3;
/// Models on a page: as many as have a colour of their own.
const MOST: usize = 8;

/// Something to choose.
#[derive(Serialize)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) shown: String,
    pub(super) is_chosen: bool,
}

/// The models to choose from, and those that are shown.
#[derive(Serialize)]
pub(super) struct Chosen {
    pub(super) choices: Vec<Choice>,
    /// The ids of those that are shown.
    pub(super) ids: Vec<String>,
    /// What is to be said of the choice.
    said: Vec<String>,
}

impl Chosen {
    /// Reads `eval` of an address. Without one, the models with the highest ReasonScore are shown, of those that were
    /// tried on the task: a few, and no more than have so many trials together, but for the first.
    pub(super) async fn of(
        study: &Snapshot,
        query: &Query,
        task: Option<&str>,
        mode: Mode,
        most_trials: u64,
    ) -> Result<Self, Problem> {
        let board = study.board(mode, &[]).await?;
        let was_tried =
            |tasks: &std::collections::BTreeMap<String, _>| task.is_none_or(|task| tasks.contains_key(task));
        let rows: Vec<&ScoreRow> = board.rows.iter().filter(|row| was_tried(&row.tasks)).collect();
        let known: Vec<&str> = rows.iter().map(|row| row.eval.eval_id.as_str()).collect();
        let mut said = Vec::new();
        let mut asked: Vec<&str> = query.all("eval").collect();
        let unknown: Vec<&str> = asked.extract_if(.., |id| !known.contains(id)).collect();
        let of_task = task.map_or(String::new(), |task| format!(" on {task}"));
        said.extend(unknown.iter().take(FEW).map(|id| {
            if study.db.evals().iter().any(|eval| eval.eval_id == *id) {
                format!("{} has no trial{of_task} yet.", label(&study.db, id))
            } else {
                format!("The study has no evaluation `{id}`.")
            }
        }));
        let mut ids: Vec<String> = if asked.is_empty() {
            let mut trials = 0;
            let fits = |row: &&&ScoreRow| {
                let of_task = |name: &str| task.is_none_or(|task| task == name);
                trials +=
                    row.tasks.iter().filter(|(name, _)| of_task(name)).map(|(_, task)| task.n).sum::<u64>();
                trials <= most_trials
            };
            let few = rows.iter().take(FEW).take_while(fits).count().max(1).min(known.len());
            if known.len() > few {
                let these =
                    if few == 1 { "this is the one".to_owned() } else { format!("these are the {few}") };
                said.push(format!(
                    "Of {} models{of_task}, {these} with the highest ReasonScore.",
                    known.len()
                ));
            }
            known.iter().take(few).map(ToString::to_string).collect()
        } else {
            // In the order of the leaderboard, which is that of the list.
            known.iter().filter(|id| asked.contains(*id)).map(ToString::to_string).collect()
        };
        if ids.len() > MOST {
            said.push(format!("Of the {} models that are chosen, the best {MOST} are shown.", ids.len()));
            ids.truncate(MOST);
        }
        let choices = known
            .iter()
            .map(|id| Choice {
                value: (*id).to_owned(),
                shown: label(&study.db, id),
                is_chosen: ids.iter().any(|chosen| chosen == id),
            })
            .collect();
        Ok(Self { choices, ids, said })
    }
}
