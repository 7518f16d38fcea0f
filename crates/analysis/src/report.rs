//! A study on one page: findings, uncertainty, methods and provenance.
//!
//! # Promises
//! The page is self-contained: no network, fonts or other files. Findings only state significant results. The numbers of
//! every figure are also in a table or in the text.

mod figures;
mod findings;
mod forensics;
mod html;
mod markdown;
mod methods;
mod parameter_curves;
mod provenance;
mod selection;

use std::thread::ScopedJoinHandle;

use reasonscape_charts::Figure;
use reasonscape_points::{PointsDb, PointsError};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;
use tokio::runtime::Handle;

use self::selection::{MAX_ROWS, MAX_SIDES, TopModels};
use crate::error::AnalysisError;
use crate::tables::scores::{details_table, interval_column};
use crate::tables::{Cell, Table};
use crate::{
    BoardOptions, Leaderboard, PointQuery, ScoreRow, accuracy_interval_name, accuracy_label, leaderboard,
    pairwise, truncation_note,
};

pub use self::html::html;
pub use self::markdown::markdown;

/// Evaluations that are columns of the task table, however few tasks there are.
const MAX_COLUMNS: usize = 8;

/// A report, before it is rendered as HTML or Markdown.
#[derive(Debug)]
pub struct Report {
    /// The name of the study.
    pub title: String,
    /// One line below the title: evaluations, tasks, trials and date.
    pub summary: String,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A section with a heading.
#[derive(Debug)]
pub struct Section {
    /// The anchor for links.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// The content, in order.
    pub blocks: Vec<Block>,
}

/// One element of a section.
#[derive(Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A list.
    List(Vec<String>),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Box<Figure>),
}

