//! The card of a dataset: what is in it, where it comes from, and what it cannot say.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use serde_json::json;

use super::{Exported, Unit};
use crate::{PointsDb, TrialCounts};

/// The text of the card; its head is what Hugging Face reads.
pub(super) fn dataset_card(
    db: &PointsDb,
    units: &[Unit<'_>],
    exported: &Exported,
    fields: &[Arc<Field>],
) -> String {
    let mut text = front_matter(exported, fields);
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    line("# Trials of language models\n");
    line(&format!(
        "{} trials, each one prompt sent once, with what was asked, what was answered, and how it was judged. Written by \
         reasonscape {}.\n",
        exported.trials,
        env!("CARGO_PKG_VERSION")
    ));
    line("| model | template | sampler | task | trials | correct | truncated | from |");
    line("| --- | --- | --- | --- | --: | --: | --: | --- |");
    for unit in units {
        let eval = unit.eval;
        let TrialCounts { n, n_e, n_t, .. } = unit.counts;
        let is_unknown = db.truncation_unknown().contains(&eval.eval_id);
        let truncated = if is_unknown { "?".to_owned() } else { n_t.to_string() };
        let from = db.imported().get(&eval.eval_id).and_then(|tasks| tasks.get(&unit.task));
        let from = from.map_or("evaluated by reasonscape", String::as_str);
        let cells = [&eval.model, &eval.template, &eval.sampler, &unit.task].map(|cell| escape_cell(cell));
        line(&format!("| {} | {n} | {n_e} | {truncated} | {} |", cells.join(" | "), escape_cell(from)));
    }
    line("\n## Columns\n");
    line(
        "A trial is known by `model`, `template`, `sampler`, `base_task`, `params` (canonical JSON), `index` and `repeat`; \
         the same `index` of the same task is the same test for every model. `status` is `correct`, `incorrect` or \
         `truncated`; `guess` is the chance that a blind guess is right. `messages`, `reasoning` and `reply` are what was \
         asked and answered.\n",
    );
    line("## What to mind\n");
    line("- A truncated trial has no answer: it is neither right nor wrong.");
    if !db.truncation_unknown().is_empty() {
        line(
            "- Where truncated is `?`, nobody wrote down which answers were cut off; such an answer counts as it was scored.",
        );
    }
    if !db.imported().is_empty() {
        line("- Trials that were imported are judged by the tool that made the log, not by reasonscape.");
    }
    if exported.without_text > 0 {
        line(&format!(
            "- {} trials have no `messages` and no `reply`: the cache did not have them.",
            exported.without_text
        ));
    }
    line("- Prompts may be of datasets with licences of their own. The licence above is for you to set.");
    text
}

fn front_matter(exported: &Exported, fields: &[Arc<Field>]) -> String {
    let size = match exported.trials {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        _ => "10M<n<100M",
    };
    let mut features = String::new();
    for field in fields {
        let (name, dtype) = (field.name(), |dtype: &str| format!("    dtype: {dtype}\n"));
        let kind = match field.data_type() {
            DataType::Int64 => dtype("int64"),
            DataType::Float64 => dtype("float64"),
            DataType::List(_) => {
                "    list:\n    - name: role\n      dtype: string\n    - name: content\n      dtype: string\n"
                    .to_owned()
            }
            _ => dtype("string"),
        };
        let _ = write!(features, "  - name: {name}\n{kind}");
    }
    format!(
        "---\n\
         # The licence is for you to set, as in `license: cc-by-4.0`.\n\
         license: unknown\n\
         pretty_name: {}\n\
         tags:\n- evaluation\n- reasoning\n\
         size_categories:\n- {size}\n\
         configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: data/*.parquet\n\
         dataset_info:\n  features:\n{features}  splits:\n  - name: test\n    num_examples: {}\n\
         ---\n\n",
        json!("Trials of language models"),
        exported.trials
    )
}

fn escape_cell(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
