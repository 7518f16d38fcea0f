//! `reasonscape analyze`: what a study shows.

mod cluster;
mod compare;
mod compression;
mod evals;
mod frontier;
mod hazard;
mod modes;
mod pairwise;
mod plot;
mod points;
mod projection;
mod scores;
mod spectrum;
mod surface;
mod tasks;
mod tokens;

use std::path::PathBuf;

use reasonscape_points::{Estimator, EvalInfo, PointsDb};
use reasonscape_stats::{Confidence, Mode};

pub(crate) use self::compression::bits_for_people as compression_for_people;
pub(crate) use self::frontier::for_people as frontiers_for_people;
pub(crate) use self::hazard::for_people as hazard_for_people;
use self::plot::Plot;
pub(super) use self::scores::standings;
pub(crate) use self::scores::{
    for_people as leaderboard_for_people, for_programs as leaderboard_for_programs,
};
pub(crate) use self::surface::for_people as views_for_people;
pub(crate) use self::tokens::for_people as tokens_for_people;
use super::Global;
use super::study::study_folder;
use crate::analysis::{Asked, Bounds, By, some, truncation_note};
use crate::failure::Failure;
use crate::output::{Cell, Table};

/// Say what a study shows: what is there, who leads, who beats whom, where and how models break
///
/// Reads the counters that `evaluate` wrote; nothing is sent. Start with `scores`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  reasonscape analyze scores my-study\n  \
    reasonscape analyze compare my-study small-model large-model\n  \
    reasonscape analyze points my-study --filter model=small-model --filter params.length=8..32")]
pub(super) struct AnalyzeCommand {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, clap::Subcommand)]
enum Question {
    Evals(evals::Evals),
    Tasks(tasks::Tasks),
    Points(points::Points),
    Scores(scores::Scores),
    Pairwise(pairwise::Pairwise),
    Compare(compare::Compare),
    Modes(modes::Modes),
    Projection(projection::Projection),
    Surface(surface::Surface),
    Frontier(frontier::Frontier),
    Cluster(cluster::Cluster),
    Spectrum(spectrum::Spectrum),
    Compression(compression::Compression),
    Hazard(hazard::Hazard),
    Tokens(tokens::Tokens),
}

impl AnalyzeCommand {
    pub(super) fn run(self, global: Global) -> Result<(), Failure> {
        super::wait_for(async {
            match self.question {
                Question::Evals(evals) => evals.run(global).await,
                Question::Tasks(tasks) => tasks.run(global).await,
                Question::Points(points) => points.run(global).await,
                Question::Scores(scores) => scores.run(global).await,
                Question::Pairwise(pairwise) => pairwise.run(global).await,
                Question::Compare(compare) => compare.run(global).await,
                Question::Modes(modes) => modes.run(global).await,
                Question::Projection(projection) => projection.run(global).await,
                Question::Surface(surface) => surface.run(global).await,
                Question::Frontier(frontier) => frontier.run(global).await,
                Question::Cluster(cluster) => cluster.run(global).await,
                Question::Spectrum(spectrum) => spectrum.run(global).await,
                Question::Compression(compression) => compression.run(global).await,
                Question::Hazard(hazard) => hazard.run(global).await,
                Question::Tokens(tokens) => tokens.run(global).await,
            }
        })
    }
}

/// A study, the part of it that is meant, and how shares are estimated.
#[derive(Debug, clap::Args)]
struct Selected {
    /// Folder of the study, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Only points whose COLUMN is VALUE, as `model=qwen*`, `base_task=sort,dates`, `params.length=8..32` or
    /// `groups=arch:moe`; may be repeated.
    ///
    /// Columns: `eval_id`, `model`, `template`, `sampler`, `base_task`, `manifold`, `params`, `params.NAME`,
    /// `facets.NAME`, `groups`. Different columns must all hold; of several values of one column, one must.
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Estimator: `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O`.
    #[arg(long)]
    mode: Option<Mode>,
}

impl Selected {
    /// Opens the study and says what was found odd.
    async fn open(&self, global: Global) -> Result<(PointsDb, Asked), Failure> {
        let asked = Asked::parse(&self.filters)?;
        let db = PointsDb::open(&study_folder(&self.study)?).await?;
        for remark in db.remarks() {
            global.note(remark);
        }
        if let Some(note) = truncation_note(&db) {
            global.note(note);
        }
        Ok((db, asked))
    }
}

/// How sure an interval has to be.
#[derive(Debug, clap::Args)]
struct Sure {
    /// How sure an interval is to contain the truth.
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, allow_hyphen_values = true)]
    confidence: f64,
}

impl Sure {
    fn estimator(&self, mode: Mode) -> Result<Estimator, Failure> {
        let confidence = Confidence::new(self.confidence).map_err(|_| {
            Failure::input(format_args!(
                "`--confidence {}` is out of range; give a number from 0.01 to 0.999999, as 0.95 for 95 %",
                self.confidence
            ))
        })?;
        Ok(Estimator { mode, confidence })
    }
}

/// An analysis that has a picture.
#[derive(Debug, clap::Args)]
struct Pictured {
    #[command(flatten)]
    selected: Selected,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    plot: Plot,
}

