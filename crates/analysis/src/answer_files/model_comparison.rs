//! Paired comparisons of the models in answer files.

use reasonscape_metrics::{PairedComparison, compare};
use reasonscape_stats::StatsError;
use reasonscape_stats::multiple_testing::holm;
use reasonscape_stats::paired::Verdict;
use serde::Serialize;

use super::Model;
use crate::verdict_name;

/// Significance level.
const LEVEL: f64 = 0.05;

/// Two models on the tasks that both answered.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The result as a sentence.
    pub sentence: String,
    /// The name of A, if it has one.
    pub a: Option<String>,
    /// The name of B, if it has one.
    pub b: Option<String>,
    /// The verdict on A: `better`, `worse` or `cannot tell`.
    pub verdict: &'static str,
    /// The test and the confidence interval.
    #[serde(flatten)]
    pub paired: PairedComparison,
    /// The p-value, corrected for the number of pairs (Holm).
    pub p_adjusted: Option<f64>,
}

/// All pairs of models; the one that came first is A. If groups are split by task, `task` is the index of that column, and
/// only groups of the same task are compared: others have no problem in common.
///
/// # Errors
/// A [`StatsError`] when the summaries do not allow the tests.
pub(super) fn differences(models: &[Model], task: Option<usize>) -> Result<Vec<Difference>, StatsError> {
    let task_of = |model: &Model| task.and_then(|column| model.group[column].clone());
    let mut pairs = Vec::new();
    for (place, a) in models.iter().enumerate() {
        for b in models[place + 1..].iter().filter(|b| task_of(a) == task_of(b)) {
            pairs.push((a, b, compare(&a.summary, &b.summary)?));
        }
    }
    let known: Vec<f64> = pairs.iter().filter_map(|(_, _, paired)| paired.p).collect();
    let mut adjusted = if known.is_empty() { Vec::new() } else { holm(&known)? }.into_iter();
    Ok(pairs
        .into_iter()
        .map(|(a, b, paired)| {
            let p_adjusted = paired.p.and_then(|_| adjusted.next());
            let verdict = verdict(&paired, p_adjusted);
            let labels = [a, b].map(|model| model.name.as_deref().unwrap_or("the unnamed model"));
            Difference {
                sentence: sentence(labels, &paired, verdict),
                a: a.name.clone(),
                b: b.name.clone(),
                verdict: verdict_name(verdict),
                paired,
                p_adjusted,
            }
        })
        .collect())
}

fn verdict(paired: &PairedComparison, p_adjusted: Option<f64>) -> Verdict {
    match (paired.difference, p_adjusted) {
        (Some(difference), Some(p)) if p <= LEVEL && difference > 0.0 => Verdict::Better,
        (Some(difference), Some(p)) if p <= LEVEL && difference < 0.0 => Verdict::Worse,
        _ => Verdict::CannotTell,
    }
}

fn sentence([a, b]: [&str; 2], paired: &PairedComparison, verdict: Verdict) -> String {
    let Some(difference) = paired.difference else {
        return format!("cannot compare {a} and {b}: they have no task in common");
    };
    let tasks = if paired.tasks == 1 { "task" } else { "tasks" };
    let on = format!("on the {} {tasks} that both answered", paired.tasks);
    let points = 100.0 * difference.abs();
    let between = |low: f64, high: f64| format!("95 % CI {:+.1} to {:+.1}", 100.0 * low, 100.0 * high);
    // "Worse by 10" has the interval of b minus a.
    let ends = paired.low.zip(paired.high).map(|(low, high)| match verdict {
        Verdict::Worse => (-high, -low),
        Verdict::Better | Verdict::CannotTell => (low, high),
    });
    let interval = ends.map_or_else(String::new, |(low, high)| format!(" ({})", between(low, high)));
    match verdict {
        Verdict::Better => format!("{a} is better than {b} by {points:.1} percentage points{interval} {on}"),
        Verdict::Worse => format!("{a} is worse than {b} by {points:.1} percentage points{interval} {on}"),
        Verdict::CannotTell => {
            // With many pairs, some intervals exclude zero by chance.
            let alone = paired.p.is_some_and(|p| p <= LEVEL);
            let but = if alone { "; not significant after correction for the number of pairs" } else { "" };
            let difference = 100.0 * difference;
            format!(
                "no significant difference between {a} and {b}: {difference:+.1} percentage points{interval} {on}{but}"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_names_the_better_or_a_tie() {
        let paired = PairedComparison {
            tasks: 200,
            only_a: 0,
            only_b: 0,
            better: 30,
            worse: 10,
            difference: Some(0.1),
            low: Some(0.041),
            high: Some(0.162),
            p: Some(0.002),
            method: "mcnemar mid-p, tango",
        };
        let say = |paired: &PairedComparison, p| sentence(["A", "B"], paired, verdict(paired, Some(p)));
        assert_eq!(
            say(&paired, 0.004),
            "A is better than B by 10.0 percentage points (95 % CI +4.1 to +16.2) on the 200 tasks that both \
             answered"
        );
        let unsure = say(&paired, 0.06);
        assert!(
            unsure.starts_with("no significant difference between A and B: +10.0 percentage points"),
            "{unsure}"
        );
        assert!(unsure.ends_with("; not significant after correction for the number of pairs"), "{unsure}");
        let worse = PairedComparison { difference: Some(-0.1), low: None, high: None, tasks: 1, ..paired };
        assert_eq!(
            say(&worse, 0.01),
            "A is worse than B by 10.0 percentage points on the 1 task that both answered"
        );
        let worse =
            PairedComparison { difference: Some(-0.1), low: Some(-0.162), high: Some(-0.041), ..paired };
        let text = say(&worse, 0.01);
        assert!(
            text.starts_with("A is worse than B by 10.0 percentage points (95 % CI +4.1 to +16.2) on"),
            "{text}"
        );
        let none = PairedComparison { difference: None, ..paired };
        assert_eq!(
            sentence(["A", "B"], &none, verdict(&none, None)),
            "cannot compare A and B: they have no task in common"
        );
    }
}
