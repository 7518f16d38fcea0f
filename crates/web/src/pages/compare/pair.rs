//! Two evaluations on the problems that both answered.

use serde::Serialize;

use super::super::choices::{Choice, evals};
use super::super::disagreement_rows::{self, Row};
use super::interval_bar::{Axis, IntervalBar};
use crate::analysis_cache::Pair;
use crate::app::{App, Snapshot};
use crate::comparison::{self, TESTS};
use crate::disagreements::Disagreement;
use crate::error::ApiError;
use crate::labels::thousands;
use crate::query_string::Query;
use reasonscape_analysis::{Comparison, TaskComparison, p_value, verdict_name};

/// Number of example problems.
const MAX_SHOWN: usize = 8;

#[derive(Serialize)]
pub(super) struct PairView {
    #[serde(skip)]
    pub(super) ids: Pair,
    #[serde(skip)]
    pub(super) remarks: Vec<String>,
    a: String,
    b: String,
    /// All evaluations, as options for A.
    choices_a: Vec<Choice>,
    choices_b: Vec<Choice>,
    swapped: String,
    sentence: String,
    verdict: &'static str,
    gap: IntervalBar,
    gap_axis: String,
    /// The difference of the ReasonScores with its interval; of v2 for other estimators than `C_P`.
    difference: String,
    interval: Option<String>,
    /// The difference of the scores v2 with its margin.
    v2: String,
    p: String,
    pairs: String,
    discordant: String,
    has_repeats: bool,
    detectable: Option<String>,
    axis: String,
    tasks: Vec<TaskRow>,
    counts: Vec<TestCount>,
    rows: Vec<Row>,
    all: String,
}

#[derive(Serialize)]
struct TaskRow {
    task: String,
    verdict: &'static str,
    difference: String,
    low: String,
    high: String,
    interval: IntervalBar,
    p: String,
    only_a: TestCount,
    only_b: TestCount,
    pairs: String,
    needed: Option<String>,
}

/// A number of problems, and the link to their list.
#[derive(Serialize)]
struct TestCount {
    name: String,
    n: String,
    href: Option<String>,
}

