//! Parameters of the API, each described once and referred to by operations.

use reasonscape_stats::Mode;
use serde_json::{Value, json};

use crate::disagreements::Disagreement;
use crate::figures::KINDS;
use crate::trial_query::{MAX_PAGE_SIZE, PAGE_SIZE};

/// A parameter of a path or of a query string.
pub(in crate::api) struct Parameter {
    /// Its key in the document; unique, unlike the name.
    pub(super) key: &'static str,
    name: &'static str,
    place: &'static str,
    description: &'static str,
    schema: fn() -> Value,
    is_deprecated: bool,
}

impl Parameter {
    pub(super) fn to_json(&self) -> Value {
        let mut described = json!({
            "name": self.name,
            "in": self.place,
            "required": self.place == "path" || self.key == UPLOAD_NAME.key,
            "description": self.description,
            "schema": (self.schema)(),
        });
        if self.is_deprecated {
            described["deprecated"] = true.into();
        }
        described
    }

    const fn path(key: &'static str, name: &'static str, description: &'static str) -> Self {
        Self { key, name, place: "path", description, schema: text, is_deprecated: false }
    }

    const fn query(name: &'static str, description: &'static str, schema: fn() -> Value) -> Self {
        Self { key: name, name, place: "query", description, schema, is_deprecated: false }
    }

