//! The dataset card: contents, sources and limitations.

use std::fmt::Write;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use serde_json::json;

use super::{Exported, Unit};
use crate::{PointsDb, TrialCounts};

/// The text of the card, with the YAML front matter that Hugging Face reads.
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
        "{} trials. Each trial is one prompt sent once, with the prompt, the reply and its score. Written by reasonscape \
         {}.\n",
        exported.trials,
        env!("CARGO_PKG_VERSION")
    ));
    line("| model | template | sampler | task | trials | correct | truncated | source |");
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
        "A trial is identified by `model`, `template`, `sampler`, `base_task`, `params` (canonical JSON), `index` and \
         `repeat`; the same `index` of the same task and `params` is the same problem for every model. `status` is \
         `correct`, `incorrect` or `truncated`; `guess` is the probability of a correct random guess. `messages` is the \
         prompt, `reasoning` and `reply` are the response.\n",
    );
    line("## Limitations\n");
    line("- A truncated trial has no answer: it is neither correct nor incorrect.");
    if !db.truncation_unknown().is_empty() {
        line(
            "- Where truncated is `?`, the log does not record which responses were truncated; they count as scored.",
        );
    }
    if !db.imported().is_empty() {
        line("- Imported trials were scored by the tool that wrote the log, not by reasonscape.");
    }
    if exported.without_text > 0 {
        line(&format!(
            "- {} trials have no `messages` and no `reply`, because they are not in the cache.",
            exported.without_text
        ));
    }
    line("- Prompts may come from datasets with their own licenses. Set the license above yourself.");
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