impl Block {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// Computes the report on the points that the query selects.
///
/// # Errors
/// An [`AnalysisError`] when the study cannot be read or has nothing that matches.
pub async fn report(
    db: &PointsDb,
    query: &PointQuery,
    title: &str,
    options: BoardOptions,
) -> Result<Report, AnalysisError> {
    let mode = options.estimator.mode;
    let board = leaderboard(db, query, options).await?;
    if board.rows.is_empty() {
        return Err(AnalysisError::input(
            "no evaluation has trials yet, so there is nothing to report; run `reasonscape run` first",
        ));
    }
    let curves = TopModels::curves(&board, query);
    let rows = TopModels::rows(&board, query);
    let runtime = Handle::current();
    // Independent sections are computed in parallel.
    let [found, head_to_head, landscapes, forensics] = std::thread::scope(|scope| {
        let found = scope.spawn(|| {
            let blocks = runtime.block_on(findings::findings(db, query, &board, mode))?;
            Ok(vec![Section { id: "findings", title: "Findings", blocks }])
        });
        let head_to_head = scope.spawn(|| runtime.block_on(head_to_head(db, query, &board, mode)));
        let landscapes =
            scope.spawn(|| runtime.block_on(parameter_curves::parameter_curves(db, [&curves, &rows], mode)));
        let forensics = scope.spawn(|| runtime.block_on(forensics::forensics(db, &curves, mode)));
        [found, head_to_head, landscapes, forensics].map(join_section)
    });
    let mut sections = found?;
    sections.push(Section {
        id: "leaderboard",
        title: "Leaderboard",
        blocks: leaderboard_blocks(&board, db.remarks().iter().cloned().chain(truncation_note(db)).collect()),
    });
    sections.push(Section { id: "tasks", title: "Accuracy by task", blocks: task_by_task(&board) });
    sections.extend(head_to_head?);
    sections.extend(landscapes?);
    sections.extend(forensics?);
    sections.push(Section { id: "methods", title: "Methods", blocks: methods::methods(&board) });
    let sources = db.sources();
    sections.push(Section {
        id: "provenance",
        title: "Provenance",
        blocks: provenance::provenance(sources, &board),
    });
    let trials: u64 = board.rows.iter().flat_map(|row| row.tasks.values()).map(|task| task.n).sum();
    let summary = format!(
        "{} on {}, {trials} trials{}",
        pluralize(board.rows.len(), "evaluation"),
        pluralize(board.tasks.len(), "task"),
        provenance::evaluated_note(sources),
    );
    Ok(Report { title: title.to_owned(), summary, sections })
}

/// The sections that a thread computed.
fn join_section(
    part: ScopedJoinHandle<'_, Result<Vec<Section>, AnalysisError>>,
) -> Result<Vec<Section>, AnalysisError> {
    part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Pairwise win rates; no section with a single evaluation.
async fn head_to_head(
    db: &PointsDb,
    query: &PointQuery,
    board: &Leaderboard,
    mode: Mode,
) -> Result<Vec<Section>, AnalysisError> {
    if board.rows.len() < 2 {
        return Ok(Vec::new());
    }
    let found = pairwise(db, query, mode, Method::Exact).await?;
    let mut blocks = vec![
        Block::text(
            "The win rate is the probability that the model in the row beats the model in the column on a random task, given \
             the uncertainty of both accuracies. 50 % is a tie.",
        ),
        Block::Figure(Box::new(figures::head_to_head(&found, MAX_SIDES))),
    ];
    if found.evals.len() > MAX_SIDES {
        blocks.push(Block::Text(format!(
            "Of {} evaluations, these are the {MAX_SIDES} with the highest rating. `reasonscape analyze pairwise STUDY \
             --format csv` has the win rates of all.",
            found.evals.len()
        )));
    }
    blocks.push(Block::Table(ratings(&found)));
    Ok(vec![Section { id: "pairwise", title: "Pairwise win rates", blocks }])
}

/// Accuracies as a figure and as a table.
fn task_by_task(board: &Leaderboard) -> Vec<Block> {
    vec![
        Block::Text(format!(
            "The {} on each task, with its {}. Darker cells are lower accuracies.",
            accuracy_label(board.mode.name()),
            accuracy_interval_name(board.mode.name(), 0.95)
        )),
        Block::Figure(Box::new(figures::accuracy_by_task(board, MAX_ROWS))),
        Block::Table(task_table(board)),
    ]
}

/// `None` if the study doesn't have the data for this analysis.
fn if_available<T>(found: Result<T, PointsError>) -> Result<Option<T>, AnalysisError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(PointsError::InvalidQuery(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn pluralize(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// The leaderboard as a figure and as tables, with its notes.
fn leaderboard_blocks(board: &Leaderboard, mut remarks: Vec<String>) -> Vec<Block> {
    let interval = interval_column(board);
    let mut table = Table::new(&[
        "rank",
        "name",
        "ReasonScore",
        &interval,
        "v2",
        "band",
        "truncated",
        "mean tokens",
        "score per 1k tokens",
        "trials",
    ]);
    for row in &board.rows {
        table.push(vec![
            Cell::Formatted(row.rank_label()),
            Cell::text(&row.label),
            Cell::Formatted(row.score_label()),
            Cell::Formatted(row.reason_score.interval_label()),
            Cell::Formatted(row.v2_label()),
            Cell::text(row.reason_score.band),
            Cell::Formatted(
                row.truncation_rate.map_or_else(|| "?".to_owned(), |rate| format!("{:.1} %", 100.0 * rate)),
            ),
            Cell::optional(row.tokens_mean, 0),
            Cell::optional(row.reason_score_per_1k_tokens, 0),
            Cell::Number(row.tasks.values().map(|task| task.n).sum::<u64>() as f64, 0),
        ]);
    }
    let mut blocks = vec![Block::Figure(Box::new(figures::scores(board, MAX_ROWS))), Block::Table(table)];
    blocks.push(Block::text(
        "The ReasonScore is 1000 times the geometric mean over tasks of the probability of a completed answer that was known \
         rather than guessed, with points weighted as in the suite. v2 is the published ReasonScore v2 with its margin, \
         which is not a 95 % confidence interval (see docs/coverage.md). The next table shows how wide each v2 interval is (tight: margin below 10 points, moderate: 10 to 20, wide: above 20) and why, how much \
         of the token limit responses use (mean and 95th percentile), and how many responses were truncated, refused by a \
         content filter, or completed without an answer that could be extracted.",
    ));
    blocks.push(Block::Table(details_table(board)));
    remarks.extend(board.remarks());
    if !remarks.is_empty() {
        blocks.push(Block::List(remarks));
    }
    blocks
}

/// The numbers of the figure. Whichever are fewer, tasks or evaluations, become columns.
fn task_table(board: &Leaderboard) -> Table {
    let cell = |row: &ScoreRow, task: &String| match row.tasks.get(task) {
        Some(task) => Cell::estimate(&task.accuracy),
        None => Cell::Missing,
    };
    let labels = board.rows.iter().map(|row| row.label.as_str());
    if board.rows.len() > board.tasks.len().max(MAX_COLUMNS) {
        let columns: Vec<&str> = ["name"].into_iter().chain(board.tasks.iter().map(String::as_str)).collect();
        let mut table = Table::new(&columns);
        for row in &board.rows {
            let cells = board.tasks.iter().map(|task| cell(row, task));
            table.push([Cell::text(&row.label)].into_iter().chain(cells).collect());
        }
        return table;
    }
    let mut table = Table::new(&["task"].into_iter().chain(labels).collect::<Vec<_>>());
    for task in &board.tasks {
        let cells = board.rows.iter().map(|row| cell(row, task));
        table.push([Cell::text(task)].into_iter().chain(cells).collect());
    }
    table
}

fn ratings(found: &crate::Pairwise) -> Table {
    let mut table =
        Table::new(&["name", "Elo", "bootstrap low", "bootstrap high", "expected wins", "opponents"]);
    for model in &found.evals {
        table.push(vec![
            Cell::text(&model.label),
            Cell::Number(model.elo, 0),
            Cell::optional(model.elo_low, 0),
            Cell::optional(model.elo_high, 0),
            Cell::Number(model.expected_wins, 2),
            Cell::Number(model.opponents as f64, 0),
        ]);
    }
    table
}
