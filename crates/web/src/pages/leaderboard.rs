//! The leaderboard as a page and as files.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::EvalInfo;
use reasonscape_stats::Mode;
use serde::Serialize;

use super::estimator_picker::{EstimatorGroup, estimator_groups};
use super::render;
use crate::app::App;
use crate::error::ApiError;
use crate::labels::thousands;
use crate::params::mode;
use crate::query_string::{Query, encoded};
use crate::response::{self, download};
use crate::sanitize::visible;
use reasonscape_analysis::tables::scores;
use reasonscape_analysis::{Leaderboard, ScoreRow, TaskScore};

/// Steps of the color scale.
const STEPS: f64 = 10.0;
/// Width of the plot of an interval, in pixels.
const WIDTH: f64 = 120.0;
/// A task with a smaller proportion of truncated responses is not marked.
const MIN_TRUNCATION_RATE: f64 = 0.005;

#[derive(Serialize)]
struct Page {
    modes: Vec<EstimatorGroup>,
    /// Labels to filter by: facet and values.
    facets: Vec<Facet>,
    is_filtered: bool,
    clear: String,
    sort: String,
    is_rising: bool,
    columns: Vec<Column>,
    tasks: Vec<Column>,
    axis: Axis,
    rows: Vec<Row>,
    remarks: Vec<String>,
    downloads: Vec<Download>,
    summary: String,
    /// Why there is nothing to show.
    nothing: Option<String>,
}

#[derive(Serialize)]
struct Facet {
    name: String,
    labels: Vec<Label>,
}

#[derive(Serialize)]
struct Label {
    value: String,
    shown: String,
    is_chosen: bool,
}

/// A column that can be sorted by.
#[derive(Serialize)]
struct Column {
    key: String,
    name: String,
    explained: String,
    href: String,
    /// `ascending` or `descending`, if the rows are sorted by it.
    sorted: Option<&'static str>,
    /// Whether the first click sorts in ascending order.
    rises: bool,
}

#[derive(Serialize)]
struct Axis {
    low: f64,
    high: f64,
    middle: f64,
    width: f64,
}

#[derive(Serialize)]
struct Row {
    place: String,
    rank: usize,
    label: String,
    how: String,
    href: String,
    groups: Vec<String>,
    lacks: Option<String>,
    center: String,
    margin: String,
    score: f64,
    interval: Drawing,
    band: &'static str,
    truncated: String,
    truncation: Option<f64>,
    tokens: String,
    tokens_mean: Option<f64>,
    value: String,
    score_per_1k_tokens: Option<f64>,
    cells: Vec<Option<HeatCell>>,
}

#[derive(Serialize)]
struct Drawing {
    from: String,
    length: String,
    center: String,
    said: String,
}

#[derive(Serialize)]
struct HeatCell {
    step: u8,
    center: String,
    margin: String,
    value: String,
    said: String,
    href: String,
    /// The proportion of truncated responses, if it is marked.
    cut: Option<String>,
}

#[derive(Serialize)]
struct Download {
    name: &'static str,
    href: String,
}

/// The parameters of this page.
const NAMES: [&str; 5] = ["mode", "group", "filter", "sort", "dir"];

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri).only(&NAMES);
    let mode = mode(&query, Mode::C_P)?;
    let study = app.study().await;
    let conditions = conditions(&query);
    let (board, nothing) = match study.analyses.leaderboard(mode, &conditions).await {
        Ok(board) => (board, None),
        // A filter that nothing passes is a page with its filter, not a failure.
        Err(problem) if !conditions.is_empty() => (Arc::new(empty(mode)), Some(problem.message)),
        Err(problem) => return Err(problem),
    };
    let view = View { app: &app, query: &query, board: &board };
    let page = view.page(study.analyses.db.evals(), study.trials, nothing);
    render(&app, "leaderboard.html", "Leaderboard", &study.remarks, &page)
}

fn empty(mode: Mode) -> Leaderboard {
    Leaderboard {
        rows: Vec::new(),
        mode,
        tasks: Vec::new(),
        unscored: Vec::new(),
        near_chance: BTreeMap::new(),
    }
}

/// Labels of one facet are alternatives; of different facets, all must hold.
fn conditions(query: &Query) -> Vec<String> {
    let mut facets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut conditions: Vec<String> = query.all("filter").map(ToOwned::to_owned).collect();
    for label in query.all("group") {
        match label.split_once(':') {
            Some((facet, value)) => facets.entry(facet).or_default().push(value),
            None => conditions.push(format!("groups={label}")),
        }
    }
    conditions.extend(facets.iter().map(|(facet, values)| format!("facets.{facet}={}", values.join(","))));
    conditions
}

async fn board(app: &App, uri: &Uri) -> Result<Arc<Leaderboard>, ApiError> {
    let query = Query::from_uri(uri);
    app.study().await.analyses.leaderboard(mode(&query, Mode::C_P)?, &conditions(&query)).await
}

