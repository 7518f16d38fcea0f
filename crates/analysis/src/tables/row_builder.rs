//! Rows of export tables, built from named cells.

use crate::trials::TrialGroupName;
use reasonscape_points::EvalInfo;

use super::{Cell, Table};
use crate::{IntervalEstimate, Reliability};

/// One row of an export table: cells with the names of their columns, in the order in which they are added.
#[derive(Debug, Clone, Default)]
pub(super) struct RowBuilder {
    cells: Vec<(String, Cell)>,
}

impl RowBuilder {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds any cell.
    pub(super) fn cell(mut self, column: impl Into<String>, cell: Cell) -> Self {
        self.cells.push((column.into(), cell));
        self
    }

    /// Adds a text.
    pub(super) fn text(self, column: impl Into<String>, text: impl Into<String>) -> Self {
        self.cell(column, Cell::text(text))
    }

    /// Adds a text that may be missing.
    pub(super) fn optional_text(self, column: impl Into<String>, text: Option<impl Into<String>>) -> Self {
        self.cell(column, text.map_or(Cell::Missing, Cell::text))
    }

    /// Adds `true` or `false`.
    pub(super) fn flag(self, column: impl Into<String>, flag: bool) -> Self {
        self.text(column, flag.to_string())
    }

    /// Adds an integer.
    pub(super) fn count(self, column: impl Into<String>, count: u64) -> Self {
        self.cell(column, Cell::count(count))
    }

    /// Adds an integer that may be missing.
    pub(super) fn optional_count(self, column: impl Into<String>, count: Option<u64>) -> Self {
        self.cell(column, count.map_or(Cell::Missing, Cell::count))
    }

    /// Adds a number, shown to readers with this many decimals.
    pub(super) fn number(self, column: impl Into<String>, number: f64, decimals: usize) -> Self {
        self.cell(column, Cell::Number(number, decimals))
    }

    /// Adds a number that may be missing.
    pub(super) fn optional_number(
        self,
        column: impl Into<String>,
        number: Option<f64>,
        decimals: usize,
    ) -> Self {
        self.cell(column, Cell::optional(number, decimals))
    }

    /// Adds the columns that identify an evaluation.
    pub(super) fn eval(self, eval: &EvalInfo) -> Self {
        self.text("eval_id", &eval.eval_id)
            .text("name", &eval.name)
            .text("model", &eval.model)
            .text("template", &eval.template)
            .text("sampler", &eval.sampler)
            .text("groups", eval.groups.join(" "))
    }

    /// Adds the columns that identify the trials of an evaluation, on one task or on all of them.
    pub(super) fn trial_group(self, group: &TrialGroupName) -> Self {
        self.eval(&group.eval)
            .optional_text("base_task", group.task.as_ref())
            .optional_text("task", group.task.as_ref())
            .flag("truncation_known", group.truncation_known)
    }

    /// Adds the use of the token limit, refusals and unparsed responses.
    pub(super) fn reliability(self, found: &Reliability) -> Self {
        self.optional_count("token_limit", found.token_limit)
            .optional_number("utilization_mean", found.utilization_mean, 4)
            .optional_number("utilization_p95", found.utilization_p95, 4)
            .optional_number("near_limit_rate", found.near_limit_rate, 4)
            .optional_number("refusal_rate", found.refusal_rate, 4)
            .optional_number("unparsed_rate", found.unparsed_rate, 4)
    }

    /// Adds a confidence interval with its center, its margin and its point estimate.
    pub(super) fn interval(self, bounds: &IntervalEstimate) -> Self {
        self.number("low", bounds.low, 4)
            .number("high", bounds.high, 4)
            .number("center", bounds.center, 4)
            .number("margin", bounds.margin, 4)
            .optional_number("point", bounds.point, 4)
    }

    /// Adds a point estimate under a name of its own, and the ends of its confidence interval as `{name}_low` and
    /// `{name}_high`.
    pub(super) fn estimate(self, name: &str, bounds: &IntervalEstimate) -> Self {
        self.optional_number(name, bounds.point, 4).number(format!("{name}_low"), bounds.low, 4).number(
            format!("{name}_high"),
            bounds.high,
            4,
        )
    }
}

impl FromIterator<RowBuilder> for Table {
    /// A table of these rows, which all have the same columns. Without rows it has no columns.
    fn from_iter<I: IntoIterator<Item = RowBuilder>>(rows: I) -> Self {
        let mut rows = rows.into_iter().peekable();
        let columns: Vec<String> =
            rows.peek().iter().flat_map(|row| &row.cells).map(|(column, _)| column.clone()).collect();
        let mut table = Self::new(&columns);
        for row in rows {
            table.push(row.cells.into_iter().map(|(_, cell)| cell).collect());
        }
        table
    }
}
