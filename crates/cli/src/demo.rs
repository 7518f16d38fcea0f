//! `reasonscape demo`: a complete study of five simulated models.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reasonscape_analysis::tables::scores::display_summary_table as standings;
use reasonscape_limits::{is_too_large, max_file_bytes, read_to_end};
use reasonscape_points::{Estimator, PointsDb};
use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;
use reasonscape_study::{Selection, Study};
use serde::Serialize;

use super::Global;
use super::report::write_html_report;
use super::run::run_and_score;
use super::serve::Serve;
use crate::error::CliError;
use crate::output::{Format, print, print_rendered};
use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_analysis::{
    GroupBy, Pairwise, PointQuery, ScoreRow, TokensOptions, TokensRow, leaderboard, pairwise, tokens,
};

/// The study of the demo.
const STUDY: &str = include_str!("demo/study.toml");

/// Run a demo study with five simulated models, without an API key
///
/// Starts the simulator, runs the suite `quick` over HTTP, scores the responses, prints the leaderboard, pairwise
/// win rates and a finding on truncation, and writes a report. Everything is written to one directory;
/// a second demo uses the cached responses.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape demo\n  reasonscape demo --dir /tmp/demo --serve")]
pub(super) struct Demo {
    /// Directory of the demo study.
    #[arg(long, value_name = "DIR", default_value = "reasonscape-demo")]
    dir: PathBuf,
    /// Then serve the study in the browser, until Ctrl-C.
    #[arg(long)]
    serve: bool,
    /// Port of `--serve`; 0 for a free port.
    #[arg(long, default_value_t = 8050, value_name = "N", requires = "serve")]
    port: u16,
}

/// The output of the demo as JSON.
#[derive(Serialize)]
struct DemoOutput<'a> {
    leaderboard: &'a [ScoreRow],
    pairwise: &'a Pairwise,
    finding: &'a str,
    report: &'a Path,
}

impl Demo {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        prepare(&self.dir)?;
        let mut study = Study::load(&self.dir)?;
        let server = SimulatedServer::start(SimulateOptions {
            suites: vec![study.suite.clone()],
            count: study.count,
            ..SimulateOptions::default()
        })
        .map_err(|error| CliError::Internal(error.into()))?;
        for eval in &mut study.evals {
            eval.base_urls = vec![server.base_url()];
        }
        global.note(format_args!(
            "running {} simulated models on {} problems each, over HTTP on {}; cached responses are not requested again",
            study.evals.len(),
            server.question_count(),
            server.base_url()
        ));
        run_and_score(&study, &Selection::default(), global)?;
        drop(server);

        let report = self.dir.join("reports").join("report.html");
        super::wait_for(self.show(&report, global))?;
        let folder = self.dir.display();
        global.note(format_args!("wrote the report to `{}`", report.display()));
        global.note(format_args!(
            "next: `reasonscape serve {folder}` shows the study in the browser, down to every response"
        ));
        global.note("next: `reasonscape init my-study` creates a study of your model, `reasonscape run my-study` runs it");
        global.note(
            "next: `reasonscape run questions.jsonl --model NAME --base-url URL` runs your own dataset",
        );
        if self.serve {
            return Serve::on_localhost(self.dir, self.port).run(global);
        }
        Ok(())
    }

    /// Prints the results and writes the report.
    async fn show(&self, report: &Path, global: Global) -> Result<(), CliError> {
        let (db, query) = (PointsDb::open(&self.dir).await?.storing_derived(), PointQuery::parse(&[])?);
        let board = leaderboard(&db, &query, Mode::C_P.into()).await?;
        let comparisons = pairwise(&db, &query, Mode::C_P, Method::Exact).await?;
        let options = TokensOptions {
            by: GroupBy::Eval,
            estimator: Estimator::from(Mode::C_P),
            keep: 0.95,
            budgets: Vec::new(),
        };
        let finding = finding(&tokens(&db, &query, &options).await?);
        if global.format == Format::Json {
            let output =
                DemoOutput { leaderboard: &board.rows, pairwise: &comparisons, finding: &finding, report };
            print(global, &standings(&board), &output)?;
        } else {
            global.caption("leaderboard: = is a tie; v2 is the published ReasonScore v2, and its ± is not a 95 % confidence interval");
            print_rendered(global, &standings(&board))?;
            global.caption(
                "pairwise, in order of Elo: `vs 2` is the win rate against # 2 of this table: the probability of being better on a \
                 task, averaged over tasks; a geometric mean can order models differently",
            );
            print_rendered(global, &head_to_head(&comparisons))?;
            global.note(format_args!("finding: {finding}"));
        }
        write_html_report(&db, &query, "ReasonScape demo", report).await
    }
}

/// Writes the study, unless the directory contains something else.
fn prepare(folder: &Path) -> Result<(), CliError> {
    let file = folder.join(Study::FILE);
    let occupied_error = |what: &str| {
        CliError::input(format_args!(
            "`{}` {what}; choose another directory, e.g. `reasonscape demo --dir other`",
            folder.display()
        ))
    };
    let found = File::open(&file).and_then(|file| read_to_end(file, max_file_bytes()));
    match found {
        Ok(text) if std::str::from_utf8(&text).is_ok_and(|text| settings(text).eq(settings(STUDY))) => {
            return Ok(());
        }
        Err(error) if is_too_large(&error) => return Err(occupied_error("contains another study")),
        Ok(_) => return Err(occupied_error("contains another study")),
        Err(_) if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) => {
            return Err(occupied_error("contains other files"));
        }
        Err(_) => {}
    }
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to create the directory `{}`", folder.display()))
        .map_err(CliError::Input)?;
    // Complete or not at all: an empty study.toml would block the next attempt.
    reasonscape_study::write_file(&file, |out| out.write_all(STUDY.as_bytes()))
        .map_err(|error| CliError::Input(error.into()))
}

/// The lines of a study without comments, so that the demo of another version is recognized.
fn settings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// The win rates, narrow enough for any terminal.
fn head_to_head(found: &Pairwise) -> Table {
    let opponents = (1..=found.evals.len()).map(|rank| format!("vs {rank}"));
    let columns: Vec<String> = ["#", "name", "Elo"].map(str::to_owned).into_iter().chain(opponents).collect();
    let mut table = Table::new(&columns);
    for (index, (eval, rates)) in found.evals.iter().zip(&found.win_rates).enumerate() {
        let mut row =
            vec![Cell::Number(index as f64 + 1.0, 0), Cell::text(&eval.label), Cell::Number(eval.elo, 0)];
        row.extend(rates.iter().map(|rate| Cell::optional(*rate, 2)));
        table.push(row);
    }
    table
}

/// The finding on the model with the most truncated trials.
fn finding(rows: &[TokensRow]) -> String {
    let truncation_rate = |row: &&TokensRow| row.now.map_or(0.0, |now| now.n_t / now.n.max(1.0));
    let most_truncated = rows.iter().max_by(|a, b| truncation_rate(a).total_cmp(&truncation_rate(b)));
    most_truncated.map_or_else(String::new, |row| format!("{}: {}", row.group.title(), row.finding))
}