pub(super) async fn view(app: &App, study: &Snapshot, query: &Query) -> Result<PairView, ApiError> {
    let pair = comparison::pair(&study.analyses, query).await?;
    let found = comparison::comparison(&study.analyses, &pair, query).await?;
    let disagreements = comparison::disagreements(&study.analyses, &pair, query).await?;
    let rows =
        comparison::disagreement_rows(&study.analyses, &pair, query, Disagreement::OnlyOne, 0, MAX_SHOWN)
            .await?;
    let list = query.only(&TESTS).with("a", Some(&pair.a)).with("b", Some(&pair.b));
    let listed = |name: &str, task: Option<&str>, which: Disagreement, n: u64| {
        let list = task.map_or_else(|| list.clone(), |task| list.with("task", Some(task)));
        let list = which.set_in(&list);
        TestCount {
            name: name.to_owned(),
            n: thousands(n),
            href: (n > 0).then(|| format!("{}/compare/tests{list}", app.base)),
        }
    };
    let bound = found.tasks.iter().flat_map(|task| [task.low, task.high]);
    let axis = Axis::around_zero(bound, 0.01, 1.0);
    let row = |task: &TaskComparison| TaskRow {
        only_a: listed("", Some(&task.task), Disagreement::OnlyA, task.b),
        only_b: listed("", Some(&task.task), Disagreement::OnlyB, task.c),
        ..task_row(task, axis)
    };
    let v2 = found.score;
    let (difference, low, high) = match &found.reason_score {
        Some(gap) => (gap.difference, gap.ci_low, gap.ci_high),
        None => (v2.difference, v2.ci_low, v2.ci_high),
    };
    let gap_axis = Axis::around_zero([low, high], 10.0, 1000.0);
    let description = format!("{difference:+.0}, from {low:+.0} to {high:+.0}");
    let choices = |id: &str| evals(&study.analyses.db, &Query::default().with("eval", Some(id)));
    let [a, b] = found.labels.clone();
    Ok(PairView {
        remarks: found.remarks(),
        choices_a: choices(&pair.a),
        choices_b: choices(&pair.b),
        swapped: format!(
            "{}/compare{}#pair",
            app.base,
            query.with("a", Some(&pair.b)).with("b", Some(&pair.a))
        ),
        sentence: sentence(&found),
        verdict: verdict_name(found.verdict),
        gap: gap_axis.bar(low, difference, high, description),
        gap_axis: format!("{:.0}", gap_axis.high),
        difference: signed(difference, 0),
        interval: found
            .reason_score
            .map(|gap| format!("{} to {}", signed(gap.ci_low, 0), signed(gap.ci_high, 0))),
        v2: format!(
            "{} ± {:.0}{}",
            signed(v2.difference, 0),
            v2.margin,
            if found.unequal_sampling.is_empty() { "" } else { "†" }
        ),
        has_repeats: found.samples.is_some(),
        p: p_value_relation(found.p()),
        pairs: thousands(found.pairs),
        discordant: format!("{:.1} %", 100.0 * found.discordant_share),
        detectable: found.detectable_difference.map(|points| format!("{:.1}", 100.0 * points)),
        axis: format!("{:.0}", 100.0 * axis.high),
        tasks: found.tasks.iter().map(row).collect(),
        counts: vec![
            listed(
                "exactly one correct",
                None,
                Disagreement::OnlyOne,
                disagreements.count(Disagreement::OnlyOne),
            ),
            listed(
                &format!("only {a} correct"),
                None,
                Disagreement::OnlyA,
                disagreements.count(Disagreement::OnlyA),
            ),
            listed(
                &format!("only {b} correct"),
                None,
                Disagreement::OnlyB,
                disagreements.count(Disagreement::OnlyB),
            ),
            listed(
                "any difference in outcome",
                None,
                Disagreement::Any,
                disagreements.count(Disagreement::Any),
            ),
        ],
        rows: rows.iter().map(|row| disagreement_rows::row(app, row, &list)).collect(),
        all: format!("{}/compare/tests{list}", app.base),
        a,
        b,
        ids: pair,
    })
}

/// The result as a sentence, for a page.
fn sentence(found: &Comparison) -> String {
    // No line break around ±.
    let text = found.finding.replace(" ± ", "\u{a0}±\u{a0}");
    let capitalized = text.strip_prefix("no significant").map(|rest| format!("No significant{rest}"));
    format!("{}.", capitalized.unwrap_or(text))
}

fn task_row(task: &TaskComparison, axis: Axis) -> TaskRow {
    let points = |proportion: f64| signed(100.0 * proportion, 1);
    let no_tests = || TestCount { name: String::new(), n: String::new(), href: None };
    let (low, high) = (points(task.low), points(task.high));
    let center = task.difference.unwrap_or_else(|| f64::midpoint(task.low, task.high));
    let description = format!("{}: {}, from {low} to {high} percentage points", task.task, points(center));
    TaskRow {
        task: task.task.clone(),
        verdict: verdict_name(task.verdict),
        difference: points(center),
        interval: axis.bar(task.low, center, task.high, description),
        low,
        high,
        p: p_value(task.p_adjusted),
        only_a: no_tests(),
        only_b: no_tests(),
        pairs: thousands(task.pairs),
        needed: task.pairs_needed.map(thousands),
    }
}

/// A p-value with its relation: `= 0.021` or `< 0.001`.
fn p_value_relation(p: f64) -> String {
    let shown = p_value(p);
    shown.strip_prefix('<').map_or_else(|| format!("= {shown}"), |bound| format!("< {bound}"))
}

/// A number with its sign, zero without.
fn signed(number: f64, decimals: usize) -> String {
    let shown = format!("{number:+.decimals$}");
    let is_zero = shown.chars().all(|c| matches!(c, '+' | '-' | '0' | '.'));
    if is_zero { shown.trim_start_matches(['+', '-']).to_owned() } else { shown.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(
            [0.0, -0.04, 0.06, -12.34].map(|number| signed(number, 1)),
            ["0.0", "0.0", "+0.1", "−12.3"]
        );
    }
}
