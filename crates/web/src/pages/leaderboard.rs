//! The leaderboard as a page and as files.

mod cells;
mod downloads;
mod facets;
mod sorting;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_analysis::{
    BoardOptions, Leaderboard, ScoreMethod, ScoreRow, Ties, accuracy_interval_name, accuracy_label,
};
use reasonscape_points::EvalInfo;
use serde::Serialize;

use self::cells::{Axis, HeatCell, IntervalBar, axis, heat_cell};
use self::downloads::{Download, downloads};
pub(crate) use self::downloads::{csv, json, markdown};
use self::facets::{Facet, conditions, facets};
use self::sorting::{Column, SortOrder};
use super::estimator_picker::{EstimatorGroup, estimator_groups};
use super::{PlainTable, render};
use crate::app::App;
use crate::error::ApiError;
use crate::labels::thousands;
use crate::params::board_options;
use crate::query_string::{Query, encoded};
use reasonscape_analysis::tables::scores::details_table;

#[derive(Serialize)]
struct Page {
    modes: Vec<EstimatorGroup>,
    /// What the estimates of tasks are called.
    accuracy: &'static str,
    accuracy_interval: String,
    /// Labels to filter by: facet and values.
    facets: Vec<Facet>,
    is_filtered: bool,
    /// The number of problems per point, if limited.
    first: String,
    /// The chosen method and rule for ties; empty for the default.
    method: String,
    ties: String,
    clear: String,
    sort: String,
    is_ascending: bool,
    columns: Vec<Column>,
    tasks: Vec<Column>,
    axis: Axis,
    rows: Vec<Row>,
    /// The table of details.
    details: PlainTable,
    remarks: Vec<String>,
    downloads: Vec<Download>,
    summary: String,
    /// Why there is nothing to show.
    empty_reason: Option<String>,
}

#[derive(Serialize)]
struct Row {
    rank_range: String,
    rank: usize,
    label: String,
    how: String,
    href: String,
    groups: Vec<String>,
    lacks: Option<String>,
    estimate: String,
    interval_label: String,
    interval_name: String,
    score: f64,
    v2: String,
    v2_center: f64,
    is_sampled_unequally: bool,
    is_from_counters: bool,
    interval: IntervalBar,
    band: &'static str,
    truncated: String,
    truncation: Option<f64>,
    tokens: String,
    tokens_mean: Option<f64>,
    value: String,
    score_per_1k_tokens: Option<f64>,
    cells: Vec<Option<HeatCell>>,
}

/// The parameters of this page.
const NAMES: [&str; 8] = ["mode", "method", "ties", "group", "filter", "sort", "dir", "first"];

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri).only(&NAMES);
    let options = board_options(&query)?;
    let study = app.study_for(&query).await?;
    let conditions = conditions(&query);
    let (board, empty_reason) = match study.analyses.leaderboard(options, &conditions).await {
        Ok(board) => (board, None),
        // A filter that matches nothing is reported on the page, not as an error.
        Err(problem) if !conditions.is_empty() => {
            (Arc::new(empty_leaderboard(options)), Some(problem.message))
        }
        Err(problem) => return Err(problem),
    };
    let view = View { app: &app, query: &query, board: &board };
    let page = view.page(study.analyses.db.evals(), study.trials, empty_reason);
    render(&app, "leaderboard.html", "Leaderboard", &study.remarks, &page)
}

fn empty_leaderboard(options: BoardOptions) -> Leaderboard {
    Leaderboard {
        rows: Vec::new(),
        mode: options.estimator.mode,
        is_literal: options.estimator.is_literal,
        method: ScoreMethod::Likelihood,
        ties: Ties::Paired,
        notes: Vec::new(),
        tasks: Vec::new(),
        unscored: Vec::new(),
        near_chance: BTreeMap::new(),
    }
}

struct View<'a> {
    app: &'a App,
    query: &'a Query,
    board: &'a Leaderboard,
}