impl Pictured {
    /// Checks what was given before the study is opened; estimates are by `C_P` unless told otherwise.
    async fn open(&self, global: Global) -> Result<(Estimator, PointsDb, Asked), Failure> {
        self.plot.check()?;
        let estimator = self.sure.estimator(self.selected.mode.unwrap_or(Mode::C_P))?;
        let (db, asked) = self.selected.open(global).await?;
        Ok((estimator, db, asked))
    }
}

/// An analysis of trials that has a picture.
#[derive(Debug, clap::Args)]
struct OfTrials {
    #[command(flatten)]
    pictured: Pictured,
    /// A row for each evaluation, or for each of its tasks.
    #[arg(long, value_enum, default_value_t)]
    by: By,
}

/// What every row of an analysis of trials begins with, for programs.
fn trials_cells(eval: &EvalInfo, task: Option<&String>, truncation_known: bool) -> Vec<(String, Cell)> {
    let mut first = eval_cells(eval);
    first.extend(cells([
        ("task", task.map_or(Cell::Missing, Cell::text)),
        ("truncation_known", Cell::text(truncation_known.to_string())),
    ]));
    first
}

/// A table of rows whose cells have names; all rows name the same.
fn named(rows: Vec<Vec<(String, Cell)>>) -> Table {
    let columns: Vec<String> = rows.first().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut table = Table::new(&columns);
    for row in rows {
        table.push(row.into_iter().map(|(_, cell)| cell).collect());
    }
    table
}

/// Cells with their names.
fn cells<const N: usize>(cells: [(&str, Cell); N]) -> Vec<(String, Cell)> {
    cells.map(|(name, cell)| (name.to_owned(), cell)).to_vec()
}

/// What every row of an evaluation begins with, for programs.
fn eval_cells(eval: &EvalInfo) -> Vec<(String, Cell)> {
    cells([
        ("eval_id", Cell::text(&eval.eval_id)),
        ("name", Cell::text(&eval.name)),
        ("model", Cell::text(&eval.model)),
        ("template", Cell::text(&eval.template)),
        ("sampler", Cell::text(&eval.sampler)),
        ("groups", Cell::text(eval.groups.join(" "))),
    ])
}

/// The numbers of an interval, for programs.
fn bounds_cells(bounds: &Bounds) -> Vec<(String, Cell)> {
    cells([
        ("low", Cell::Number(bounds.low, 4)),
        ("high", Cell::Number(bounds.high, 4)),
        ("center", Cell::Number(bounds.center, 4)),
        ("margin", Cell::Number(bounds.margin, 4)),
        ("point", Cell::optional(bounds.point, 4)),
    ])
}

/// A share and its bounds under a name of their own, for programs.
fn prefixed(name: &str, bounds: &Bounds) -> Vec<(String, Cell)> {
    vec![
        (name.to_owned(), Cell::optional(bounds.point, 4)),
        (format!("{name}_low"), Cell::Number(bounds.low, 4)),
        (format!("{name}_high"), Cell::Number(bounds.high, 4)),
    ]
}

/// The task of a row, for people; without one, all of them together.
fn task_cell(task: Option<&String>) -> Cell {
    Cell::text(task.map_or("all", String::as_str))
}

/// A share with its uncertainty, for people; nothing where nothing was counted.
fn share(bounds: &Bounds) -> Cell {
    match bounds.point {
        Some(_) => Cell::Shown(format!("{:.3} ± {:.3}", bounds.center, bounds.margin)),
        None => Cell::Missing,
    }
}

/// How many were cut off, for people; `?` where nobody wrote it down.
fn cut_off(count: u64, is_known: bool) -> Cell {
    if is_known { self::count(count) } else { Cell::Shown("?".to_owned()) }
}

/// A rate in percent, for people; `?` where nobody wrote down which answers were cut off.
fn truncated(rate: Option<f64>, is_known: bool) -> Cell {
    match rate {
        _ if !is_known => Cell::Shown("?".to_owned()),
        Some(rate) => Cell::Shown(format!("{:.1} %", 100.0 * rate)),
        None => Cell::Missing,
    }
}

fn count(number: u64) -> Cell {
    Cell::Number(number as f64, 0)
}

/// Says how many trials are missing, and what is to be done. What a log of another tool lacks, no run can ask for.
fn note_missing<'a>(
    db: &PointsDb,
    rows: impl Iterator<Item = (&'a String, u64)>,
    more: &str,
    global: Global,
) {
    let (mut here, mut elsewhere) = (0, 0);
    for (eval_id, missing) in rows {
        *if db.imported().contains_key(eval_id) { &mut elsewhere } else { &mut here } += missing;
    }
    if here > 0 {
        global.note(format_args!(
            "{} missing{more}; `reasonscape run` asks for what is missing",
            several(here, "trial")
        ));
    }
    if elsewhere > 0 {
        global.note(format_args!(
            "{} missing in imported logs: without a score, or never reached",
            several(elsewhere, "trial")
        ));
    }
}

/// A number in words of one syllable: `3 trials`, `1 trial`.
fn several(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
