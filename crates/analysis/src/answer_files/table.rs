//! Metrics as tables: one row per metric for readers, one row per model for programs.

use reasonscape_metrics::MetricsSummary;

use super::AnswerSummary;
use crate::estimate_text;
use crate::tables::{Cell, Table};

/// A metric of the summary.
struct Metric {
    name: &'static str,
    value: Option<f64>,
    decimals: usize,
    /// Whether to show it without a value.
    always: bool,
}

/// The metrics in the order of the table.
fn metrics(found: &MetricsSummary) -> Vec<Metric> {
    let usual = |name, value, decimals| Metric { name, value, decimals, always: true };
    let sometimes = |name, value, decimals| Metric { name, value, decimals, always: false };
    vec![
        usual("accuracy", found.accuracy, 3),
        usual("err", found.err, 3),
        usual("usr", found.usr, 3),
        sometimes("usr_math", found.usr_math, 3),
        sometimes("usr_retrieval", found.usr_retrieval, 3),
        usual("brier", found.brier, 3),
        usual("ece", found.ece, 3),
        sometimes("ece_adaptive", found.ece_adaptive, 3),
        usual("sce", found.sce, 3),
        sometimes("sce_normalized", found.sce_normalized, 3),
        usual("cot_tokens_mean", found.cot_tokens_mean, 1),
        usual("cot_chars_mean", found.cot_chars_mean, 1),
        usual("step_count_mean", found.step_count_mean, 2),
        usual("ra_ratio_mean", found.ra_ratio_mean, 2),
        usual("self_correction_rate", found.self_correction_rate, 3),
        usual("prompt_tokens_mean", found.prompt_tokens_mean, 1),
        usual("completion_tokens_mean", found.completion_tokens_mean, 1),
        usual("total_tokens_mean", found.total_tokens_mean, 1),
        usual("latency_mean_ms", found.latency_mean_ms, 1),
        usual("latency_p95_ms", found.latency_p95_ms, 1),
        sometimes("mode_accuracy", found.mode_accuracy, 3),
        sometimes("pass_at_k", found.pass_at_k, 3),
        sometimes("pass_hat_k", found.pass_hat_k, 3),
        sometimes("variance_problems", found.variance_problems, 4),
        sometimes("variance_sampling", found.variance_sampling, 4),
        sometimes("stability", found.stability, 3),
        sometimes("sce_per_task_mean", found.sce_per_task_mean, 3),
        sometimes("determinism_index", found.determinism_index, 3),
    ]
}

impl Metric {
    /// The name in display tables, which show `usr` once: it equals `err` by definition in version 0.
    fn label(&self) -> Option<&'static str> {
        match self.name {
            "err" => Some("err = usr"),
            "usr" => None,
            "mode_accuracy" => Some("majority vote (maj@k)"),
            "pass_at_k" => Some("pass@k"),
            "pass_hat_k" => Some("pass^k"),
            "variance_problems" => Some("variance between problems"),
            "variance_sampling" => Some("variance between samples"),
            name => Some(name),
        }
    }
}