pub(crate) async fn csv(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let table = scores::export_table(&*board(&app, &uri).await?);
    Ok(download("text/csv; charset=utf-8", "leaderboard.csv", table.to_csv()))
}

pub(crate) async fn json(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let board = board(&app, &uri).await?;
    let text = serde_json::to_string_pretty(&board.rows).map_err(ApiError::bad_request)?;
    Ok(download(response::JSON, "leaderboard.json", text + "\n"))
}

pub(crate) async fn markdown(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let table = scores::display_table(&*board(&app, &uri).await?);
    Ok(download("text/markdown; charset=utf-8", "leaderboard.md", table.to_markdown()))
}

struct View<'a> {
    app: &'a App,
    query: &'a Query,
    board: &'a Leaderboard,
}

impl View<'_> {
    fn page(&self, evals: &[EvalInfo], trials: u64, nothing: Option<String>) -> Page {
        let known = ["rank", "name", "score", "truncated", "tokens", "value"];
        let asked = self.query.get("sort").unwrap_or("rank");
        let is_task =
            asked.strip_prefix("task:").is_some_and(|task| self.board.tasks.iter().any(|t| t == task));
        let sort = if known.contains(&asked) || is_task { asked } else { "rank" };
        let is_rising = match self.query.get("dir") {
            Some("asc") => true,
            Some("desc") => false,
            _ => rises(sort),
        };
        let mut rows: Vec<&ScoreRow> = self.board.rows.iter().collect();
        rows.sort_by(|a, b| by(sort, is_rising, a, b).then(a.rank.cmp(&b.rank)).then(a.label.cmp(&b.label)));
        let axis = axis(&self.board.rows);
        let rows = rows.into_iter().map(|row| self.row(row, &axis)).collect();
        let column =
            |key: &str, name: &str, explained: &str| self.column(key, name, explained, sort, is_rising);
        let is_filtered = self.query.get("group").or(self.query.get("filter")).is_some();
        Page {
            modes: estimator_groups(self.board.mode),
            facets: facets(evals, self.query),
            is_filtered,
            clear: format!("{}/{}", self.app.base, self.query.only(&["mode", "sort", "dir"])),
            sort: sort.to_owned(),
            is_rising,
            columns: vec![
                column("rank", "Rank", "Places that the interval supports; = is a tie"),
                column("name", "Model", "Name of the evaluation"),
                column(
                    "score",
                    "ReasonScore",
                    "Geometric mean over tasks, 10 to 1000, with its 95 % interval",
                ),
                column("truncated", "Truncated", "Share of answers that hit the token limit"),
                column("tokens", "Tokens", "Mean tokens of a completion"),
                column("value", "Per 1k tokens", "ReasonScore for each thousand tokens of a completion"),
            ],
            tasks: self
                .board
                .tasks
                .iter()
                .map(|task| column(&format!("task:{task}"), task, &format!("Accuracy on {task}, in percent")))
                .collect(),
            axis,
            rows,
            remarks: self.board.remarks(),
            downloads: [("CSV", "csv"), ("JSON", "json"), ("Markdown", "md")]
                .map(|(name, end)| Download {
                    name,
                    href: format!(
                        "{}/leaderboard.{end}{}",
                        self.app.base,
                        self.query.only(&["mode", "group", "filter"])
                    ),
                })
                .into(),
            summary: self.summary(evals.len(), trials),
            nothing,
        }
    }

    fn summary(&self, evals: usize, trials: u64) -> String {
        let (shown, tasks) = (self.board.rows.len(), self.board.tasks.len());
        let counted =
            |n: usize, thing: &str| if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") };
        let of = if shown == evals {
            counted(evals, "evaluation")
        } else {
            format!("{shown} of {evals} evaluations")
        };
        format!("{of} on {}; the study has {} trials", counted(tasks, "task"), thousands(trials))
    }

    fn column(&self, key: &str, name: &str, explained: &str, sort: &str, is_rising: bool) -> Column {
        let is_sorted = key == sort;
        let next = if is_sorted { !is_rising } else { rises(key) };
        let query = self.query.with("sort", Some(key)).with("dir", Some(if next { "asc" } else { "desc" }));
        Column {
            key: key.to_owned(),
            name: name.to_owned(),
            explained: explained.to_owned(),
            href: format!("{}/{query}", self.app.base),
            sorted: is_sorted.then_some(if is_rising { "ascending" } else { "descending" }),
            rises: rises(key),
        }
    }

    fn row(&self, row: &ScoreRow, axis: &Axis) -> Row {
        let trials = format!("{}/trials?eval={}", self.app.base, encoded(&row.eval.eval_id));
        let score = row.score;
        Row {
            place: row.rank_label(),
            rank: row.rank,
            label: visible(&row.label).into_owned(),
            how: visible(&format!("{} · {}", row.eval.template, row.eval.sampler)).into_owned(),
            groups: row.eval.groups.iter().map(|group| visible(group).into_owned()).collect(),
            lacks: row.describe_missing(),
            center: format!("{:.0}", score.center),
            margin: format!("{:.0}", score.margin),
            score: score.center,
            interval: Drawing::new(axis, score.ci_low, score.center, score.ci_high),
            band: row.band,
            truncated: match row.truncation_rate {
                _ if !row.truncation_known => "?".to_owned(),
                Some(rate) => format!("{:.1} %", 100.0 * rate),
                None => "–".to_owned(),
            },
            truncation: row.truncation_rate,
            tokens: row.tokens_mean.map_or_else(|| "–".to_owned(), |tokens| thousands(tokens.round() as u64)),
            tokens_mean: row.tokens_mean,
            value: row.score_per_1k_tokens.map_or_else(|| "–".to_owned(), |v| thousands(v.round() as u64)),
            score_per_1k_tokens: row.score_per_1k_tokens,
            cells: self
                .board
                .tasks
                .iter()
                .map(|name| row.tasks.get(name).map(|task| heat(name, task, row.truncation_known, &trials)))
                .collect(),
            href: trials,
        }
    }
}