    const fn with_key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    const fn deprecated(self) -> Self {
        Self { is_deprecated: true, ..self }
    }
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn number() -> Value {
    json!({ "type": "number" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

type P = Parameter;

pub(super) const RUN: P = P::path("run", "name", "Name of the run.");
pub(super) const DATASET: P = P::path("dataset", "name", "Name of the dataset.");
pub(super) const TRIAL_EVAL: P = P::path("trial_eval", "eval", "Id of the evaluation.");
pub(super) const TRIAL_TASK: P = P::path("trial_task", "task", "Task.");
pub(super) const TRIAL_POINT: P = P::path("trial_point", "point", "Id of the point: `point` of a trial.");
pub(super) const TRIAL_INDEX: P =
    P { schema: count, ..P::path("trial_index", "index", "Index of the problem at its point.") };
pub(super) const KIND: P = P {
    schema: || json!({ "type": "string", "enum": KINDS }),
    ..P::path("kind", "kind", "Figure; `histogram` belongs to `hazard`, and `size` to `compression`.")
};

pub(super) const UPLOAD_NAME: P = P::query(
    "name",
    "File name; the extension is the format: jsonl, ndjson, json, csv, tsv or parquet.",
    text,
);
pub(super) const MODE: P = P::query(
    "mode",
    "Estimator of proportions.",
    || json!({ "type": "string", "enum": Mode::ALL.map(Mode::name) }),
);
pub(super) const FILTER: P =
    P::query("filter", "Condition `COLUMN=VALUE`, as in `reasonscape analyze --filter`; repeatable.", texts);
pub(super) const MODES: P =
    P::query("mode", "Estimators, comma-separated, or `all`; default `C_P`.", text).with_key("modes");
pub(super) const LITERAL: P = P::query(
    "literal",
    "Whether to use the product formulas of the C and K estimators everywhere.",
    || json!({ "type": "boolean", "default": false }),
);
pub(super) const FIRST: P = P::query(
    "first",
    "Only the first problems of each point, as if the study had this `count`.",
    || json!({ "type": "integer", "minimum": 1 }),
);
pub(super) const GROUP_BY: P = P::query(
    "by",
    "Columns to group by, comma-separated, such as `model,base_task,params.length`; default `model,base_task`.",
    text,
)
.with_key("group_by");
pub(super) const SET_BY: P = P::query(
    "by",
    "One list per `base_task`, `manifold`, `params.NAME` or `facets.NAME`; default: one list.",
    text,
)
.with_key("set_by");
pub(super) const METHOD: P = P::query(
    "method",
    "How win probabilities are computed.",
    || json!({ "type": "string", "enum": ["exact", "monte-carlo"], "default": "exact" }),
);
pub(super) const SCORE_METHOD: P = P::query(
    "method",
    "How scores and intervals are computed; default `likelihood`, or `bootstrap` with another mode.",
    || json!({ "type": "string", "enum": ["likelihood", "bootstrap"] }),
)
.with_key("score_method");
pub(super) const TIES: P = P::query(
    "ties",
    "How ties are found: tests on shared problems (default), or overlapping v2 intervals.",
    || json!({ "type": "string", "enum": ["paired", "v2"] }),
);
pub(super) const SEED: P =
    P::query("seed", "Seed of the method `monte-carlo`; default 42.", || json!({ "type": "integer" }));
pub(super) const RATING_SORT: P = P::query(
    "sort",
    "Order of the evaluations.",
    || json!({ "type": "string", "enum": ["elo", "expected-wins"], "default": "elo" }),
);
pub(super) const CONFIDENCE: P =
    P::query("confidence", "Level of confidence intervals; default 0.95.", number);
pub(super) const BY: P = P::query(
    "by",
    "One row per evaluation, or per evaluation and task (default).",
    || json!({ "type": "string", "enum": ["eval", "task"] }),
);
pub(super) const OFFSET: P =
    P::query("offset", "Rows to skip.", || json!({ "type": "integer", "minimum": 0, "default": 0 }));
pub(super) const LIMIT: P = P::query(
    "limit",
    "Maximum number of rows.",
    || json!({ "type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": PAGE_SIZE }),
);
pub(super) const EVAL: P = P::query("eval", "Id of the evaluation.", text);
pub(super) const EVALS: P = P::query("eval", "Id of an evaluation; repeatable.", texts).with_key("evals");
pub(super) const CONTESTANTS: P =
    P::query("eval", "Id, name or model of an evaluation; repeatable. Default: the twelve best.", texts)
        .with_key("contestants");
pub(super) const TASK: P = P::query("task", "Task.", text);
pub(super) const TASKS: P = P::query("task", "Task; repeatable.", texts).with_key("tasks");
pub(super) const PARAMS: P =
    P::query("params", "Conditions on parameters, such as `length=8..32 max_depth=1`.", text);
pub(super) const STATUS: P = P::query(
    "status",
    "Outcome of the trial; repeatable, any of them matches.",
    || json!({ "type": "array", "items": { "type": "string", "enum": ["correct", "incorrect", "truncated"] } }),
);
pub(super) const TEXT: P = P::query("text", "Part of the answer or of the target, regardless of case.", text);
pub(super) const REPEAT: P =
    P::query("repeat", "Number of the sample.", || json!({ "type": "integer", "minimum": 0, "default": 0 }));
pub(super) const A: P =
    P::query("a", "Id, name or model of evaluation A; default: the one with the highest rating.", text);
pub(super) const B: P =
    P::query("b", "Id, name or model of evaluation B; default: the one with the next highest rating.", text);
pub(super) const DISAGREEMENT: P = P::query(
    "disagreement",
    "Which evaluation is correct: exactly one, only A, only B; or any difference in outcome.",
    || json!({ "type": "string", "enum": Disagreement::ALL.map(Disagreement::name), "default": "one" }),
);
pub(super) const RIGHT: P = P::query(
    "right",
    "Former name of `disagreement`.",
    || json!({ "type": "string", "enum": Disagreement::ALL.map(Disagreement::name) }),
)
.deprecated();
pub(super) const X: P = P::query("x", "Parameter; default: of each task the one that varies most.", text);
pub(super) const SURFACE_Y: P =
    P::query("y", "Vertical parameter; default: of each task the one that varies second most.", text);
pub(super) const FIGURE_X: P =
    P::query("x", "Parameter; repeatable for a projection or thresholds, with one panel each.", texts)
        .with_key("figure_x");
pub(super) const COLUMNS: P = P::query("columns", "Panels per row.", count);
pub(super) const WIDTH: P =
    P::query("width", "Tokens per bin; by default each bin is twice as wide as the one before.", count);
pub(super) const KEEP: P =
    P::query("keep", "Proportion of correct answers that a limit must keep; default 0.95.", number);
pub(super) const BUDGET: P = P::query(
    "budget",
    "Token limit to evaluate; repeatable. Default: powers of two.",
    || json!({ "type": "array", "items": count() }),
);
pub(super) const LOOP_BITS: P = P::query(
    "loop_bits",
    "Bits per token below which a long trial is a loop; default: a quarter of the median.",
    number,
);
pub(super) const EXAMPLES: P = P::query("examples", "Maximum number of examples of loops; default 3.", count);