/// Counts that are shown with the metrics.
fn counts(found: &MetricsSummary) -> [(&'static str, u64); 9] {
    [
        ("n", found.n),
        ("tasks", found.tasks),
        ("repeats", found.repeats),
        ("truncated", found.truncated),
        ("unanswered", found.unanswered),
        ("equations_checked", found.equations_checked),
        ("equations_false", found.equations_false),
        ("sentences_checked", found.sentences_checked),
        ("sentences_unsupported", found.sentences_unsupported),
    ]
}

/// Counts to show even if they are 0.
const ALWAYS_COUNTED: [&str; 2] = ["n", "truncated"];

/// One table for all models if it fits into this many characters, otherwise one per model with its name.
pub fn display_tables(
    models: &[(String, MetricsSummary)],
    skipped: u64,
    width: usize,
) -> Vec<(Option<String>, Table)> {
    if models.len() > 1 {
        let beside = side_by_side(models, skipped);
        if beside.fits(width) {
            return vec![(None, beside)];
        }
    }
    let alone = models.len() == 1 && models[0].0.is_empty();
    let each = models.iter().map(|(name, found)| ((!alone).then(|| name.clone()), one(found, skipped)));
    each.collect()
}

fn shown_counts(models: &[&MetricsSummary]) -> Vec<usize> {
    let several = models.iter().any(|found| found.repeats > 1);
    let counted: Vec<_> = models.iter().map(|found| counts(found)).collect();
    (0..9)
        .filter(|place| {
            let name = counted[0][*place].0;
            ALWAYS_COUNTED.contains(&name)
                || (several || !matches!(name, "tasks" | "repeats"))
                    && counted.iter().any(|counts| counts[*place].1 > 0)
        })
        .collect()
}

/// `0.812 (0.790 to 0.832)`: the metric with its confidence interval.
fn with_interval(metric: &Metric, found: &MetricsSummary) -> Option<String> {
    let decimals = metric.decimals;
    let value = metric.value?;
    let bounds = found.details.get(metric.name).and_then(|detail| detail.low.zip(detail.high));
    Some(match bounds {
        Some((low, high)) => estimate_text(value, low, high, decimals),
        None => format!("{value:.decimals$}"),
    })
}

fn one(found: &MetricsSummary, skipped: u64) -> Table {
    let mut table = Table::new(&["metric", "value (95 % CI)", "n"]);
    for place in shown_counts(&[found]) {
        let (name, count) = counts(found)[place];
        table.push(vec![
            Cell::text(name),
            Cell::Formatted(count.to_string()),
            Cell::Formatted(String::new()),
        ]);
    }
    if skipped > 0 {
        table.push(vec![
            Cell::text("invalid lines"),
            Cell::Formatted(skipped.to_string()),
            Cell::Formatted(String::new()),
        ]);
    }
    for metric in metrics(found).iter().filter(|metric| metric.always || metric.value.is_some()) {
        let Some(label) = metric.label() else { continue };
        let n = found.details.get(metric.name).filter(|_| metric.value.is_some());
        table.push(vec![
            Cell::text(label),
            with_interval(metric, found).map_or(Cell::Missing, Cell::Formatted),
            Cell::Formatted(n.map_or_else(String::new, |detail| detail.n.to_string())),
        ]);
    }
    table
}

fn side_by_side(models: &[(String, MetricsSummary)], skipped: u64) -> Table {
    let columns = ["metric"].into_iter().chain(models.iter().map(|(name, _)| name.as_str()));
    let mut table = Table::new(&columns.collect::<Vec<_>>());
    let all: Vec<&MetricsSummary> = models.iter().map(|(_, found)| found).collect();
    for place in shown_counts(&all) {
        let name = [Cell::text(counts(all[0])[place].0)];
        let each = all.iter().map(|found| Cell::Formatted(counts(found)[place].1.to_string()));
        table.push(name.into_iter().chain(each).collect());
    }
    if skipped > 0 {
        let each = all.iter().enumerate().map(|(place, _)| match place {
            0 => Cell::Formatted(skipped.to_string()),
            _ => Cell::Formatted(String::new()),
        });
        table.push([Cell::text("invalid lines, all models")].into_iter().chain(each).collect());
    }
    let listed: Vec<Vec<Metric>> = all.iter().map(|found| metrics(found)).collect();
    for place in 0..listed[0].len() {
        if !listed.iter().any(|metrics| metrics[place].always || metrics[place].value.is_some()) {
            continue;
        }
        let Some(label) = listed[0][place].label() else { continue };
        let each = all.iter().zip(&listed).map(|(found, metrics)| {
            let metric = &metrics[place];
            let fewer = found.details.get(metric.name).filter(|detail| detail.n != found.n);
            with_interval(metric, found).map_or(Cell::Missing, |shown| {
                Cell::Formatted(
                    fewer.map_or_else(|| shown.clone(), |detail| format!("{shown} (n {})", detail.n)),
                )
            })
        });
        table.push([Cell::text(label)].into_iter().chain(each).collect());
    }
    table
}

/// The table for programs: one row per group, every digit.
pub fn export_table(summary: &AnswerSummary) -> Table {
    let (models, skipped) = (&summary.models, summary.results.skipped);
    let mut columns: Vec<String> = summary.by.iter().map(|column| column.name().to_owned()).collect();
    columns.extend(counts(&models[0].1).map(|(name, _)| name.to_owned()));
    columns.push("bad_lines".to_owned());
    for metric in metrics(&models[0].1) {
        columns.extend(["", "_low", "_high", "_n"].map(|end| format!("{}{end}", metric.name)));
    }
    columns.extend(["tokens", "scorer"].map(str::to_owned));
    let mut table = Table::new(&columns);
    for ((_, found), model) in models.iter().zip(&summary.results.models) {
        let value = |value: &Option<String>| Cell::text(value.as_deref().unwrap_or_default());
        let mut row: Vec<Cell> = model.group.iter().map(value).collect();
        row.extend(counts(found).map(|(_, count)| Cell::Number(count as f64, 0)));
        row.push(Cell::Number(skipped as f64, 0));
        for metric in metrics(found) {
            let detail = found.details.get(metric.name);
            row.push(Cell::optional(metric.value, metric.decimals));
            row.push(Cell::optional(detail.and_then(|detail| detail.low), metric.decimals));
            row.push(Cell::optional(detail.and_then(|detail| detail.high), metric.decimals));
            row.push(Cell::optional(detail.map(|detail| detail.n as f64), 0));
        }
        row.push(Cell::text(found.tokens));
        row.push(Cell::text(summary.scorer()));
        table.push(row);
    }
    table
}
