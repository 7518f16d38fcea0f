//! The matrix of win rates, from the highest rating to the lowest.

use serde::Serialize;

use super::interval_bar::{Axis, IntervalBar};
use crate::analysis_cache::Pair;
use crate::app::App;
use crate::query_string::{Query, encoded};
use reasonscape_analysis::{Pairwise, RatedModel};

/// Steps of the color scale.
const STEPS: f64 = 10.0;
/// Intervals are drawn up to this many Elo points beyond the ratings: an infinite one would squeeze the others.
const MAX_BEYOND_RATINGS: f64 = 400.0;

#[derive(Serialize)]
pub(super) struct Matrix {
    columns: Vec<Column>,
    rows: Vec<Row>,
    axis: Axis,
    tasks: usize,
    has_intervals: bool,
}

#[derive(Serialize)]
struct Column {
    label: String,
    is_chosen: bool,
}

#[derive(Serialize)]
struct Row {
    label: String,
    how: Option<String>,
    href: String,
    elo: String,
    interval: Option<IntervalBar>,
    wins: String,
    opponents: usize,
    is_chosen: bool,
    cells: Vec<Option<Cell>>,
}

#[derive(Serialize)]
struct Cell {
    step: u8,
    shown: String,
    tooltip: String,
    href: String,
    is_chosen: bool,
}

impl Matrix {
    pub(super) fn new(found: &Pairwise, chosen: Option<&Pair>, app: &App, query: &Query) -> Self {
        let axis = axis(&found.evals);
        let how = |eval: &RatedModel| format!("{} · {}", eval.eval.template, eval.eval.sampler);
        // A column that is the same for all is hidden.
        let settings_differ = found.evals.iter().any(|eval| how(eval) != how(&found.evals[0]));
        let is_of = |eval: &RatedModel, id: fn(&Pair) -> &String| {
            chosen.is_some_and(|pair| *id(pair) == eval.eval.eval_id)
        };
        let cell = |row: &RatedModel, column: &RatedModel, rate: f64| Cell {
            step: (rate * STEPS).round().clamp(0.0, STEPS) as u8,
            shown: percent(rate),
            tooltip: format!(
                "{} against {}: better on a task with a mean probability of {:.1} %",
                row.label,
                column.label,
                100.0 * rate
            ),
            href: format!(
                "{}/compare{}#pair",
                app.base,
                query.with("a", Some(&row.eval.eval_id)).with("b", Some(&column.eval.eval_id))
            ),
            is_chosen: is_of(row, |pair| &pair.a) && is_of(column, |pair| &pair.b),
        };
        let row = |(eval, rates): (&RatedModel, &Vec<Option<f64>>)| Row {
            label: eval.label.clone(),
            how: settings_differ.then(|| how(eval)),
            href: format!("{}/trials?eval={}", app.base, encoded(&eval.eval.eval_id)),
            elo: format!("{:.0}", eval.elo),
            interval: eval.elo_low.zip(eval.elo_high).map(|(low, high)| {
                axis.bar(
                    low,
                    eval.elo,
                    high,
                    format!("{:.0}, bootstrap interval from {low:.0} to {high:.0}", eval.elo),
                )
            }),
            wins: format!("{:.2}", eval.expected_wins),
            opponents: eval.opponents,
            is_chosen: is_of(eval, |pair| &pair.a),
            cells: found
                .evals
                .iter()
                .zip(rates)
                .map(|(column, rate)| rate.map(|rate| cell(eval, column, rate)))
                .collect(),
        };
        let column =
            |eval: &RatedModel| Column { label: eval.label.clone(), is_chosen: is_of(eval, |pair| &pair.b) };
        Self {
            columns: found.evals.iter().map(column).collect(),
            rows: found.evals.iter().zip(&found.win_rates).map(row).collect(),
            axis,
            tasks: found.tasks.len(),
            has_intervals: found.evals.iter().any(|eval| eval.elo_low.is_some()),
        }
    }
}

/// A rate as an integer percentage; 0 and 100 only if exact.
fn percent(rate: f64) -> String {
    match 100.0 * rate {
        certain if certain <= 0.0 || certain >= 100.0 => format!("{certain:.0}"),
        rare if rare < 0.5 => "<1".to_owned(),
        usual if usual >= 99.5 => ">99".to_owned(),
        other => format!("{:.0}", other.round()),
    }
}

fn axis(evals: &[RatedModel]) -> Axis {
    let ratings = || evals.iter().map(|eval| eval.elo);
    let (lowest, highest) =
        (ratings().fold(f64::INFINITY, f64::min), ratings().fold(f64::NEG_INFINITY, f64::max));
    let ends = evals.iter().flat_map(|eval| [eval.elo_low, eval.elo_high]).flatten();
    let ends = ends.map(|end| end.clamp(lowest - MAX_BEYOND_RATINGS, highest + MAX_BEYOND_RATINGS));
    Axis::of_hundreds(ratings().chain(ends))
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn shows_only_certain_rates_as_0_or_100() {
        assert_eq!(
            [0.0, 0.003, 0.005, 0.5, 0.994, 0.996, 1.0].map(percent),
            ["0", "<1", "1", "50", "99", ">99", "100"]
        );
    }
}
