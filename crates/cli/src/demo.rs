//! `reasonscape demo`: the whole thing on five simulated models, in seconds.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use reasonscape_analysis::tables::scores::display_summary_table as standings;
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
use crate::output::{Format, Render, print, print_text};
use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_analysis::{
    GroupBy, Pairwise, PointQuery, ScoreRow, TokensOptions, TokensRow, leaderboard, pairwise, tokens,
};

/// What is asked.
const STUDY: &str = include_str!("demo/study.toml");

/// See all of it work, on five simulated models and without a key
///
/// Starts the simulator, asks the models the suite `quick` over HTTP, judges their answers, prints the leaderboard with
/// its intervals, who beats whom and what was found about truncation, and writes the report. All of it goes to one
/// folder; a second time nothing is asked again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape demo\n  reasonscape demo --dir /tmp/demo --serve")]
pub(super) struct Demo {
    /// Folder for everything that it writes.
    #[arg(long, value_name = "DIR", default_value = "reasonscape-demo")]
    dir: PathBuf,
    /// Show it in the browser afterwards, until Ctrl-C.
    #[arg(long)]
    serve: bool,
    /// Port for `--serve`; 0 takes a free one.
    #[arg(long, default_value_t = 8050, value_name = "N", requires = "serve")]
    port: u16,
}

/// All that the demo says, for programs.
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
            suites: vec![super::suite::load("quick")?],
            count: study.count,
            ..SimulateOptions::default()
        })
        .map_err(|error| CliError::Internal(error.into()))?;
        for eval in &mut study.evals {
            eval.base_urls = vec![server.base_url()];
        }
        global.note(format_args!(
            "asking {} simulated models {} questions each, over HTTP on {}; what was answered before is not asked again",
            study.evals.len(),
            server.question_count(),
            server.base_url()
        ));
        run_and_score(&study, &Selection::default(), global)?;
        drop(server);

        let report = self.dir.join("reports").join("report.html");
        super::wait_for(self.show(&report, global))?;
        let folder = self.dir.display();
        global.note(format_args!("the report is in `{}`", report.display()));
        global.note(format_args!(
            "next: `reasonscape serve {folder}` shows all of it in the browser, down to every answer"
        ));
        global.note("next: `reasonscape init my-study` begins a study of your own model, `reasonscape run my-study` asks it");
        global.note(
            "next: `reasonscape run questions.jsonl --model NAME --base-url URL` asks questions of your own",
        );
        if self.serve {
            return Serve::on_localhost(self.dir, self.port).run(global);
        }
        Ok(())
    }

    /// Prints what was found, and writes the report.
    async fn show(&self, report: &Path, global: Global) -> Result<(), CliError> {
        let (db, query) = (PointsDb::open(&self.dir).await?, PointQuery::parse(&[])?);
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
            print(global.format, &standings(&board), &output)?;
        } else {
            global.caption("the leaderboard: = is a tie, ± half of the 95 % interval");
            print_text(&standings(&board).render(global.format)?)?;
            global.caption(
                "head to head: `vs 2` is the mean probability of being better than number 2 on a task",
            );
            print_text(&head_to_head(&comparisons).render(global.format)?)?;
            global.note(format_args!("found: {finding}"));
        }
        write_html_report(&db, &query, "ReasonScape demo", Mode::C_P, report).await
    }
}

/// The study in its folder, unless there is something else.
fn prepare(folder: &Path) -> Result<(), CliError> {
    let file = folder.join(Study::FILE);
    let occupied_error = |what: &str| {
        CliError::input(format_args!(
            "`{}` {what}, which the demo leaves as it is; name another folder, as in `reasonscape demo --dir other`",
            folder.display()
        ))
    };
    match fs::read_to_string(&file) {
        Ok(text) if text == STUDY => return Ok(()),
        Ok(_) => return Err(occupied_error("holds another study")),
        Err(_) if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) => {
            return Err(occupied_error("holds something else"));
        }
        Err(_) => {}
    }
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&file, STUDY))
        .with_context(|| format!("failed to write `{}`", file.display()))
        .map_err(CliError::Input)
}

/// Who beats whom, in as many columns as fit anywhere.
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

/// What there is to say of the model that was cut off most.
fn finding(rows: &[TokensRow]) -> String {
    let truncation_rate = |row: &&TokensRow| row.now.map_or(0.0, |now| now.n_t / now.n.max(1.0));
    let most_truncated = rows.iter().max_by(|a, b| truncation_rate(a).total_cmp(&truncation_rate(b)));
    most_truncated.map_or_else(String::new, |row| format!("{}: {}", row.group.title(), row.finding))
}