/// Whether a column is sorted in ascending order by default.
fn rises(sort: &str) -> bool {
    matches!(sort, "rank" | "name" | "truncated" | "tokens")
}

/// Rows by a column. What has no value comes last either way.
fn by(sort: &str, is_rising: bool, a: &ScoreRow, b: &ScoreRow) -> Ordering {
    let number = |row: &ScoreRow| match sort {
        "rank" => Some(row.rank as f64),
        "score" => Some(row.score.center),
        "truncated" => row.truncation_rate,
        "tokens" => row.tokens_mean,
        "value" => row.score_per_1k_tokens,
        task => {
            let task = row.tasks.get(task.strip_prefix("task:")?)?;
            Some(f64::midpoint(task.low, task.high))
        }
    };
    let direct = |order: Ordering| if is_rising { order } else { order.reverse() };
    if sort == "name" {
        return direct(a.label.to_lowercase().cmp(&b.label.to_lowercase()));
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => direct(a.total_cmp(&b)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// From the hundred below the lowest end to the hundred above the highest.
fn axis(rows: &[ScoreRow]) -> Axis {
    let least = rows.iter().map(|row| row.score.ci_low).fold(f64::INFINITY, f64::min);
    let greatest = rows.iter().map(|row| row.score.ci_high).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if least <= greatest {
        ((least / 100.0).floor() * 100.0, ((greatest / 100.0).ceil() * 100.0).min(1000.0))
    } else {
        (0.0, 1000.0)
    };
    let high = high.max(low + 100.0);
    Axis { low, high, middle: f64::midpoint(low, high), width: WIDTH }
}

impl Drawing {
    fn new(axis: &Axis, low: f64, center: f64, high: f64) -> Self {
        let at = |score: f64| (score - axis.low) / (axis.high - axis.low) * WIDTH;
        Self {
            from: format!("{:.1}", at(low)),
            // An interval that is narrower than this would not be seen.
            length: format!("{:.1}", (at(high) - at(low)).max(2.0)),
            center: format!("{:.1}", at(center)),
            said: format!("{center:.0}, from {low:.0} to {high:.0}"),
        }
    }
}

fn heat(name: &str, task: &TaskScore, truncation_known: bool, trials: &str) -> HeatCell {
    let (center, margin) = (f64::midpoint(task.low, task.high), (task.high - task.low) / 2.0);
    let cut_off = task.n_t as f64 / task.n.max(1) as f64;
    let cut = (truncation_known && cut_off >= MIN_TRUNCATION_RATE)
        .then(|| format!("{:.0} % truncated", 100.0 * cut_off));
    let mut said = format!(
        "{name}: {:.1} %, from {:.1} to {:.1}; {} of {} correct",
        100.0 * center,
        100.0 * task.low,
        100.0 * task.high,
        task.n_e,
        task.n
    );
    if task.n_t > 0 {
        let _ = write!(said, ", {} truncated", task.n_t);
    }
    HeatCell {
        step: (center * STEPS).round().clamp(0.0, STEPS) as u8,
        center: format!("{:.0}", 100.0 * center),
        margin: format!("{:.0}", (100.0 * margin).max(1.0)),
        value: format!("{center:.4}"),
        said,
        href: format!("{trials}&task={}", encoded(name)),
        cut,
    }
}

/// The labels of all evaluations, by facet.
fn facets(evals: &[EvalInfo], query: &Query) -> Vec<Facet> {
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for label in evals.iter().flat_map(|eval| &eval.groups) {
        let facet = label.split_once(':').map_or("label", |(facet, _)| facet);
        labels.entry(facet).or_default().insert(label);
    }
    let chosen: BTreeSet<&str> = query.all("group").collect();
    labels
        .into_iter()
        .map(|(facet, labels)| Facet {
            name: visible(facet).into_owned(),
            labels: labels
                .into_iter()
                .map(|label| Label {
                    value: label.to_owned(),
                    shown: visible(label.split_once(':').map_or(label, |(_, value)| value)).into_owned(),
                    is_chosen: chosen.contains(label),
                })
                .collect(),
        })
        .collect()
}
