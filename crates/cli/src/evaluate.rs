//! `reasonscape evaluate`: scores cached responses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use reasonscape_ingest::Progress;
use reasonscape_pipeline::{existing_cache, score};
use reasonscape_points::{EvaluateOptions, Evaluated, EvaluatedUnit, TrialCounts};
use reasonscape_study::{Selection, Study, check_selection};
use serde_json::{Value, json};

use super::Global;
use crate::error::CliError;
use crate::output::print;
use crate::progress::{ProgressLabels, watch};
use crate::signals::on_interrupt;
use crate::study::StudyPartArgs;
use reasonscape_analysis::tables::{Cell, Table};

/// Score the cached responses of a study
///
/// Scores every cached response to a problem of the study, and writes a Parquet file of trials and one of points for each
/// evaluation and task. Sends no requests and skips results that are up to date, so it can be run at any time; `run` does
/// it at the end. Files are never replaced by ones with fewer trials, except with `--force`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape evaluate my-study")]
pub(super) struct Evaluate {
    #[command(flatten)]
    part: StudyPartArgs,
    /// Also score results that are up to date, and replace files even if the new ones have fewer trials.
    #[arg(long)]
    force: bool,
}

impl Evaluate {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let StudyPartArgs { study, evals, tasks } = self.part;
        let study = Study::load(&study)?;
        let selection = Selection { evals, tasks, ..Selection::default() };
        check_selection(&study, &selection)?;
        let options = EvaluateOptions { selection, force: self.force };
        let progress = Arc::new(Progress::default());
        let stopped = Arc::clone(&progress);
        on_interrupt(move || stopped.stop.store(true, Relaxed))?;
        let Some(cache) = existing_cache(&study)? else {
            return Err(CliError::input(format_args!(
                "no responses in `{}` yet; `reasonscape run` sends the requests",
                study.dir.display()
            )));
        };
        let scored = watch(&EVALUATE, &progress, global, || Ok(score(&study, &cache, &options, &progress)?))?;
        let reported = report(&scored.evaluated, global);
        crate::run::note_undecided(scored.undecided, global);
        reported
    }
}

pub(super) const EVALUATE: ProgressLabels = ProgressLabels { verb: "evaluate", unit: "trials" };

fn report(evaluated: &Evaluated, global: Global) -> Result<(), CliError> {
    let mut evals: BTreeMap<(&str, &str), (TrialCounts, usize, usize)> = BTreeMap::new();
    for unit in &evaluated.units {
        let (counts, tasks, written) = evals.entry((&unit.name, &unit.eval_id)).or_default();
        *counts += unit.counts;
        *tasks += 1;
        *written += usize::from(unit.written);
    }
    let mut table =
        Table::new(&["eval", "name", "tasks", "written", "trials", "correct", "truncated", "missing"]);
    for ((name, id), (counts, tasks, written)) in &evals {
        table.push(vec![
            Cell::text(*id),
            Cell::text(*name),
            Cell::Number(*tasks as f64, 0),
            Cell::Number(*written as f64, 0),
            Cell::Number(counts.n as f64, 0),
            Cell::Number(counts.n_e as f64, 0),
            Cell::Number(counts.n_t as f64, 0),
            Cell::Number(counts.missing() as f64, 0),
        ]);
    }
    let json: Vec<Value> = evaluated
        .units
        .iter()
        .map(|unit| {
            json!({
                "eval_id": unit.eval_id,
                "name": unit.name,
                "task": unit.base_task,
                "written": unit.written,
                "n": unit.counts.n,
                "n_e": unit.counts.n_e,
                "n_t": unit.counts.n_t,
                "g": unit.counts.g,
                "missing": unit.counts.missing(),
                "damaged": unit.damaged,
                "implausible_usage": unit.implausible_usage,
                "kept": unit.kept,
                "entries": evaluated.entries_of(unit),
            })
        })
        .collect();
    print(global, &table, &json)?;
    note_damage(evaluated, global);
    note_unmatched(evaluated, global);
    if evaluated.stopped {
        global.note("interrupted; results that are not in the table are unchanged");
        return Err(CliError::Interrupted);
    }
    if note_kept(evaluated, global) {
        return Err(CliError::Internal(anyhow::anyhow!(
            "kept files that have more trials than the cache now gives; `reasonscape evaluate --force` replaces them"
        )));
    }
    Ok(())
}

/// Notes which files were kept because new ones would have fewer trials; returns whether there are any.
pub(super) fn note_kept(evaluated: &Evaluated, global: Global) -> bool {
    /// Files that are listed one by one.
    const MAX_NAMED: usize = 5;
    let kept: Vec<_> = evaluated.units.iter().filter_map(|unit| Some((unit, unit.kept.as_ref()?))).collect();
    for (unit, kept) in kept.iter().take(MAX_NAMED) {
        global.note(format_args!(
            "{} {}: kept the {} stored trials; the study and its cache now give {}, {} fewer: {}",
            unit.name,
            unit.base_task,
            kept.trials,
            kept.found,
            kept.trials - kept.found,
            kept.reason
        ));
    }
    if kept.len() > MAX_NAMED {
        let rest = &kept[MAX_NAMED..];
        let lost: u64 = rest.iter().map(|(_, kept)| kept.trials - kept.found).sum();
        global.note(format_args!("and {} more tasks with {lost} fewer trials", rest.len()));
    }
    !kept.is_empty()
}

/// Notes responses in the cache that belong to no problem of the study.
pub(super) fn note_unmatched(evaluated: &Evaluated, global: Global) {
    for account in evaluated.entries.iter().filter(|account| account.unmatched > 0) {
        let namespace = match account.namespace.as_str() {
            "" => String::new(),
            namespace => format!(" in namespace `{namespace}`"),
        };
        global.note(format_args!(
            "{}{namespace}: the cache has {} responses; {} belong to problems of the current study, {} do not",
            account.model, account.held, account.matched, account.unmatched
        ));
    }
}

/// Notes responses that are damaged or claim impossible numbers of tokens.
pub(super) fn note_damage(evaluated: &Evaluated, global: Global) {
    let total = |count: fn(&EvaluatedUnit) -> u64| -> u64 { evaluated.units.iter().map(count).sum() };
    let (damaged, implausible) = (total(|unit| unit.damaged), total(|unit| unit.implausible_usage));
    if damaged > 0 {
        let problem = evaluated.damage.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default();
        global.note(format_args!(
            "{damaged} damaged responses count as missing{problem}; `reasonscape cache prune --damaged` removes them, and \
             `run` requests them again"
        ));
    }
    if implausible > 0 {
        global.note(format_args!(
            "{implausible} trials have no token count, because the endpoint claimed more tokens than any model has"
        ));
    }
}
