//! `reasonscape plan`: the requests, tokens and cost of a run.

use reasonscape_pipeline::{Forecast, existing_cache, forecast};

use super::Global;
use super::study::{StudySelectionArgs, seed_belongs_to_study};
use crate::error::CliError;
use crate::output::print_table;
use reasonscape_analysis::tables::{Cell, Table};

/// Estimate the requests, tokens and cost of a run
///
/// Sends nothing. Prompt tokens are estimated from the length of the prompts; completion tokens from cached responses, or
/// else as a quarter of the token limit of the sampler.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape plan my-study --count 32")]
pub(super) struct Plan {
    #[command(flatten)]
    study: StudySelectionArgs,
    /// Not supported; the error explains the alternative.
    #[arg(long, hide = true, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
}

impl Plan {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        if let Some(seed) = self.seed {
            return Err(seed_belongs_to_study(self.study.path(), seed));
        }
        let (study, selection) = self.study.load()?;
        study.notices.iter().for_each(|notice| global.note(notice));
        let cache = existing_cache(&study)?;
        let forecasts = forecast(&study, &selection, cache.as_ref())?;
        let json: Vec<_> = forecasts.iter().map(Forecast::summary).collect();
        if study.precision.is_some() {
            global
                .note("with a target precision, this is an upper bound: every point sampled to its maximum");
        }
        if let Some(budget) = study.budget.tokens {
            let expected: u64 = forecasts.iter().map(|one| one.prompt_tokens + one.completion_tokens).sum();
            if expected > budget {
                global.note(format_args!(
                    "the budget of {budget} tokens ends the run early: about {expected} are expected"
                ));
            }
        }
        print_table(global, || display_table(&forecasts), || export_table(&forecasts), &json)
    }
}

/// What people look for first: a narrow terminal drops the columns at the end.
fn display_table(forecasts: &[Forecast]) -> Table {
    let mut table = Table::new(&[
        "name",
        "to send",
        "cost",
        "prompt tokens",
        "answer tokens",
        "max answer tokens",
        "cached",
        "trials",
        "points",
        "eval",
    ]);
    for one in forecasts {
        table.push(vec![
            Cell::text(&one.name),
            Cell::Number(one.to_send() as f64, 0),
            Cell::optional(one.cost, 2),
            Cell::Number(one.prompt_tokens as f64, 0),
            Cell::Number(one.completion_tokens as f64, 0),
            Cell::optional(one.max_completion_tokens.map(|tokens| tokens as f64), 0),
            Cell::Number(one.cached as f64, 0),
            Cell::Number(one.trials as f64, 0),
            Cell::Number(one.points as f64, 0),
            Cell::text(one.id.as_str()),
        ]);
    }
    table
}

fn export_table(forecasts: &[Forecast]) -> Table {
    let mut table = Table::new(&[
        "eval",
        "name",
        "points",
        "trials",
        "cached",
        "to send",
        "cost",
        "prompt tokens",
        "answer tokens",
        "at most",
    ]);
    for one in forecasts {
        table.push(vec![
            Cell::text(one.id.as_str()),
            Cell::text(&one.name),
            Cell::Number(one.points as f64, 0),
            Cell::Number(one.trials as f64, 0),
            Cell::Number(one.cached as f64, 0),
            Cell::Number(one.to_send() as f64, 0),
            Cell::optional(one.cost, 2),
            Cell::Number(one.prompt_tokens as f64, 0),
            Cell::Number(one.completion_tokens as f64, 0),
            Cell::optional(one.max_completion_tokens.map(|tokens| tokens as f64), 0),
        ]);
    }
    table
}
