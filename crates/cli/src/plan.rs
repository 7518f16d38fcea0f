//! `reasonscape plan`: what a run would ask and cost.

use reasonscape_pipeline::{Forecast, existing_cache, forecast};

use super::Global;
use super::study::{StudySelectionArgs, seed_belongs_to_study};
use crate::error::CliError;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// Say what a run would ask and cost, before anything is spent
///
/// Nothing is sent. Tokens of prompts are reckoned from their length; tokens of answers from those in the cache, or as a
/// quarter of what the sampler allows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape plan my-study --count 32")]
pub(super) struct Plan {
    #[command(flatten)]
    study: StudySelectionArgs,
    /// Not an option of a plan; the error says what to do instead.
    #[arg(long, hide = true, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
}

impl Plan {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        if let Some(seed) = self.seed {
            return Err(seed_belongs_to_study(self.study.path(), seed));
        }
        let (study, selection) = self.study.load()?;
        let cache = existing_cache(&study)?;
        let forecasts = forecast(&study, &selection, cache.as_ref())?;
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
        for one in &forecasts {
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
        let json: Vec<_> = forecasts.iter().map(Forecast::summary).collect();
        if study.precision.is_some() {
            global.note(
                "with a precision wanted, this is the most that it could take: every point to its maximum",
            );
        }
        if let Some(budget) = study.budget.tokens {
            let expected: u64 = forecasts.iter().map(|one| one.prompt_tokens + one.completion_tokens).sum();
            if expected > budget {
                global.note(format_args!(
                    "the budget of {budget} tokens ends the run early: about {expected} are expected"
                ));
            }
        }
        print(global.format, &table, &json)
    }
}
