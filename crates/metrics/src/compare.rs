//! Compares two models on their common tasks.

use std::cmp::Ordering;

use reasonscape_stats::mean::Moments;
use reasonscape_stats::paired::{mcnemar, paired_difference};
use reasonscape_stats::{Confidence, StatsError};
use serde::Serialize;

use super::Summary;

/// A's accuracy minus B's on their common tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedComparison {
    /// Tasks that both answered.
    pub tasks: u64,
    /// Tasks that only A answered; not used in the comparison.
    pub only_a: u64,
    /// Tasks that only B answered.
    pub only_b: u64,
    /// Tasks on which A did better.
    pub better: u64,
    /// Tasks on which B did better.
    pub worse: u64,
    /// The difference; `None` without common tasks.
    pub difference: Option<f64>,
    /// Lower bound of its 95 % confidence interval.
    pub low: Option<f64>,
    /// Upper bound of its 95 % confidence interval.
    pub high: Option<f64>,
    /// Two-sided p-value, not corrected for other comparisons; `None` if there is nothing to test.
    pub p: Option<f64>,
    /// Method of the interval and the p-value.
    pub method: &'static str,
}

/// One task of one model: number of answers, and of correct answers.
#[derive(Debug, Clone, Copy)]
struct Shared {
    n: u64,
    right: u64,
}

impl Shared {
    fn proportion(self) -> f64 {
        self.right as f64 / self.n as f64
    }
}

/// Compares two models task by task.
///
/// With one answer per task, McNemar's mid-p test and Tango's interval. With repeats, Student's t test on the
/// per-task differences in accuracy, which assumes independent tasks.
///
/// # Errors
/// A [`StatsError`] when there are more tasks than can be counted.
pub fn compare(a: &Summary, b: &Summary) -> Result<PairedComparison, StatsError> {
    let (tasks_a, tasks_b) = (by_task(a), by_task(b));
    let (mut only_a, mut only_b, mut better, mut worse) = (0, 0, 0, 0);
    let mut moments = Moments::default();
    let mut single = true;
    let (mut left, mut right) = (tasks_a.iter().peekable(), tasks_b.iter().peekable());
    while let (Some((id_a, of_a)), Some((id_b, of_b))) = (left.peek(), right.peek()) {
        match id_a.cmp(id_b) {
            Ordering::Less => {
                only_a += 1;
                left.next();
            }
            Ordering::Greater => {
                only_b += 1;
                right.next();
            }
            Ordering::Equal => {
                let difference = of_a.proportion() - of_b.proportion();
                moments.add(difference)?;
                better += u64::from(difference > 0.0);
                worse += u64::from(difference < 0.0);
                single &= of_a.n == 1 && of_b.n == 1;
                left.next();
                right.next();
            }
        }
    }
    let (only_a, only_b) = (only_a + left.count() as u64, only_b + right.count() as u64);
    let tasks = moments.n();
    let counted = PairedComparison {
        tasks,
        only_a,
        only_b,
        better,
        worse,
        difference: None,
        low: None,
        high: None,
        p: None,
        method: "none",
    };
    if tasks == 0 {
        return Ok(counted);
    }
    if single {
        let found = paired_difference(tasks, better, worse, Confidence::P95)?;
        return Ok(PairedComparison {
            difference: found.point,
            low: Some(found.low),
            high: Some(found.high),
            p: Some(mcnemar(better, worse).mid_p),
            method: "mcnemar mid-p, tango",
            ..counted
        });
    }
    let bounds = moments.interval(Confidence::P95);
    Ok(PairedComparison {
        difference: moments.mean(),
        low: bounds.map(|bounds| bounds.low.max(-1.0)),
        high: bounds.map(|bounds| bounds.high.min(1.0)),
        p: moments.p_value_of_zero(),
        method: "student-t over tasks",
        ..counted
    })
}

/// Each task once, in the order of its digest.
fn by_task(summary: &Summary) -> Vec<([u64; 2], Shared)> {
    let mut rows: Vec<([u64; 2], bool)> = summary.rows().map(|row| (row.task, row.correct())).collect();
    rows.sort_unstable();
    rows.chunk_by(|one, other| one.0 == other.0)
        .map(|task| {
            let right = task.iter().filter(|row| row.1).count() as u64;
            (task[0].0, Shared { n: task.len() as u64, right })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{MetricOptions, SampleRecord, measure};
    use super::*;

    fn summarize(rows: &[(&str, u32, bool)]) -> Summary {
        let targets = ["right".into()];
        let mut summary = Summary::default();
        for (id, repeat, right) in rows {
            let answer = Some(if *right { "right" } else { "wrong" });
            let row =
                SampleRecord { id, repeat: *repeat, answer, targets: &targets, ..SampleRecord::default() };
            summary.add(&measure(&row, &MetricOptions::default()));
        }
        summary
    }

    #[test]
    fn ignores_tasks_of_only_one_model() {
        let a = summarize(&[("1", 0, true), ("2", 0, true), ("3", 0, false), ("5", 0, true)]);
        let b = summarize(&[("2", 0, false), ("3", 0, false), ("4", 0, true), ("1", 0, true)]);
        let found = compare(&a, &b).unwrap();
        assert_eq!((found.tasks, found.only_a, found.only_b), (3, 1, 1));
        assert_eq!((found.better, found.worse, found.difference), (1, 0, Some(1.0 / 3.0)));
        let back = compare(&b, &a).unwrap();
        assert_eq!((back.difference, back.p), (Some(-1.0 / 3.0), found.p));
        let none = compare(&a, &summarize(&[("x", 0, true)])).unwrap();
        assert_eq!((none.tasks, none.difference, none.p), (0, None, None));
    }

    #[test]
    fn repeats_count_as_one_observation() {
        let rows = |right: [bool; 6]| -> Summary {
            summarize(&[0, 1, 2, 3, 4, 5].map(|row| (["1", "2", "3"][row / 2], (row % 2) as u32, right[row])))
        };
        let a = rows([true, true, true, false, true, true]);
        let b = rows([false, true, false, false, true, true]);
        let found = compare(&a, &b).unwrap();
        assert_eq!((found.tasks, found.better, found.method), (3, 2, "student-t over tasks"));
        // Differences of 1/2, 1/2 and 0: t = (1/3) / sqrt((1/12) / 3) = 2 at 2 degrees, p = 1 - 2 / sqrt(6).
        assert!((found.p.unwrap() - (1.0 - 2.0 / 6.0_f64.sqrt())).abs() < 1e-12);
    }
}