impl View<'_> {
    fn page(&self, evals: &[EvalInfo], trials: u64, empty_reason: Option<String>) -> Page {
        let order = SortOrder::from_query(self.query, &self.board.tasks);
        let mut rows: Vec<&ScoreRow> = self.board.rows.iter().collect();
        order.sort(&mut rows);
        let axis = axis(&self.board.rows);
        let rows = rows.into_iter().map(|row| self.row(row, &axis)).collect();
        let column = |key: &str, name: &str, tooltip: &str| {
            order.column(&self.app.base, self.query, key, name, tooltip)
        };
        let is_filtered =
            self.query.get("group").or(self.query.get("filter")).or(self.query.get("first")).is_some();
        Page {
            modes: estimator_groups(self.board.mode),
            accuracy: accuracy_label(self.board.mode.name()),
            accuracy_interval: accuracy_interval_name(self.board.mode.name(), 0.95),
            facets: facets(evals, self.query),
            is_filtered,
            first: self.query.get("first").unwrap_or_default().to_owned(),
            method: self.query.get("method").unwrap_or_default().to_owned(),
            ties: self.query.get("ties").unwrap_or_default().to_owned(),
            clear: format!(
                "{}/{}",
                self.app.base,
                self.query.only(&["mode", "method", "ties", "sort", "dir"])
            ),
            sort: order.key.to_owned(),
            is_ascending: order.is_ascending,
            columns: vec![
                column("rank", "Rank", "Range of ranks that the data allow; = marks a tie"),
                column("name", "Model", "Name of the evaluation"),
                column(
                    "score",
                    "ReasonScore",
                    match self.board.method {
                        ScoreMethod::Likelihood => {
                            "Geometric mean over tasks, 10 to 1000, with its 95 % confidence interval"
                        }
                        ScoreMethod::Bootstrap => "ReasonScore v2, with its interval, which is not a 95 % CI",
                    },
                ),
                column(
                    "v2",
                    "v2",
                    "ReasonScore v2 with its margin, which is not a 95 % CI; see docs/coverage",
                ),
                column("truncated", "Truncated", "Proportion of responses that hit the token limit"),
                column("tokens", "Tokens", "Mean number of tokens per completion"),
                column("value", "Per 1k tokens", "ReasonScore per thousand completion tokens"),
            ],
            tasks: self
                .board
                .tasks
                .iter()
                .map(|task| column(&format!("task:{task}"), task, &format!("Accuracy on {task}, in percent")))
                .collect(),
            axis,
            rows,
            details: PlainTable::from(&details_table(self.board)),
            remarks: self.board.remarks(),
            downloads: downloads(self.app, self.query),
            summary: self.summary(evals.len(), trials),
            empty_reason,
        }
    }

    fn summary(&self, evals: usize, trials: u64) -> String {
        let (shown, tasks) = (self.board.rows.len(), self.board.tasks.len());
        let pluralize =
            |n: usize, thing: &str| if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") };
        let evaluations = if shown == evals {
            pluralize(evals, "evaluation")
        } else {
            format!("{shown} of {evals} evaluations")
        };
        format!("{evaluations} on {}; the study has {} trials", pluralize(tasks, "task"), thousands(trials))
    }

    fn row(&self, row: &ScoreRow, axis: &Axis) -> Row {
        let trials = format!("{}/trials?eval={}", self.app.base, encoded(&row.eval.eval_id));
        let score = row.reason_score;
        Row {
            rank_range: row.rank_label(),
            rank: row.rank,
            label: row.label.clone(),
            how: format!("{} · {}", row.eval.template, row.eval.sampler),
            groups: row.eval.groups.clone(),
            lacks: row.describe_missing(),
            estimate: format!("{:.0}", score.estimate),
            interval_label: score.interval_label(),
            interval_name: score.interval_name(),
            score: score.estimate,
            v2: format!("{:.0} ± {:.0}", row.score.center, row.score.margin),
            v2_center: row.score.center,
            is_sampled_unequally: row.unequal_sampling,
            is_from_counters: row.from_counters,
            interval: IntervalBar::new(axis, &score),
            band: score.band,
            truncated: match row.truncation_rate {
                _ if !row.truncation_known => "?".to_owned(),
                Some(rate) => format!("{:.1} %", 100.0 * rate),
                None => "–".to_owned(),
            },
            truncation: row.truncation_rate,
            tokens: row.tokens_mean.map_or_else(|| "–".to_owned(), |tokens| thousands(tokens.round() as u64)),
            tokens_mean: row.tokens_mean,
            value: row
                .reason_score_per_1k_tokens
                .map_or_else(|| "–".to_owned(), |v| thousands(v.round() as u64)),
            score_per_1k_tokens: row.reason_score_per_1k_tokens,
            cells: self
                .board
                .tasks
                .iter()
                .map(|name| {
                    row.tasks.get(name).and_then(|task| {
                        heat_cell(name, task, self.board.mode.name(), row.truncation_known, &trials)
                    })
                })
                .collect(),
            href: trials,
        }
    }
}
